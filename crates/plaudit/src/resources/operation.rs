//! An operation whose handler is generic over kinds of records: its route with its description, as `#[utoipa::path(…)]` and
//! `routes!` make them of a handler of one kind.

use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, PathItem, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Ref};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::services::App;

/// How an operation is called: its method, its path, its identifier and its group in the documentation.
pub(super) type Name<'n> = (HttpMethod, &'n str, &'static str, &'static str);

/// What an operation takes beside its path.
pub(super) enum Takes {
    /// What its method and path say.
    Nothing,
    /// These parameters of the query.
    Query(Vec<Parameter>),
    /// A body of this schema.
    Body(&'static str),
}

/// The route of an operation with its description.
pub(super) fn operation<H, A>(
    (method, path, id, group): Name<'_>,
    about: &str,
    takes: Takes,
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
    let operation = match takes {
        Takes::Nothing => operation,
        Takes::Query(parameters) => operation.parameters(Some(parameters)),
        Takes::Body(schema) => {
            let content = ContentBuilder::new().schema(Some(Ref::new(schema))).build();
            operation.request_body(Some(RequestBodyBuilder::new().content("application/json", content).build()))
        }
    };
    (Vec::new(), PathsBuilder::new().path(path, PathItem::new(method, operation)).build(), on(filter, handler))
}
