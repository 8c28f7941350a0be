//! The lists of people's records.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::http::{self, ApiError, Caller, RawQuery};
use crate::lists::List;
use crate::lists::page::ListQuery;
use crate::render::Renderer;
use crate::resources::operation::{Takes, operation};
use crate::services::App;

/// Writes a record of a page from the columns that its list declares.
pub(super) type Show = fn(&Caller, &mut Renderer, &[&str]) -> Result<(), ApiError>;

/// `GET /{kind}`, a page of a list.
pub(super) fn people_list(
    (id, group): (&'static str, &'static str),
    about: &str,
    list: &'static List,
    show: Show,
) -> UtoipaMethodRouter<App> {
    let handler = move |caller: Caller, RawQuery(raw): RawQuery| async move {
        let query = ListQuery::parse(raw.as_deref(), &list.spec)?;
        let show = |renderer: &mut Renderer, texts: &[&str]| show(&caller, renderer, texts);
        http::list::page(&caller, raw.as_deref(), (list, &query), show).await
    };
    operation((HttpMethod::Get, list.path, id, group), about, Takes::Query(list.spec.parameters()), handler)
}
