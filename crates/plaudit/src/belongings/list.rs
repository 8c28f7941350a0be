//! The answer to a list of attachments or contributors.

use super::selection::{Listed, Place};
use super::store::{self, Page};
use crate::http::page::{ListQuery, PageEnvelope};
use crate::http::{ApiError, Caller, Reply};
use crate::text::Slug;

/// What is stored of a record and of what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its stored form.
    pub doc: String,
    /// The title of its entry.
    pub title: String,
    /// The season of its entry.
    pub season: Slug,
    /// The stored form of its file, where it has one.
    pub file: Option<String>,
}

/// What was read of a page.
#[derive(Debug, Default)]
pub struct Read {
    total: u64,
    places: Vec<Place>,
    shown: Vec<Shown>,
    has_more: bool,
}

/// Reads a page; 400 for a cursor of another list.
pub async fn page(caller: &Caller, query: &ListQuery, listed: &Listed) -> Result<Read, ApiError> {
    let after = match query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
        None => None,
        Some(cursor) => Some(listed.place(&cursor.position).ok_or_else(|| {
            ApiError::BadRequest("The cursor does not belong to this list and its order.".to_owned())
        })?),
    };
    let page = Page {
        listed,
        offset: if after.is_some() { 0 } else { query.rows_before() },
        after: after.as_ref(),
        // One record more, to know whether the list goes on.
        limit: u64::from(query.per_page) + 1,
        counted: query.counted,
    };
    let found = store::page(&caller.app().db, caller.account(), &page).await?;
    let version = caller.program().version;
    if found.is_empty() || found.iter().any(|found| found.version != version) {
        return Err(ApiError::Stale);
    }
    let mut read = Read::default();
    for found in found {
        read.total = u64::try_from(found.total).unwrap_or(0);
        if let Some((place, shown)) = found.record {
            read.places.push(place);
            read.shown.push(shown);
        }
    }
    let rows = usize::try_from(query.per_page).unwrap_or(usize::MAX);
    read.has_more = read.shown.len() > rows;
    read.places.truncate(rows);
    read.shown.truncate(rows);
    Ok(read)
}

/// The answer with a page, whose records are written as `document` says.
pub fn answer(
    caller: &Caller,
    (path, query): (&str, &ListQuery),
    (listed, read): (&Listed, &Read),
    document: impl Fn(&Shown) -> Result<String, ApiError>,
) -> Result<Reply, ApiError> {
    let mut before = Vec::with_capacity(32);
    PageEnvelope::write_before(query, &mut before);
    let before = String::from_utf8_lossy(&before);
    let mut renderer = caller.renderer();
    renderer.begin_list(before.strip_suffix(",\"data\":[").unwrap_or(&before));
    for shown in &read.shown {
        renderer.item(&document(shown)?, None);
    }
    let next_position = read.places.last().filter(|_| read.has_more).map(|place| listed.position(place));
    let envelope = PageEnvelope {
        base: caller.program().base_url(),
        path,
        query,
        rows: read.shown.len() as u64,
        total: query.counted.then_some(read.total),
        has_more: read.has_more,
        next_position: next_position.as_deref(),
    };
    let mut after = Vec::with_capacity(1024);
    envelope.write_after(&mut after);
    let after = String::from_utf8_lossy(&after);
    let members = after.strip_prefix("],").and_then(|after| after.strip_suffix('}')).unwrap_or(&after);
    let content = renderer.end_list(members);
    // What is shown depends on more than the records' own changes, such as the names of files.
    let tag = content.entity_tag();
    Ok(Reply::body(content, tag))
}
