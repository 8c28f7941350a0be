//! The operations of orders.

use utoipa_axum::router::OpenApiRouter;

use crate::http::list::person;
use crate::records::orders::list::LIST;
use crate::resources::people_list::people_list;
use crate::services::App;

/// The routes of orders.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of orders. Without `order` what was changed last comes first.";
    OpenApiRouter::new().routes(people_list(("GetOrderCollectionV23", "Orders"), about, &LIST, |_, renderer, texts| {
        // Who ordered is shown without the global id.
        Ok(renderer.naming(person(texts[0], texts[1], "")?).item(texts[2], None)?)
    }))
}
