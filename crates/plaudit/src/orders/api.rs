//! The operations of orders.

use axum::Router;
use axum::routing::get;

use super::plan::{Listing, Part, Sort};
use super::record::PaymentStatus;
use super::segments::{Counts, Segments, Selection};
use super::store::{self, Found, State};
use super::views::{Planned, is_worth_learning};
use crate::app::App;
use crate::db::{DbError, Source};
use crate::http::kept::{self, Kept};
use crate::http::openapi::Error;
use crate::http::page::anchors::Place;
use crate::http::page::{
    Direction, Filter, FilterKind, ListQuery, ListSpec, Order, PageEnvelope, list_parameters, words,
};
use crate::http::{ApiError, Caller, RawQuery, Renderer, Reply, entity_tag};
use crate::text::Slug;

/// The routes of orders.
pub fn routes() -> Router<App> {
    Router::new().route("/order", get(list))
}

const FILTERS: &[Filter] = &[
    Filter::new("status", FilterKind::OneOf(words!(PaymentStatus)), "Whether they are paid"),
    Filter::new("test", FilterKind::OneOf(&["only", "hide"]), "`only` test orders, or `hide` them")
        .with_default("test orders are among the others"),
    Filter::season("The season, or `all`"),
    Filter::deleted(),
];
const ORDERS: &[&str] = &["created_at", "invoice_number", "payment_method", "payment_status", "season", "total"];
const SPEC: ListSpec = ListSpec::new(FILTERS, ORDERS);
list_parameters!(Query, SPEC);

/// How often a page is planned and read before it is read from one state of the database.
const RUNS: usize = 5;

/// A page of orders. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/order",
    operation_id = "GetOrderCollectionV23",
    tag = "Orders",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = 400, description = "The query is wrong", body = Error),
        (status = 401, description = "No key", body = Error),
        (status = 403, description = "The key is not good here", body = Error),
        (status = 429, description = "Too many requests", body = Error),
    ),
    security(("key" = []))
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let key = (caller.account(), format!("/order?{}", raw.as_deref().unwrap_or_default()), caller.representation());
    if let Some(reply) = read_kept(&caller, &key).await? {
        return Ok(reply);
    }
    let request = Request::read(&caller, raw)?;
    let mut kept = None;
    for _ in 0..RUNS {
        kept = read_with_views(&caller, &request).await?;
        if kept.is_some() {
            break;
        }
    }
    let kept = match kept {
        Some(kept) => kept,
        None => read_from_snapshot(&caller, &request).await?,
    };
    caller.app().answers.keep(key, kept.clone());
    Ok(Reply::body(kept.content, kept.etag))
}

/// The answer that was given to the same request, where nothing that it depends on has changed.
async fn read_kept(caller: &Caller, key: &kept::Key) -> Result<Option<Reply>, ApiError> {
    let app = caller.app();
    let Some(kept) = app.answers.get(key).filter(|kept| kept.state.0 == caller.program().version) else {
        return Ok(None);
    };
    let state = store::state(&mut Source::Db(&app.db), key.0).await?;
    Ok(((state.version, state.changed) == kept.state).then(|| Reply::body(kept.content, kept.etag)))
}

/// A request that was judged.
struct Request {
    raw: Option<String>,
    query: ListQuery,
    listing: Listing,
    /// Where a walk by cursor goes on.
    after: Option<(usize, Place)>,
}

impl Request {
    fn read(caller: &Caller, raw: Option<String>) -> Result<Self, ApiError> {
        let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
        let sort = match query.order {
            Order::Named(name) => Sort::named(name),
            Order::Field(_) => Sort::named(""),
        };
        // The order of an index is newest first by default and smallest first by name.
        let is_reversed = if sort == Sort::named("") {
            query.direction == Direction::Ascending
        } else {
            query.direction == Direction::Descending
        };
        let listing = match selection(caller, &query) {
            Some(selection) => Listing::new(selection, sort, is_reversed, &seasons_by_name(caller)),
            None => Listing::empty(sort, is_reversed),
        };
        let after = match query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
            None => None,
            Some(cursor) => Some(listing.place(&cursor.position).ok_or_else(|| {
                ApiError::BadRequest("The cursor does not belong to this list and its order.".to_owned())
            })?),
        };
        Ok(Self { raw, query, listing, after })
    }

    /// The parts of the page. A walk by cursor reads one order more, to know whether it goes on.
    fn parts(&self, counts: &Counts) -> Vec<Part> {
        let limit = u64::from(self.query.per_page);
        match (&self.after, &self.query.cursor) {
            (Some((group, place)), _) => self.listing.page_after(counts, *group, place.clone(), limit + 1),
            (None, Some(_)) => self.listing.page(counts, 0, limit + 1),
            (None, None) => self.listing.page(counts, self.query.rows_before(), limit),
        }
    }

    /// How many orders the page has when the counts are right; a walk tells only by reading.
    fn expected(&self, planned: &Planned) -> Option<u64> {
        self.query.cursor.is_none().then(|| planned.parts.iter().map(|part| part.limit).sum())
    }
}

/// What the list selects; nothing where it means the active season and there is none.
fn selection(caller: &Caller, query: &ListQuery) -> Option<Selection> {
    let status = match query.word("status") {
        Some("paid") => Some(PaymentStatus::Paid),
        Some(_) => Some(PaymentStatus::AwaitingPayment),
        None => None,
    };
    let segments = Segments::matching(status, query.word("test"), query.word("deleted"));
    let season = match query.slug("season") {
        _ if query.is_all("season") => None,
        Some(season) => Some(season),
        None => Some(caller.program().active_season()?.slug),
    };
    Some(Selection { season, segments })
}

/// All seasons, those in the trash included, by their names in the account's default language.
fn seasons_by_name(caller: &Caller) -> Vec<Slug> {
    let language = caller.program().account.default_language;
    let mut seasons: Vec<_> = caller.program().seasons.all().map(|record| &record.value).collect();
    seasons.sort_by_key(|season| (season.name.in_locale(language), season.slug));
    seasons.into_iter().map(|season| season.slug).collect()
}

/// What was read of a page.
#[derive(Default)]
struct Page {
    state: Option<State>,
    rows: u64,
    has_more: bool,
    first: Option<(usize, Place)>,
    last: Option<(usize, Place)>,
}

/// Reads the page as the views in memory plan it. Nothing where they were older than what was read.
async fn read_with_views(caller: &Caller, request: &Request) -> Result<Option<Kept>, ApiError> {
    let (app, account) = (caller.app(), caller.account());
    let plan = || app.orders.plan(account, &request.listing, |counts| request.parts(counts));
    let mut planned = plan();
    if let Some(group) = planned.as_ref().and_then(|planned| planned.wanted) {
        app.orders.build(&app.db, account, group, request.listing.column).await?;
        planned = plan();
    }
    let Some(planned) = planned else {
        app.orders.refresh(&app.db, account, 0).await?;
        return Ok(None);
    };
    let mut renderer = caller.renderer();
    let mut source = Source::Db(&app.db);
    let page = read_page(caller, request, &mut source, (&planned.parts, Some(planned.changed)), &mut renderer).await?;
    let state = match page.state {
        Some(state) => state,
        // Where there is no row to tell, an extra statement does.
        None => store::state(&mut source, account).await?,
    };
    if state.version != caller.program().version {
        return Err(ApiError::Stale);
    }
    if state.changed != planned.changed {
        app.orders.refresh(&app.db, account, state.changed).await?;
        return Ok(None);
    }
    if request.expected(&planned).is_some_and(|expected| expected != page.rows) {
        app.orders.forget(account);
        return Ok(None);
    }
    if let (Some(part), Some((_, place))) = (planned.parts.first(), &page.first)
        && let Some(rank) = part.rank
        && is_worth_learning(part)
    {
        let key = (request.listing.groups[part.group], request.listing.column);
        app.orders.learn(account, key, planned.changed, rank, place.clone());
    }
    Ok(Some(answer(caller, request, renderer, &page, (planned.total, state))))
}

/// Reads the page from one state of the database, where changes come faster than pages can be read otherwise.
async fn read_from_snapshot(caller: &Caller, request: &Request) -> Result<Kept, ApiError> {
    let account = caller.account();
    let mut tx = caller.app().db.snapshot().await?;
    let mut source = Source::Snapshot(&mut tx, caller.app().db.engine());
    let state = store::state(&mut source, account).await?;
    if state.version != caller.program().version {
        return Err(ApiError::Stale);
    }
    let (counts, _) = store::counts(&mut source, account).await?;
    let parts = request.parts(&counts);
    let mut renderer = caller.renderer();
    let page = read_page(caller, request, &mut source, (&parts, None), &mut renderer).await?;
    Ok(answer(caller, request, renderer, &page, (request.listing.total(&counts), state)))
}

/// Reads the rows of a page straight into the answer. What does not belong to `changed` is passed over.
async fn read_page(
    caller: &Caller,
    request: &Request,
    source: &mut Source<'_>,
    (parts, changed): (&[Part], Option<i64>),
    renderer: &mut Renderer,
) -> Result<Page, ApiError> {
    let mut page = Page::default();
    let mut before = Vec::with_capacity(32);
    PageEnvelope::write_before(&request.query, &mut before);
    let before = String::from_utf8_lossy(&before);
    renderer.begin_list(before.strip_suffix(",\"data\":[").unwrap_or(&before));
    if parts.is_empty() {
        return Ok(page);
    }
    let version = caller.program().version;
    let per_page = u64::from(request.query.per_page);
    let is_reversed = request.listing.is_reversed;
    let row = |found: Found<'_>| {
        page.state = Some(found.state);
        if found.state.version != version || changed.is_some_and(|changed| changed != found.state.changed) {
            return Ok(());
        }
        if page.rows == per_page {
            page.has_more = true;
            return Ok(());
        }
        let place = (found.group, found.place()?);
        // Neither engine promises that an outer SELECT keeps the order of the one inside, so the promise is checked.
        if page.last.as_ref().is_some_and(|last| !follows(last, &place, is_reversed)) {
            return Err(DbError::Failed("the orders of a page came out of order".to_owned()));
        }
        renderer.lasting_item(found.doc, &caller.app().transcoded);
        page.rows += 1;
        if page.first.is_none() {
            page.first = Some(place.clone());
        }
        page.last = Some(place);
        Ok(())
    };
    store::page(source, caller.account(), &request.listing, parts, row).await?;
    Ok(page)
}

fn follows(last: &(usize, Place), next: &(usize, Place), is_reversed: bool) -> bool {
    if last.0 != next.0 {
        return last.0 < next.0;
    }
    if is_reversed { next.1 < last.1 } else { last.1 < next.1 }
}

fn answer(caller: &Caller, request: &Request, renderer: Renderer, page: &Page, (total, state): (u64, State)) -> Kept {
    let next = page.last.as_ref().filter(|_| page.has_more);
    let next_position = next.map(|(group, place)| request.listing.position(*group, place));
    let envelope = PageEnvelope {
        base: caller.program().base_url(),
        path: "/order",
        query: &request.query,
        rows: page.rows,
        total: request.query.counted.then_some(total),
        has_more: page.has_more || request.query.rows_before().saturating_add(page.rows) < total,
        next_position: next_position.as_deref(),
    };
    let mut after = Vec::with_capacity(1024);
    envelope.write_after(&mut after);
    let after = String::from_utf8_lossy(&after);
    let members = after.strip_prefix("],").and_then(|after| after.strip_suffix('}')).unwrap_or(&after);
    let content = renderer.end_list(members);
    Kept { state: (state.version, state.changed), etag: tag(caller, request, state), content }
}

/// What the answer depends on: the program, the orders, the query and the representation.
fn tag(caller: &Caller, request: &Request, state: State) -> String {
    let depends = format!(
        "{}\n{}\n{}\n{}",
        state.version,
        state.changed,
        caller.representation(),
        request.raw.as_deref().unwrap_or_default()
    );
    entity_tag(depends)
}
