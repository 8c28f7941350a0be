//! What a browser meets at the address of the service: what it is, how it is, and where to go on.

use axum::response::Response;
use maud::html;

use super::{first_call, layout, page};
use crate::resources::public_routes::{self, WELL};
use crate::services::App;

/// The page.
pub async fn start(app: &App) -> Response {
    let storage = public_routes::storage(app);
    let (state, is_well) = match (app.maintenance(), public_routes::database(app).await) {
        (Some(text), _) => (text, false),
        (None, Err(_)) => ("The database does not answer.".to_owned(), false),
        (None, Ok(WELL)) if storage == WELL => ("In service".to_owned(), true),
        (None, Ok(database)) => (format!("Database: {database}; storage: {storage}."), false),
    };
    let content = html! {
        main #main .start {
            h1 { "Plaudit" }
            p .lead { "Awards, competitions, scholarships and grants: entries, judging, orders and documents behind one interface, in JSON and XML." }
            dl .facts {
                dt { "State" } dd { span class=(if is_well { "state well" } else { "state" }) { (state) } }
                dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) " (interface 2.3)" }
                dt { "Region" } dd { (app.settings.region) }
            }
            ul .ways {
                li { a href="docs" { strong { "Reference" } " Every operation, with examples, code and a form to try it." } }
                li { a href="openapi.json" { strong { "OpenAPI" } " The same for programs, to make clients of." } }
                li { a href="readyz" { strong { "Readiness" } " What load balancers ask." } }
            }
            h2 { "A first call" }
            (first_call())
            p .quiet { "A manager of the account gives out keys: " code { "plaudit key create" } "." }
        }
    };
    page(layout("Start", "", &content).0.into())
}
