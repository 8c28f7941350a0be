//! Lists of set-up records, made from the snapshot in memory.
//!
//! - The slice judges the query with its own `ListSpec` and selects the records; this module sorts, pages and renders.
//! - A list is sorted by the key of its order. Ties go by slug, ascending in both directions.
//! - Texts are compared by their code points after case folding (each character in upper case, then in lower case), so
//!   that every engine and every reader sorts alike. What is absent comes first, and last when the list is turned around.
//! - A cursor holds the key and the slug of the last record shown. A walk therefore goes on at the same place when records
//!   come and go in between, and is a 400 with another list, order or direction.
//! - One statement compares the program's version, so that no page is made from a stale snapshot.

use sha2::{Digest, Sha256};

use super::{Program, Record, SetupRecord, accounts};
use crate::http::page::{Direction, ListQuery, Order, PageEnvelope};
use crate::http::{ApiError, Caller, Reply, entity_tag};
use crate::text::{Slug, Timestamp, Translated, folded};

/// What a list of set-up records is sorted by; absent comes first ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// The record has none. Where no record has one, the list is sorted by slug.
    Absent,
    /// Sorted by value: numbers, flags, and times as microseconds.
    Integer(i64),
    /// Sorted by code points after case folding.
    Text(String),
}

impl SortKey {
    /// The key of a translated text: the one in the account's default language.
    #[must_use]
    pub fn translated(text: &Translated, program: &Program) -> Self {
        Self::Text(text.in_locale(program.account.default_language).to_owned())
    }

    /// The key of a name of another record, absent where there is no such record.
    #[must_use]
    pub fn name(name: Option<&Translated>, program: &Program) -> Self {
        name.map_or(Self::Absent, |name| Self::translated(name, program))
    }

    /// The key of a text that may be missing.
    #[must_use]
    pub fn text(text: Option<&str>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }

    /// The key of a time.
    #[must_use]
    pub fn time(time: Timestamp) -> Self {
        Self::Integer(time.as_microseconds())
    }

    /// The key as it is compared.
    fn folded(self) -> Self {
        match self {
            Self::Text(text) => Self::Text(folded(&text)),
            other => other,
        }
    }
}

/// A list of set-up records.
pub struct Listing<'a, T> {
    /// The path, such as `/category`.
    pub path: &'static str,
    /// The query, judged with the slice's `ListSpec`.
    pub query: &'a ListQuery,
    /// What the filters select, in any order.
    pub records: Vec<&'a Record<T>>,
    /// The key of a record for one of the orders of the `ListSpec`, `updated` among them.
    pub key: &'a (dyn Fn(&T, &'static str) -> SortKey + Sync),
    /// The item of the list that a record is shown as, with slots.
    pub document: &'a (dyn Fn(&Record<T>) -> String + Sync),
}

/// A page of set-up records.
pub async fn reply<T: SetupRecord>(
    caller: &Caller,
    raw: Option<&str>,
    listing: Listing<'_, T>,
) -> Result<Reply, ApiError> {
    let page = Page::of(&listing)?;
    confirm(caller).await?;
    Ok(page.answer(caller, raw, &listing, ""))
}

/// A page of set-up records that shows more than the program, such as counts of entries. The slice has read that with
/// the program's version and has compared it; `state` differs whenever what it has read does, and goes into the `ETag`.
pub fn reply_with<T: SetupRecord>(
    caller: &Caller,
    raw: Option<&str>,
    listing: &Listing<'_, T>,
    state: &str,
) -> Result<Reply, ApiError> {
    Ok(Page::of(listing)?.answer(caller, raw, listing, state))
}

/// A single set-up record of the snapshot.
pub async fn show(caller: &Caller, revision: i64, document: String) -> Result<Reply, ApiError> {
    confirm(caller).await?;
    Ok(Reply::ok(document, revision))
}

/// Compares the snapshot's version with the account's.
async fn confirm(caller: &Caller) -> Result<(), ApiError> {
    let version = accounts::store::version(&caller.app().db, caller.account()).await?;
    if version == Some(caller.program().version) { Ok(()) } else { Err(ApiError::Stale) }
}

/// Whether a filter such as `deleted` selects a record: `only`, `included` or `all`, `none`; left out means `none`.
#[must_use]
pub fn is_selected_by_trash(query: &ListQuery, filter: &str, deleted: bool) -> bool {
    match query.word(filter) {
        Some("only") => deleted,
        Some("included" | "all") => true,
        _ => !deleted,
    }
}

/// Whether the filter `season` selects a record of this season: a slug, `all`, or left out for the active one. A record
/// that belongs to no season serves all of them, and so is in the list of each that there is.
#[must_use]
pub fn is_in_season(query: &ListQuery, program: &Program, season: Option<Slug>) -> bool {
    if query.is_all("season") {
        return true;
    }
    let wanted = query.slug("season").or_else(|| program.active_season().map(|season| season.slug));
    match season {
        Some(season) => wanted == Some(season),
        None => wanted.is_some_and(|wanted| program.seasons.any(wanted).is_some()),
    }
}

/// The records of a page, in order.
struct Page<'a, T> {
    records: Vec<&'a Record<T>>,
    total: u64,
    /// The position of the last record, where others follow it.
    next_position: Option<Vec<u8>>,
}

impl<'a, T: SetupRecord> Page<'a, T> {
    fn of(listing: &Listing<'a, T>) -> Result<Self, ApiError> {
        let sort = Sort::of(listing.path, listing.query);
        let mut sorted: Vec<(Place, &'a Record<T>)> = listing
            .records
            .iter()
            .map(|record| (((listing.key)(&record.value, sort.order).folded(), record.value.slug()), *record))
            .collect();
        sorted.sort_by(|(left, _), (right, _)| sort.compare(left, right));
        let before = match listing.query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
            Some(cursor) => {
                let place = sort.place(&cursor.position).ok_or_else(|| {
                    ApiError::BadRequest("The cursor does not belong to this list and its order.".to_owned())
                })?;
                sorted.partition_point(|(held, _)| sort.compare(held, &place).is_le())
            }
            None => usize::try_from(listing.query.rows_before()).unwrap_or(usize::MAX).min(sorted.len()),
        };
        let shown = &sorted[before..];
        let count = usize::try_from(listing.query.per_page).unwrap_or(usize::MAX).min(shown.len());
        let (page, following) = shown.split_at(count);
        let last = page.last().filter(|_| !following.is_empty());
        Ok(Self {
            next_position: last.map(|(place, _)| sort.position(place)),
            total: sorted.len() as u64,
            records: page.iter().map(|(_, record)| *record).collect(),
        })
    }

    fn answer(&self, caller: &Caller, raw: Option<&str>, listing: &Listing<'_, T>, state: &str) -> Reply {
        let mut before = Vec::with_capacity(32);
        PageEnvelope::write_before(listing.query, &mut before);
        let before = String::from_utf8_lossy(&before);
        let mut renderer = caller.renderer();
        renderer.begin_list(before.strip_suffix(",\"data\":[").unwrap_or(&before));
        for record in &self.records {
            renderer.item(&(listing.document)(record), None);
        }
        let envelope = PageEnvelope {
            base: caller.program().base_url(),
            path: listing.path,
            query: listing.query,
            rows: self.records.len() as u64,
            total: listing.query.counted.then_some(self.total),
            has_more: self.next_position.is_some(),
            next_position: self.next_position.as_deref(),
        };
        let mut after = Vec::with_capacity(1024);
        envelope.write_after(&mut after);
        let after = String::from_utf8_lossy(&after);
        let members = after.strip_prefix("],").and_then(|after| after.strip_suffix('}')).unwrap_or(&after);
        let depends = format!(
            "{}\n{}\n{state}\n{}\n{}",
            listing.path,
            caller.program().version,
            caller.representation(),
            raw.unwrap_or_default()
        );
        Reply::body(renderer.end_list(members), entity_tag(depends))
    }
}

/// Where a record stands in its list.
type Place = (SortKey, Slug);

/// The bytes in front of a position, which tell lists and sorts apart.
const IDENTITY_LENGTH: usize = 4;

/// What a list is sorted by.
struct Sort {
    path: &'static str,
    order: &'static str,
    direction: Direction,
}

impl Sort {
    fn of(path: &'static str, query: &ListQuery) -> Self {
        let order = match query.order {
            Order::Named(order) => order,
            // No list of set-up records is sorted by answers.
            Order::Field(_) => "updated",
        };
        Self { path, order, direction: query.direction }
    }

    fn compare(&self, left: &Place, right: &Place) -> std::cmp::Ordering {
        let by_key = left.0.cmp(&right.0);
        let by_key = if self.direction == Direction::Descending { by_key.reverse() } else { by_key };
        by_key.then(left.1.cmp(&right.1))
    }

    fn identity(&self) -> [u8; IDENTITY_LENGTH] {
        let digest = Sha256::digest(format!("{}\n{}\n{:?}", self.path, self.order, self.direction));
        let mut identity = [0; IDENTITY_LENGTH];
        identity.copy_from_slice(&digest[..IDENTITY_LENGTH]);
        identity
    }

    /// The position of a record for a cursor.
    fn position(&self, (key, slug): &Place) -> Vec<u8> {
        let mut position = self.identity().to_vec();
        position.extend_from_slice(slug.as_bytes());
        match key {
            SortKey::Absent => {}
            SortKey::Integer(integer) => {
                position.push(b'i');
                position.extend_from_slice(&integer.to_be_bytes());
            }
            SortKey::Text(text) => {
                position.push(b't');
                position.extend_from_slice(text.as_bytes());
            }
        }
        position
    }

    /// The place that a position describes; nothing where it is none of this list and sort.
    fn place(&self, position: &[u8]) -> Option<Place> {
        let rest = position.strip_prefix(&self.identity())?;
        let (slug, key) = rest.split_first_chunk::<8>()?;
        let key = match key.split_first() {
            None => SortKey::Absent,
            Some((b'i', integer)) => SortKey::Integer(i64::from_be_bytes(integer.try_into().ok()?)),
            Some((b't', text)) => SortKey::Text(std::str::from_utf8(text).ok()?.to_owned()),
            Some(_) => return None,
        };
        Some((key, Slug::from_letters(*slug)?))
    }
}

#[cfg(test)]
mod tests;
