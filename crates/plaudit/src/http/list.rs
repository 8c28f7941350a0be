//! The operation of every list of people's records: a page of what a [`List`] declares; and what all lists share, those of
//! set-up records too: where a page begins, and what stands around its records.

use std::sync::Arc;

use list_view::Key;

use super::{ApiError, Caller, Reply, entity_tag};
use crate::lists::page::{Ask, ListQuery, Order, PageEnvelope};
use crate::lists::{By, ENTRIES, List, Start, position};
use crate::records::users::Person;
use crate::render::Renderer;
use crate::views::{self, ALL, Ended, Plan, Request};
use db::{AccountId, DbError, Source};
use kernel::text::Slug;

/// How often a page is planned and read. The last time it is planned in the snapshot in which it is read, for accounts that change
/// faster than pages are read.
const ATTEMPTS: usize = 3;
/// How often records are counted.
const COUNTS: usize = 5;

/// What a list does of its own.
pub trait Paged: Send {
    /// Makes what is asked for what the list needs.
    fn ask(&self, request: Request) -> Request {
        request
    }

    /// Reads what is needed beside the records of a page, which can be put into another order.
    fn prepare(
        &mut self,
        _: &mut Source<'_>,
        _: AccountId,
        _: &mut Plan,
    ) -> impl Future<Output = Result<(), ApiError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Writes a record, from the columns that the list declares. The records come in order.
    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError>;

    /// What stands behind the envelope, as an object; empty for nothing.
    fn more(&self) -> String {
        String::new()
    }
}

impl<F: FnMut(&mut Renderer, &[&str]) -> Result<(), ApiError> + Send> Paged for F {
    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        self(renderer, texts)
    }
}

/// A page of what the caller sees.
pub async fn page(
    caller: &Caller,
    raw: Option<&str>,
    (list, query): (&'static List, &ListQuery),
    mut paged: impl Paged,
) -> Result<Reply, ApiError> {
    let (app, account) = (caller.app(), caller.account());
    let request = Arc::new(paged.ask(request(caller, list, query)?));
    let (mut turn, mut is_long) = (app.pages.take(account).await, false);
    // An account that is not there any more is known by its program.
    let (mut least, mut attempt, mut refused) = (app.db.latest(account), 0, ApiError::Stale);
    while attempt < ATTEMPTS {
        attempt += 1;
        if attempt > 1 {
            app.views.count_second_try();
        }
        let not_before = (attempt < ATTEMPTS).then_some(least);
        let Some((plan, mut tx)) = app.views.plan(account, &request, not_before).await? else { continue };
        let mut page = Page::new(caller, (list, query), plan);
        let is_in_snapshot = tx.is_some();
        let mut source = tx.as_mut().map_or(Source::Db(&app.db), Source::Snapshot);
        let ended = page.read(&mut source, is_long, &mut paged).await;
        // A page that is refused gives its connection back as well.
        if let Some(tx) = tx {
            tx.end_snapshot().await?;
        }
        let head = match ended? {
            Ended::At(head) => head,
            Ended::Misplaced => {
                if is_in_snapshot {
                    refused = ApiError::Internal("a snapshot is not what was read in it".to_owned());
                }
                app.views.forget(account).await;
                continue;
            }
            Ended::TooLong => {
                // A page that waits among the long ones holds neither what was read nor the turn of a short one.
                drop((page, turn));
                (turn, is_long, attempt) = (app.long_pages.take(account).await, true, attempt - 1);
                continue;
            }
        };
        if head.version != caller.program().version {
            return Err(ApiError::Stale);
        }
        if head == page.plan.head {
            return page.answer(raw, &paged.more());
        }
        if head.sequence <= page.plan.head.sequence {
            // Another history.
            app.views.forget(account).await;
        }
        least = head.sequence;
    }
    Err(refused)
}

/// How many of the records that the caller sees and for which this holds have each combination of values in these columns, as the account stands at the
/// time of the request or later.
pub async fn count(
    caller: &Caller,
    table: usize,
    asks: &[Ask],
    columns: &[&'static str],
) -> Result<Arc<views::Counts>, ApiError> {
    caller.permit()?;
    let (app, account) = (caller.app(), caller.account());
    let asks = [asks, &caller.access().asks(table)].concat();
    for _ in 0..COUNTS {
        let Some(head) = views::head(&app.db, account).await? else { return Err(ApiError::Stale) };
        if head.version != caller.program().version {
            return Err(ApiError::Stale);
        }
        match app.views.count(account, (table, &asks), columns, head).await? {
            Some((stands, counts)) if stands == head => return Ok(counts),
            // Ahead of what was read just now: by changes since, or in another history.
            Some((stands, counts)) if app.db.has(account, stands).await? => {
                return if stands.version == head.version { Ok(counts) } else { Err(ApiError::Stale) };
            }
            _ => app.views.forget(account).await,
        }
    }
    Err(ApiError::Internal("the view of an account was dropped again and again".to_owned()))
}

/// What a query asks for.
fn request(caller: &Caller, list: &'static List, query: &ListQuery) -> Result<Request, ApiError> {
    caller.permit()?;
    let (program, access) = (caller.program(), caller.access());
    let (order, field) = match query.order {
        Order::Named(order) => (order, None),
        Order::Field(field) => ("", Some(field)),
    };
    let named = list.sorts.iter().find(|(name, _)| *name == order).map_or(list.default_sort, |(_, by)| *by);
    let by = match field {
        Some(_) => By::Answers,
        // Judges do not see when entries were changed.
        None if !query.is_sorted && list.table == ENTRIES && access.judging().is_some() => By::Text("title_key"),
        None => named,
    };
    let start = Start::of(query, |key| by.takes(key))?;
    let mut asks = access.seen(list.table, list.spec.asks(query, program));
    asks.extend(access.asks_of_page(list.table, program, query));
    Ok(Request { list, program: Arc::clone(program), asks, order, by, field, start, places: None })
}

/// A page that is being made.
struct Page<'q> {
    caller: &'q Caller,
    list: &'static List,
    query: &'q ListQuery,
    plan: Plan,
    renderer: Renderer,
}

impl<'q> Page<'q> {
    fn new(caller: &'q Caller, (list, query): (&'static List, &'q ListQuery), plan: Plan) -> Self {
        Self { caller, list, query, plan, renderer: caller.renderer() }
    }

    /// Reads the records straight into the answer.
    async fn read(
        &mut self,
        source: &mut Source<'_>,
        may_be_long: bool,
        paged: &mut impl Paged,
    ) -> Result<Ended, ApiError> {
        let account = self.caller.account();
        paged.prepare(source, account, &mut self.plan).await?;
        let renderer = &mut self.renderer;
        renderer.begin_list(&PageEnvelope::before(self.query))?;
        let table = (self.list, ALL[self.list.table]);
        let planned = (&self.plan.wanted[..], self.plan.head);
        views::page(source, account, table, planned, may_be_long, |texts| paged.show(renderer, texts)).await
    }

    fn answer(self, raw: Option<&str>, more: &str) -> Result<Reply, ApiError> {
        let Self { caller, list, query, plan, renderer } = self;
        let last = plan.last.as_ref().map(|(key, name)| (key, name.as_str()));
        let around = Around { rows: plan.wanted.len(), total: plan.total, has_more: plan.has_more, last, more };
        // Every change of the account has another hash.
        let state = hex::encode(plan.head.hash);
        end(caller, renderer, (list.path, query, raw), &around, &state)
    }
}

/// What is told of a page beside its records.
#[derive(Debug)]
pub struct Around<'p> {
    /// How many records it has.
    pub rows: usize,
    /// How many the whole list has.
    pub total: u64,
    /// Whether records follow.
    pub has_more: bool,
    /// The key and the name of the last record.
    pub last: Option<(&'p Key, &'p str)>,
    /// What stands behind the envelope, as an object; empty for nothing.
    pub more: &'p str,
}

/// Ends the answer that shows a page. `state` differs whenever what the page shows does at one version of the program.
pub fn end(
    caller: &Caller,
    renderer: Renderer,
    (path, query, raw): (&str, &ListQuery, Option<&str>),
    around: &Around<'_>,
    state: &str,
) -> Result<Reply, ApiError> {
    let program = caller.program();
    let next_position = around.last.filter(|_| around.has_more).map(|(key, name)| position(key, name));
    let envelope = PageEnvelope {
        base: program.base_url(),
        path,
        query,
        rows: around.rows as u64,
        total: query.counted.then_some(around.total),
        has_more: around.has_more,
        next_position: next_position.as_deref(),
    };
    let content = renderer.end_list(&envelope.after(), around.more)?;
    let (version, representation) = (program.version, caller.representation());
    let depends = format!("{state}\n{version}\n{representation}\n{path}\n{}", raw.unwrap_or_default());
    Ok(Reply::Body { content, etag: entity_tag(depends) })
}

/// The user of this slug, whose names are empty where there is no such user.
pub fn person(user: &str, names: &str, global_id: &str) -> Result<Option<Person>, DbError> {
    if names.is_empty() {
        return Ok(None);
    }
    Ok(Some(Person { slug: slug(user)?, names: names.to_owned(), global_id: global_id.to_owned() }))
}

/// A slug of the text of a column.
pub fn slug(text: &str) -> Result<Slug, DbError> {
    Slug::parse(text).ok_or_else(|| DbError::Failed(format!("a stored slug is broken: {text}")))
}
