//! The feed: every change of the account's records, once and in order.
//!
//! - A cursor names the last change that was looked at, by its number and a part of its hash. So the change of the same number in
//!   another history, such as that of a restored backup, is not taken for it: 400.
//! - A page looks at no more than 10,000 changes. Where few of them are wanted it is short or empty, and goes on at its cursor.
//! - With `wait` an empty page is held back while the log has nothing more. Whoever waits counts as a stream.

use std::time::Duration;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;

use crate::http::{ApiError, Caller, RawQuery, Reply, entity_tag, pipeline};
use crate::lists::page::{Cursor, Filter, FilterKind, ListQuery, ListQueryError, ListSpec, walked_page};
use crate::log::Event;
use crate::log::feed::{self, Logged, Mark, Of};
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use db::{AccountId, Committed, Db, DbError, Source};
use kernel::document::{List, Object};
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// The most changes of a page.
const MAXIMUM_PER_PAGE: u32 = 1_000;
/// The most changes that a page looks at.
const LOOKED_AT: i64 = 10_000;
/// The longest wait, in seconds.
const LONGEST_WAIT: u32 = 30;

const FILTERS: &[Filter] = &[
    Filter::new("kind", FilterKind::OneOf(&Kind::NAMES), "The kind of the record"),
    Filter::new("event", FilterKind::OneOf(&Event::NAMES), "An event that the change causes"),
    Filter::new("slug", FilterKind::Text { max: 64 }, "The slug or token of the record"),
    Filter::new(
        "wait",
        FilterKind::Number { min: 1, max: LONGEST_WAIT },
        "For how many seconds an answer without changes is held back; it is given as soon as there is one",
    ),
];
const SPEC: ListSpec = ListSpec::walked(FILTERS, MAXIMUM_PER_PAGE);

/// The kinds whose records have no address of their own.
pub(crate) const WITHOUT_ADDRESS: [Kind; 13] = [
    Kind::Account,
    Kind::ApiKey,
    Kind::Tab,
    Kind::Discount,
    Kind::Criterion,
    Kind::DocumentTemplate,
    Kind::OrderItem,
    Kind::Payment,
    Kind::Score,
    Kind::Conflict,
    Kind::Recusal,
    Kind::CastingVote,
    Kind::Lot,
];

/// The route of the feed.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(operation(
        (HttpMethod::Get, "/event", "GetEventCollectionV23", "Events"),
        "Every change of the account's records, once and in order. Without `cursor` it begins at the beginning; at the end \
         `next_cursor` stays good and gives what comes later. A page can be short, or empty, before the end.",
        Takes::Query(SPEC.parameters()),
        list,
    ))
}

async fn list(mut caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    caller.permit()?;
    let mut page = Page::new(&query)?;
    let (app, since, mut waiting) = (caller.app().clone(), caller.now(), None);
    loop {
        let committed = page.read(&app.db, caller.account()).await?.ok_or(ApiError::KeyRefused)?;
        if committed.version != caller.program().version {
            // A change of the set-up that is not wanted ends no wait, but the key has to be good still.
            let program = app.programs.at_least(caller.account(), committed.version).await?;
            caller = pipeline::again(&caller, program.ok_or(ApiError::KeyRefused)?, app.clock.now()).await?;
        }
        let is_at_end = page.last.sequence == committed.sequence;
        let Some(seconds) = query.number("wait").filter(|_| page.changes.is_empty() && is_at_end) else { break };
        let Some((commits, _)) = &mut waiting else {
            let permit = app.tails.admit(caller.account(), caller.key())?;
            let mut commits = app.db.watch(caller.account(), committed);
            commits.mark_unchanged();
            // What was committed before somebody watched is read first.
            waiting = Some((commits, permit));
            continue;
        };
        let over = tokio::time::sleep(left(&app, since, seconds));
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { break },
            () = over => break,
            () = app.tails.stopped() => break,
        }
    }
    page.answer(&caller, &query, raw.as_deref())
}

/// What is left of a wait of so many seconds since a time.
fn left(app: &App, since: Timestamp, seconds: u32) -> Duration {
    let wait = i64::from(seconds) * 1_000_000;
    let waited = app.clock.now().as_microseconds() - since.as_microseconds();
    Duration::from_micros((wait - waited).clamp(0, wait).unsigned_abs())
}

/// A page that is being read.
struct Page<'q> {
    kind: Option<Kind>,
    event: Option<Event>,
    slug: Option<&'q str>,
    most: usize,
    changes: Vec<Logged>,
    /// The last change that was looked at.
    last: Mark,
}

impl<'q> Page<'q> {
    fn new(query: &'q ListQuery) -> Result<Self, ListQueryError> {
        Ok(Self {
            kind: query.word("kind").and_then(Kind::named),
            event: query.word("event").and_then(Event::named),
            slug: query.text("slug"),
            most: usize::try_from(query.per_page).unwrap_or(usize::MAX),
            changes: Vec::new(),
            last: query.cursor.as_ref().map_or(Ok(Mark::START), position)?,
        })
    }

    /// Reads on from where it is, in one state of the database, and tells where the account stands; nothing where there is none.
    async fn read(&mut self, db: &Db, account: AccountId) -> Result<Option<Committed>, ApiError> {
        let mut tx = db.snapshot().await?;
        let mut source = Source::Snapshot(&mut tx);
        let Some((committed, is_there)) = feed::standing(account, &mut source, self.last).await? else {
            return Ok(None);
        };
        if !is_there {
            return Err(elsewhere().into());
        }
        let of = match (self.kind, self.slug) {
            (Some(kind), Some(slug)) => Of::Record(kind, slug),
            _ => Of::All,
        };
        let is_whole = (self.kind, self.event, self.slug) == (None, None, None);
        let looked_at = if matches!(of, Of::Record(..)) { i64::MAX } else { LOOKED_AT };
        let to = committed.sequence.min(self.last.sequence.saturating_add(looked_at));
        while self.last.sequence < to && self.changes.len() < self.most {
            let room = i64::try_from(self.most - self.changes.len()).unwrap_or(i64::MAX);
            let after = self.last.sequence;
            let until = if is_whole { to.min(after.saturating_add(room)) } else { to };
            let (stretch, reached) = feed::stretch(account, &mut source, of, (after, until), None).await?;
            if reached == after {
                return Err(DbError::Failed(format!("the change log of {account:?} ends before {until}")).into());
            }
            self.take(stretch);
            if self.changes.len() < self.most && reached == committed.sequence {
                self.last = Mark::of(reached, &committed.hash);
            }
        }
        tx.commit().await?;
        Ok(Some(committed))
    }

    /// Takes what is wanted of a stretch, and no more than the page has room for.
    fn take(&mut self, stretch: Vec<Logged>) {
        for change in stretch {
            if self.changes.len() == self.most {
                return;
            }
            self.last = Mark::of(change.sequence, &change.hash);
            if self.wants(&change) {
                self.changes.push(change);
            }
        }
    }

    fn wants(&self, change: &Logged) -> bool {
        self.kind.is_none_or(|kind| change.kind == kind)
            && self.slug.is_none_or(|slug| change.slug == slug)
            && self.event.is_none_or(|event| change.events.contains(&event))
    }

    fn answer(self, caller: &Caller, query: &ListQuery, raw: Option<&str>) -> Result<Reply, ApiError> {
        let position = [self.last.sequence.to_be_bytes(), self.last.name.to_be_bytes()].concat();
        let next_cursor = query.cursor_behind(position, 0);
        let records =
            |list: &mut List<'_>| self.changes.iter().for_each(|change| list.object(|object| write(object, change)));
        let document = walked_page(records, Some(&next_cursor));
        // The log does not change: where a page begins and ends tells what is in it.
        let (version, representation) = (caller.program().version, caller.representation());
        let depends = format!("{next_cursor}\n{version}\n{representation}\n/event\n{}", raw.unwrap_or_default());
        Ok(Reply::Body { content: caller.renderer().record(&document, None)?, etag: entity_tag(depends) })
    }
}

/// The change that a cursor names.
fn position(cursor: &Cursor) -> Result<Mark, ListQueryError> {
    if cursor.is_start() {
        return Ok(Mark::START);
    }
    let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_be_bytes);
    let mark = cursor.position.split_at_checked(size_of::<i64>()).and_then(|(sequence, name)| {
        Some(Mark { sequence: number(sequence).filter(|sequence| *sequence >= 0)?, name: number(name)? })
    });
    mark.ok_or_else(elsewhere)
}

fn elsewhere() -> ListQueryError {
    ListQueryError::of("cursor is of another history: the change that it names is not in the account's log")
}

fn write(object: &mut Object<'_>, change: &Logged) {
    object.integer("sequence", change.sequence);
    object.time("timestamp", change.at);
    object.object("actor", |actor| {
        actor.text("kind", change.actor.kind());
        actor.optional_slug("slug", change.actor.slug());
    });
    object.text("source", &change.source);
    object.text("kind", change.kind.name());
    object.text("slug", &change.slug);
    if WITHOUT_ADDRESS.contains(&change.kind) {
        object.null("link");
    } else {
        object.link("link", change.kind, &change.slug);
    }
    object.text("action", &change.action);
    object.texts("events", change.events.iter().map(|event| event.name()));
}
