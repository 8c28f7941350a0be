//! Every route, once.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use futures_util::FutureExt as _;
use serde_json::Value;
use tower::{Service, ServiceExt as _};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;

use crate::http::connections::Connections;
use crate::http::server::Refuse;
use crate::http::web_clients::WebClients;
use crate::http::{ApiError, pipeline};
use crate::resources::openapi::{self, Document};
use crate::resources::{self, public_routes};
use crate::services::App;
use crate::website;

/// The whole service: the interface and what stands outside it.
pub fn new(app: App) -> Router {
    let (operations, _) = interface().split_for_parts();
    let operations = operations
        .fallback(async || ApiError::NoSuchPath)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app.clone());
    // Not layers, which stand around each route and are copied with it for every request.
    let operations = around(operations, app.clone(), pipeline::handle);
    let others = Router::new().fallback_service(operations.clone());
    let inner = public_routes::routes()
        .route("/openapi.json", get(async || ([(header::CONTENT_TYPE, "application/json")], document())))
        .route("/", any(async move |State(app), request| start(app, others, request).await))
        .merge(website::routes(described()))
        .fallback_service(operations)
        .with_state(app.clone());
    let clients = WebClients::new(&app.settings.web_origins, app.settings.compression);
    let inner = tower::service_fn(move |request| clients.clone().answer(inner.clone(), request).map(Ok));
    Router::new().fallback_service(around(inner, app, public_routes::with_request_id))
}

/// Answers what cannot be read.
pub fn refuse(app: App) -> Refuse {
    Arc::new(move |status| public_routes::refuse(&app, status))
}

/// A service that hands every request on with what it is answered by.
fn around<S, F>(
    inner: S,
    app: App,
    answer: fn(App, S, Request) -> F,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone
where
    S: Clone,
    F: Future<Output = Response> + Send,
{
    tower::service_fn(move |request| answer(app.clone(), inner.clone(), request).map(Ok))
}

/// The routes of the interface with their descriptions, those of each group.
fn interface() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(resources::accounts::routes())
        .merge(resources::seasons::routes())
        .merge(resources::forms::routes())
        .merge(resources::taxes::routes())
        .merge(resources::rounds::routes())
        .merge(resources::score_sets::routes())
        .merge(resources::linked::routes())
        .merge(resources::categories::routes())
        .merge(resources::chapters::routes())
        .merge(resources::fields::routes())
        .merge(resources::entries::routes())
        .merge(resources::entries::stream::routes())
        .merge(resources::events::routes())
        .merge(resources::assignments::routes())
        .merge(resources::attachments::routes())
        .merge(resources::documents::routes())
        .merge(resources::contributors::routes())
        .merge(resources::files::routes())
        .merge(resources::leaderboard::routes())
        .merge(resources::orders::routes())
        .merge(resources::review_tasks::routes())
        .merge(resources::users::routes())
        .merge(resources::webhooks::routes())
        .merge(resources::jobs::routes())
}

/// A page for those who read pages; others are told that there is no such path.
async fn start(app: App, others: Router, request: Request) -> Response {
    if [Method::GET, Method::HEAD].contains(request.method()) && website::reads_pages(request.headers()) {
        return website::start(&app).await;
    }
    others.oneshot(request).await.into_response()
}

/// The OpenAPI document.
fn described() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::complete(&interface().into_openapi()));
    &DOCUMENT
}

/// The text of the OpenAPI document.
pub fn document() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| described().to_string());
    &TEXT
}

/// The router of the address for measurements.
pub fn metrics(app: App, connections: Arc<Connections>) -> Router {
    let text = async move |State(app): State<App>| {
        let mut exposition = app.metrics.exposition(&app);
        connections.write(&mut exposition);
        ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], String::from(exposition))
    };
    Router::new().route("/metrics", get(text)).with_state(app)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kernel::kind::Kind;
    use serde_json::Value;

    use super::*;
    use crate::access::operations::OPERATIONS;

    /// Every operation that reads, by its path.
    fn reads() -> Vec<(String, Value)> {
        let document: Value = serde_json::from_str(document()).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        paths.filter_map(|(path, item)| Some((path.clone(), item.get("get")?.clone()))).collect()
    }

    fn of_query(operation: &Value) -> impl Iterator<Item = &Value> {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        parameters.filter(|parameter| parameter["in"] == "query")
    }

    #[test]
    fn every_list_describes_its_query() {
        let is_list = |operation: &Value| operation["operationId"].as_str().unwrap().ends_with("CollectionV23");
        let lists: Vec<_> = reads().into_iter().filter(|(_, operation)| is_list(operation)).collect();
        let mut walked = Vec::new();
        for (path, operation) in &lists {
            let names: BTreeSet<&str> =
                of_query(operation).filter_map(|parameter| parameter["name"].as_str()).collect();
            let paging = ["per_page", "cursor", "page", "order", "dir", "count"].map(|name| names.contains(name));
            if paging == [true, true, false, false, false, false] {
                walked.push(path.as_str());
            } else {
                assert_eq!(paging, [true; 6], "{path} does not describe its query");
            }
        }
        assert_eq!((lists.len(), walked), (22, vec!["/event", "/job", "/webhook/{slug}/delivery"]));
    }

    #[test]
    fn a_kind_has_a_link_in_the_feed_where_its_records_can_be_read() {
        let read: BTreeSet<String> = reads().into_iter().map(|(path, _)| path).collect();
        for kind in Kind::ALL {
            let address = |name: &str| format!("/{}/{{{name}}}", kind.path());
            let is_read = read.contains(&address("slug")) || read.contains(&address("token"));
            assert_eq!(is_read, !resources::events::WITHOUT_ADDRESS.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn every_operation_is_in_the_table_of_what_roles_have() {
        let document: Value = serde_json::from_str(document()).unwrap();
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if let Some(id) = operation["operationId"].as_str() {
                    described.insert((id.to_owned(), format!("{} {path}", method.to_uppercase())));
                }
            }
        }
        let table = OPERATIONS.iter().map(|operation| (operation.id.to_owned(), operation.route.to_owned()));
        assert_eq!(table.collect::<BTreeSet<_>>(), described);
    }

    #[test]
    fn a_query_parameter_is_described_once_and_has_a_schema() {
        for (path, operation) in reads() {
            let mut names = BTreeSet::new();
            for parameter in of_query(&operation) {
                assert!(names.insert(parameter["name"].as_str()), "{path} {parameter}");
                assert!(parameter["schema"].is_object() && parameter["description"].is_string(), "{path} {parameter}");
            }
        }
    }
}
