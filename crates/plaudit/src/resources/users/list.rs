//! `GET /user`.

use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::{ListQuery, list_parameters};
use crate::records::users::list::LIST;
use crate::render::Renderer;

list_parameters!(Query, LIST.spec);

/// A page of users. Without `order` who was changed last comes first.
#[utoipa::path(get, path = "/user", operation_id = "GetUserCollectionV23", tag = "Users", params(Query))]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        renderer.item(texts.first().copied().unwrap_or_default(), None);
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), &show).await
}
