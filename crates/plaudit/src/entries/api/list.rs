//! The list of entries.

use std::sync::Arc;

use crate::db::{DbError, Source};
use crate::entries::document::included;
use crate::entries::plan::{Listing, NARROW, Totals, Wanted};
use crate::entries::selection::{Group, SPEC, Selection, Sort};
use crate::entries::store::list::{self, Found, State};
use crate::http::kept::{self, Kept};
use crate::http::openapi::Error;
use crate::http::page::anchors::Place;
use crate::http::page::{ListQuery, PageEnvelope, list_parameters};
use crate::http::{ApiError, Caller, RawQuery, Renderer, Reply, entity_tag};
use crate::text::Slug;

const PATH: &str = "/entry";
list_parameters!(Query, SPEC);

/// How often a page is planned and read before it is read from one state of the database.
const RUNS: usize = 5;

/// A page of entries. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/entry",
    operation_id = "GetEntryCollectionV23",
    tag = "Entries",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let request = Request::read(&caller, raw)?;
    let key = (caller.account(), request.path(), request.representation(&caller));
    if let Some(reply) = read_kept(&caller, &key).await? {
        return Ok(reply);
    }
    let mut answered = None;
    for run in 0..RUNS {
        answered = read(&caller, &request, &mut Source::Db(&caller.app().db), run == 0).await?;
        if answered.is_some() {
            break;
        }
    }
    if answered.is_none() {
        // Changes come faster than pages can be read otherwise.
        let mut tx = caller.app().db.snapshot().await?;
        answered = read(&caller, &request, &mut Source::Snapshot(&mut tx, caller.app().db.engine()), false).await?;
    }
    let answered = answered.ok_or_else(|| ApiError::Internal("a snapshot has changed".to_owned()))?;
    caller.app().answers.keep(key, answered.clone());
    Ok(Reply::body(answered.content, answered.etag))
}

/// The answer that was given to the same request, where nothing in the account has changed.
async fn read_kept(caller: &Caller, key: &kept::Key) -> Result<Option<Reply>, ApiError> {
    let app = caller.app();
    let Some(kept) = app.answers.get(key).filter(|kept| kept.state.0 == caller.program().version) else {
        return Ok(None);
    };
    let state = list::state(&app.db, key.0).await?;
    let is_good = state.is_some_and(|state| (state.version, state.sequence) == kept.state);
    Ok(is_good.then(|| Reply::body(kept.content, kept.etag)))
}

/// A request that was judged.
struct Request {
    raw: String,
    query: ListQuery,
    listing: Listing,
    wanted: Wanted,
    seasons: Vec<Slug>,
}

impl Request {
    fn read(caller: &Caller, raw: Option<String>) -> Result<Self, ApiError> {
        let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
        let (sort, program) = (Sort::of(&query), caller.program());
        let wanted = match query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
            None => Wanted::After(query.rows_before()),
            Some(cursor) => {
                let (group, place) = sort.place(&cursor.position).ok_or_else(|| {
                    ApiError::BadRequest("The cursor does not belong to this list and its order.".to_owned())
                })?;
                Wanted::Place(group, place)
            }
        };
        let selection = Selection::of(&query, program);
        let listing = Listing { selection, sort, groups: sort.groups(program) };
        let seasons = program.seasons.all().map(|record| record.value.slug).collect();
        Ok(Self { raw: raw.unwrap_or_default(), query, listing, wanted, seasons })
    }

    fn path(&self) -> String {
        format!("{PATH}?{}", self.raw)
    }

    /// What the answer depends on besides its records: addresses of files, which are shown with answers and attachments,
    /// are good for a while only.
    fn representation(&self, caller: &Caller) -> String {
        let representation = caller.representation();
        if self.included().is_empty() { representation } else { format!("{representation}.{}", caller.expires()) }
    }

    fn included(&self) -> &[&'static str] {
        self.query.words("include")
    }

    /// How many entries are read: one more than are shown, to know whether a walk goes on.
    fn limit(&self) -> u64 {
        u64::from(self.query.per_page) + u64::from(self.query.cursor.is_some())
    }
}

/// What was read of a page.
#[derive(Default)]
struct Read {
    state: Option<State>,
    rows: u64,
    has_more: bool,
    first: Option<Place>,
    last: Option<(usize, Place)>,
}

/// Where the account stands and how many entries the list has, from memory where that may be.
async fn totals(
    caller: &Caller,
    request: &Request,
    source: &mut Source<'_>,
    may_be_kept: bool,
) -> Result<(State, Arc<Totals>), ApiError> {
    let (views, account, version) = (&caller.app().entries, caller.account(), caller.program().version);
    let listing = &request.listing;
    if may_be_kept
        && let Some((state, totals)) = views.totals(account, listing)
        && state.version == version
        // A page without any part is not read, so that nothing would tell whether the account still stands there.
        && !listing.parts(&totals, &request.wanted, request.limit()).is_empty()
    {
        return Ok((state, totals));
    }
    let found = list::totals(source, account, listing, &request.seasons).await?;
    let Some((state, totals)) = found.filter(|(state, _)| state.version == version) else {
        return Err(ApiError::Stale);
    };
    let totals = Arc::new(totals);
    views.keep_totals(account, listing, state, &totals);
    Ok((state, totals))
}

/// Plans the page and reads it. Nothing where something in the account changed in between.
async fn read(
    caller: &Caller,
    request: &Request,
    source: &mut Source<'_>,
    may_be_kept: bool,
) -> Result<Option<Kept>, ApiError> {
    let (app, account) = (caller.app(), caller.account());
    let listing = &request.listing;
    let (state, totals) = totals(caller, request, source, may_be_kept).await?;
    let total = totals.sum();
    let mut parts = listing.parts(&totals, &request.wanted, request.limit());
    let is_gathered = total <= NARROW;
    if !is_gathered && matches!(source, Source::Db(_)) {
        for part in parts.iter_mut().filter(|part| part.is_deep()) {
            app.entries.anchor((&app.db, account), (listing, &totals), part, state.sequence).await?;
        }
    }
    let page = list::Page {
        listing,
        totals: &totals,
        parts: &parts,
        seasons: &request.seasons,
        is_gathered,
        limit: request.limit(),
        is_detailed: !request.included().is_empty(),
    };
    let mut renderer = caller.renderer();
    let read = read_page(request, (source, account), (&page, state), &mut renderer).await?;
    if read.state != Some(state) {
        return Ok(None);
    }
    if let (Some(part), Some(place)) = (parts.first(), &read.first) {
        app.entries.learn(account, listing, part, state.sequence, place.clone());
    }
    Ok(Some(answer(caller, request, renderer, &read, (total, state))))
}

/// Reads the entries of a page straight into the answer.
async fn read_page(
    request: &Request,
    (source, account): (&mut Source<'_>, crate::db::AccountId),
    (page, state): (&list::Page<'_>, State),
    renderer: &mut Renderer,
) -> Result<Read, ApiError> {
    let mut before = Vec::with_capacity(32);
    PageEnvelope::write_before(&request.query, &mut before);
    let before = String::from_utf8_lossy(&before);
    renderer.begin_list(before.strip_suffix(",\"data\":[").unwrap_or(&before));
    let mut read = Read::default();
    if page.parts.is_empty() {
        return Ok(Read { state: Some(state), ..read });
    }
    let per_page = u64::from(request.query.per_page);
    let is_reversed = request.listing.sort.is_reversed;
    let row = |found: Found<'_>| {
        let (number, place, doc, detail) = match found {
            Found::State(seen) => {
                read.state = Some(seen);
                return Ok(());
            }
            Found::Entry(number, place, doc, detail) => (number, place, doc, detail),
        };
        if read.state.is_some_and(|seen| seen != state) {
            return Ok(());
        }
        if read.rows == per_page {
            read.has_more = true;
            return Ok(());
        }
        // Neither engine promises that an outer SELECT keeps the order of the one inside, so the promise is checked.
        let place = (number, place);
        if read.last.as_ref().is_some_and(|last| !follows(last, &place, is_reversed)) {
            return Err(DbError::Failed("the entries of a page came out of order".to_owned()));
        }
        let detail = included(detail, request.included());
        renderer.item(doc, detail.as_deref());
        read.rows += 1;
        if read.first.is_none() {
            read.first = Some(place.1.clone());
        }
        read.last = Some(place);
        Ok(())
    };
    list::page(source, account, page, row).await?;
    Ok(read)
}

fn follows(last: &(usize, Place), next: &(usize, Place), is_reversed: bool) -> bool {
    if last.0 != next.0 {
        return last.0 < next.0;
    }
    if is_reversed { next.1 < last.1 } else { last.1 < next.1 }
}

fn answer(caller: &Caller, request: &Request, renderer: Renderer, read: &Read, (total, state): (u64, State)) -> Kept {
    let Request { query, listing, .. } = request;
    let next_position = read.last.as_ref().filter(|_| read.has_more).map(|(number, place)| {
        let group: Group = listing.groups.get(*number).copied().flatten();
        listing.sort.position(group, place)
    });
    let envelope = PageEnvelope {
        base: caller.program().base_url(),
        path: PATH,
        query,
        rows: read.rows,
        total: query.counted.then_some(total),
        has_more: read.has_more || query.rows_before().saturating_add(read.rows) < total,
        next_position: next_position.as_deref(),
    };
    let mut after = Vec::with_capacity(1024);
    envelope.write_after(&mut after);
    let after = String::from_utf8_lossy(&after);
    let members = after.strip_prefix("],").and_then(|after| after.strip_suffix('}')).unwrap_or(&after);
    let content = renderer.end_list(members);
    // What the answer depends on: the program, the records, the query and the representation.
    let representation = request.representation(caller);
    let depends = format!("{}\n{}\n{representation}\n{}", state.version, state.sequence, request.path());
    Kept { state: (state.version, state.sequence), etag: entity_tag(depends), content }
}
