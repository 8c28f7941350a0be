//! The list of entries.

use crate::http::list::person;
use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::ListQuery;
use crate::records::entries::Entry;
use crate::records::entries::document::included;
use crate::records::entries::list::{DETAILED, PLAIN};
use crate::render::Renderer;

/// A page of entries.
pub(super) async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &PLAIN.spec)?;
    let members = query.words("include");
    if members.is_empty() {
        return http::list::page(
            &caller,
            raw.as_deref(),
            (&PLAIN, &query),
            |renderer: &mut Renderer, texts: &[&str]| {
                renderer.naming(person(texts[0], texts[1], texts[2])?).item(texts[3], None)?;
                Ok(())
            },
        )
        .await;
    }
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        let detail = included(texts[4], members);
        if !caller.access().sees_all() {
            let read = Entry::of_document(texts[3]).map_err(|error| ApiError::Internal(error.to_string()))?;
            renderer.seen(caller.sight_of(&read)?);
        }
        renderer.naming(person(texts[0], texts[1], texts[2])?).item(texts[3], detail.as_deref())?;
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&DETAILED, &query), show).await
}
