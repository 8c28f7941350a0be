//! The list of users.

use super::selection::{Place, SPEC, Selection, Sort};
use super::store::{self, Page};
use crate::http::openapi::Error;
use crate::http::page::{ListQuery, PageEnvelope, list_parameters};
use crate::http::{ApiError, Caller, RawQuery, Renderer, Reply};

const PATH: &str = "/user";
list_parameters!(Query, SPEC);

/// A page of users. Without `order` who was changed last comes first.
#[utoipa::path(
    get,
    path = "/user",
    operation_id = "GetUserCollectionV23",
    tag = "Users",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    let sort = Sort::of(&query);
    let after = match query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
        None => None,
        Some(cursor) => Some(sort.place(&cursor.position).ok_or_else(|| {
            ApiError::BadRequest("The cursor does not belong to this list and its order.".to_owned())
        })?),
    };
    let page = Page {
        selection: &Selection::of(&query, caller.program()),
        sort,
        offset: if after.is_some() { 0 } else { query.rows_before() },
        after: after.as_ref(),
        // One user more, to know whether the list goes on.
        limit: u64::from(query.per_page) + 1,
        counted: query.counted,
    };
    let (renderer, read) = read(&caller, &query, &page).await?;
    Ok(answer(&caller, &query, sort, renderer, &read))
}

/// What was read of a page.
#[derive(Default)]
struct Read {
    total: u64,
    rows: u64,
    last: Option<Place>,
    has_more: bool,
}

/// Reads the users of a page straight into the answer.
async fn read(caller: &Caller, query: &ListQuery, page: &Page<'_>) -> Result<(Renderer, Read), ApiError> {
    let mut before = Vec::with_capacity(32);
    PageEnvelope::write_before(query, &mut before);
    let before = String::from_utf8_lossy(&before);
    let mut renderer = caller.renderer();
    renderer.begin_list(before.strip_suffix(",\"data\":[").unwrap_or(&before));
    let mut read = Read::default();
    let mut version = None;
    store::page(&caller.app().db, caller.account(), page, |found| {
        version = Some(found.version);
        read.total = u64::try_from(found.total).unwrap_or(0);
        let Some((place, doc)) = found.user.filter(|_| found.version == caller.program().version) else {
            return Ok(());
        };
        if read.rows == u64::from(query.per_page) {
            read.has_more = true;
            return Ok(());
        }
        renderer.item(doc, None);
        read.rows += 1;
        read.last = Some(place);
        Ok(())
    })
    .await?;
    if version == Some(caller.program().version) { Ok((renderer, read)) } else { Err(ApiError::Stale) }
}

fn answer(caller: &Caller, query: &ListQuery, sort: Sort, renderer: Renderer, read: &Read) -> Reply {
    let next_position = read.last.as_ref().filter(|_| read.has_more).map(|place| sort.position(place));
    let envelope = PageEnvelope {
        base: caller.program().base_url(),
        path: PATH,
        query,
        rows: read.rows,
        total: query.counted.then_some(read.total),
        has_more: read.has_more,
        next_position: next_position.as_deref(),
    };
    let mut after = Vec::with_capacity(1024);
    envelope.write_after(&mut after);
    let after = String::from_utf8_lossy(&after);
    let members = after.strip_prefix("],").and_then(|after| after.strip_suffix('}')).unwrap_or(&after);
    let content = renderer.end_list(members);
    // What is shown depends on more than the users' own changes, such as the seasons of their entries.
    let tag = content.entity_tag();
    Reply::body(content, tag)
}
