//! An operation whose handler is generic over kinds of records: its route with its description, as `#[utoipa::path(…)]` and
//! `routes!` make them of a handler of one kind.

use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, PathItem, PathsBuilder};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::services::App;

/// How an operation is called: its method, its path, its identifier and its group in the documentation.
pub(super) type Name<'n> = (HttpMethod, &'n str, &'static str, &'static str);

/// The route of an operation with its description.
pub(super) fn operation<H, A>(
    (method, path, id, group): Name<'_>,
    about: &str,
    parameters: Vec<Parameter>,
    handler: H,
) -> UtoipaMethodRouter<App>
where
    H: Handler<A, App>,
    A: 'static,
{
    let filter = match method {
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    };
    let operation = OperationBuilder::new().operation_id(Some(id)).tag(group).summary(Some(about));
    let item = PathItem::new(method, operation.parameters(Some(parameters)));
    (Vec::new(), PathsBuilder::new().path(path, item).build(), on(filter, handler))
}
