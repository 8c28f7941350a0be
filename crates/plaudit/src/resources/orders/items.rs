//! The lines of an order, each with what it is billed with.

use list_view::{From, Key};
use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::UtoipaMethodRouter;

use super::seen;
use crate::http::list::{self, Around};
use crate::http::{ApiError, Caller, Path, RawQuery, Reply};
use crate::lists::Start;
use crate::lists::page::{Direction, ListQuery, ListQueryError, ListSpec, PageEnvelope};
use crate::records::orders::store::{self, Single};
use crate::records::orders::{Item, item_document};
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use kernel::text::Slug;

/// What the query may say: nothing but pages. The lines come in their order.
const SPEC: ListSpec = ListSpec::numbered();

pub(super) fn route() -> UtoipaMethodRouter<App> {
    let about = "A page of the lines of an order, in their order, each with what the order is billed with.";
    let name = (HttpMethod::Get, "/order/{slug}/items", "GetOrderItemsV23", "Orders");
    operation(name, about, Takes::Query(SPEC.parameters()), items)
}

async fn items(caller: Caller, Path(slug): Path<Slug>, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    caller.permit()?;
    let Single { order, revision, purchaser, .. } = seen(&caller, slug).await?;
    let per_page = usize::try_from(query.per_page).unwrap_or(usize::MAX);
    let start = Start::of(&query, |key| matches!(key, Key::Number(_)))?;
    let before = match start.from() {
        From::Number(passed) => usize::try_from(passed).unwrap_or(usize::MAX),
        From::Place(Key::Number(last), of) if of == slug.as_str() => {
            let last = usize::try_from(*last).unwrap_or_default();
            match query.direction {
                Direction::Ascending => last,
                Direction::Descending => (order.items.len() + 1).saturating_sub(last),
            }
        }
        From::Place(..) => return Err(ListQueryError::of("cursor does not belong to this list and its order").into()),
    };
    let numbered = (1..).zip(&order.items);
    let shown: Vec<(usize, &Item)> = match query.direction {
        Direction::Ascending => numbered.skip(before).take(per_page).collect(),
        Direction::Descending => {
            let backwards = (1..=order.items.len()).rev().zip(order.items.iter().rev());
            backwards.skip(before).take(per_page).collect()
        }
    };
    let mut entries: Vec<Slug> = shown.iter().filter_map(|(_, item)| item.entry).collect();
    entries.sort_unstable();
    entries.dedup();
    let of_entries = store::entries_of(&caller.app().db, caller.account(), &entries).await?;
    let mut renderer = caller.renderer();
    renderer.begin_list(&PageEnvelope::before(&query))?;
    for (number, item) in &shown {
        let of_entry = item.entry.and_then(|entry| of_entries.get(&entry));
        renderer.naming(purchaser.clone()).item(&item_document(&order, (*number, item), of_entry), None)?;
    }
    let total = order.items.len() as u64;
    let has_more = before.saturating_add(shown.len()) < order.items.len();
    let last = shown.last().map(|(number, _)| Key::Number(i64::try_from(*number).unwrap_or(i64::MAX)));
    let last = last.as_ref().map(|key| (key, slug.as_str()));
    let around = Around { rows: shown.len(), total, has_more, last, more: "" };
    // Entries are shown by title, and the purchaser by name.
    let state = format!("{revision}\n{purchaser:?}\n{of_entries:?}");
    list::end(&caller, renderer, (&format!("/order/{slug}/items"), &query, raw.as_deref()), &around, &state)
}
