//! Plans pages: which records they show, from the view of the account.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use list_view::{Filter, Key, Made, NOBODY, Page, Path, Sort};

use super::store::{self, Head, Wanted};
use super::{Account, Counts, MANY, Question, State, Views, with_parents};
use crate::db::{AccountId, DbError, Source, Tx};
use crate::http::list::Start;
use crate::http::page::Ask;
use crate::list::{self, By, List};
use crate::program::Program;
use crate::text::Slug;

/// A page that is asked for.
#[derive(Debug)]
pub struct Request {
    /// The list.
    pub list: &'static List,
    /// The program, which decides what is called how.
    pub program: Arc<Program>,
    /// What is asked of a record.
    pub asks: Vec<Ask>,
    /// The order, by its name.
    pub order: &'static str,
    /// What the list is sorted by.
    pub by: By,
    /// The field, where that is the answers to one.
    pub field: Option<Slug>,
    /// Where the page begins.
    pub start: Start,
}

/// What a page shows.
#[derive(Debug)]
pub struct Plan {
    /// Where the account stood.
    pub head: Head,
    /// The records, in order.
    pub wanted: Vec<Wanted>,
    /// How many records the whole list has.
    pub total: u64,
    /// Whether records follow.
    pub has_more: bool,
    /// The key of the last record.
    pub last: Option<Key>,
}

impl Request {
    fn path(&self, state: &State, name: &str) -> Path {
        list::path(&state.view, self.list.table, name)
    }

    fn filter(&self, state: &State) -> Filter {
        list::filter(&state.view, self.list.table, &self.asks)
    }

    /// The sort, where all that it needs is known.
    fn sort(&self, state: &State) -> Option<Sort> {
        let table = self.list.table;
        Some(match self.by {
            By::Number(column) => Sort::Number(self.path(state, column)),
            By::Text(column) => Sort::Text(self.path(state, column)),
            By::Value(column) => {
                let path = self.path(state, column);
                Sort::Ranked(path, state.view.known_ranks(table, path, ("", 0))?)
            }
            By::Named(column, _) => {
                let path = self.path(state, column);
                Sort::Ranked(path, state.view.known_ranks(table, path, self.named_by())?)
            }
            By::Answers => {
                let field = self.field?;
                Sort::Told(number_of(field), Arc::clone(state.made.answers.get(&field)?))
            }
        })
    }

    /// What decides the ranks of a sort by names.
    fn named_by(&self) -> (&'static str, i64) {
        (self.order, self.program.version)
    }

    /// Learns what the sort needs to know of the values of its column.
    fn learn(&self, state: &mut State) {
        let table = self.list.table;
        match self.by {
            By::Value(column) => {
                let path = self.path(state, column);
                state.view.ranks(table, path, ("", 0), str::to_owned);
            }
            By::Named(column, called) => {
                let path = self.path(state, column);
                let called =
                    |slug: &str| Slug::parse(slug).map_or_else(String::new, |slug| called(&self.program, slug));
                state.view.ranks(table, path, self.named_by(), called);
            }
            By::Number(_) | By::Text(_) | By::Answers => {}
        }
    }

    /// Keeps the answers by which the list is sorted.
    fn take_answers(&self, state: &mut State, field: Slug, found: &[(String, String)]) {
        let slot = |(name, key): &(String, String)| {
            let slot = state.view.slot(self.list.table, name);
            (slot != NOBODY).then(|| (slot, key.as_str().into()))
        };
        let answers: HashMap<_, Box<str>> = found.iter().filter_map(slot).collect();
        state.made.bytes += answers.values().map(|answer| answer.len() + 48).sum::<usize>();
        state.made.answers.insert(field, Arc::new(answers));
    }

    /// The page, where its list is kept.
    fn page(&self, state: &State) -> Option<Plan> {
        let (filter, sort) = (self.filter(state), self.sort(state)?);
        let (view, Start { direction, most, .. }) = (&state.view, &self.start);
        let page = view.page(self.list.table, (&filter, &sort), *direction, self.start.from(), *most)?;
        Some(self.plan(state, &sort, &page))
    }

    fn plan(&self, state: &State, sort: &Sort, page: &Page) -> Plan {
        let (view, table) = (&state.view, self.list.table);
        let wanted =
            |slot: &u32| Wanted { name: view.name(table, *slot).to_owned(), locator: view.locator(table, *slot) };
        Plan {
            head: state.head,
            wanted: page.slots.iter().map(wanted).collect(),
            total: page.total,
            has_more: page.has_more,
            last: page.slots.last().map(|slot| view.key(table, sort, *slot)),
        }
    }

    /// The page with the list that was made for it; nothing where a sort is not known any more.
    fn made(&self, state: &State) -> Option<(Plan, Option<Made>)> {
        let (filter, sort) = (self.filter(state), self.sort(state)?);
        let made = state.view.make(self.list.table, &filter, &sort);
        let page = state.view.page_of(&made, self.start.direction, self.start.from(), self.start.most);
        Some((self.plan(state, &sort, &page), filter.is_kept().then_some(made)))
    }
}

/// What tells the sorts by the answers to a field apart.
fn number_of(field: Slug) -> u64 {
    u64::from_be_bytes(*field.as_bytes())
}

/// What a list is made of and kept, by a thread that may take long.
fn make(account: &Account, request: &Request) -> Option<Plan> {
    {
        let mut state = account.state.write();
        request.learn(state.as_mut()?);
    }
    let (plan, made) = request.made(account.state.read().as_ref()?)?;
    if let (Some(made), Some(state)) = (made, account.state.write().as_mut()) {
        state.view.keep(made);
    }
    Some(plan)
}

/// Counts, and keeps what was counted.
fn counted(account: &Account, question: Question) -> Option<(Head, Arc<Counts>)> {
    let (table, asks, columns) = &question;
    let (head, counts) = {
        let held = account.state.read();
        let state = held.as_ref()?;
        let paths: Vec<Path> = columns.iter().map(|column| list::path(&state.view, *table, column)).collect();
        let counts = state.view.count(*table, &list::filter(&state.view, *table, asks), &paths);
        let value = |(code, path): (&u32, &Path)| state.view.value(*table, *path, *code).to_owned();
        let told = |(codes, count): (Vec<u32>, u64)| (codes.iter().zip(&paths).map(value).collect(), count);
        (state.head, Arc::new(counts.into_iter().map(told).collect::<Counts>()))
    };
    if let Some(state) = account.state.write().as_mut() {
        state.made.bytes += counts.len() * 64 * columns.len();
        state.made.counts.insert(question, Arc::clone(&counts));
    }
    Some((head, counts))
}

impl Views {
    /// Plans a page on a view that is not older than a change of the account. Nothing where there is no such account, or
    /// where the view was dropped at once because others need the room.
    pub async fn plan(&self, id: AccountId, request: &Arc<Request>, least: i64) -> Result<Option<Plan>, DbError> {
        self.bring(id, with_parents(request.list.table), least).await?;
        let account = self.account(id);
        if let Some(plan) = account.state.read().as_ref().and_then(|state| request.page(state)) {
            return Ok(Some(plan));
        }
        if request.field.is_some() {
            self.bring_answers(id, &account, request).await?;
        }
        let turn = Arc::clone(&account.turn).lock_owned().await;
        let records = account.state.read().as_ref().map_or(0, |state| state.view.len(request.list.table));
        let plan = if records < MANY {
            make(&account, request)
        } else {
            let _permit = self.0.workers.acquire().await.map_err(|error| DbError::Failed(error.to_string()))?;
            let (account, request) = (Arc::clone(&account), Arc::clone(request));
            let work = tokio::task::spawn_blocking(move || (make(&account, &request), turn));
            work.await.map_err(|error| DbError::Failed(error.to_string()))?.0
        };
        if let Some(state) = account.state.write().as_mut() {
            self.fit(id, &account, state);
        }
        Ok(plan)
    }

    /// Sees to it that the answers by which a list is sorted are those of the view.
    async fn bring_answers(&self, id: AccountId, account: &Arc<Account>, request: &Request) -> Result<(), DbError> {
        let Some(field) = request.field else { return Ok(()) };
        for _ in 0..super::ATTEMPTS {
            let found = store::answers(&mut Source::Db(&self.0.db), id, field).await?;
            let Some((head, found)) = found else { return Ok(()) };
            {
                let mut state = account.state.write();
                if let Some(state) = state.as_mut().filter(|state| state.head == head) {
                    request.take_answers(state, field, &found);
                    return Ok(());
                }
            }
            self.bring(id, with_parents(request.list.table), head.sequence).await?;
        }
        Ok(())
    }

    /// How many records for which this holds have each combination of values in these columns, and where the account stood.
    /// The view is not older than a change of the account, by number and hash.
    pub async fn count(
        &self,
        id: AccountId,
        (table, asks): (usize, &[Ask]),
        columns: &[&'static str],
        least: Head,
    ) -> Result<Option<(Head, Arc<Counts>)>, DbError> {
        self.bring(id, with_parents(table), least.sequence).await?;
        let account = self.account(id);
        let turn = Arc::clone(&account.turn).lock_owned().await;
        let question = (table, asks.to_vec(), columns.to_vec());
        let records = {
            let held = account.state.read();
            let Some(state) = held.as_ref() else { return Ok(None) };
            if state.head.sequence == least.sequence && state.head != least {
                return Ok(None);
            }
            if let Some(counts) = state.made.counts.get(&question) {
                return Ok(Some((state.head, Arc::clone(counts))));
            }
            state.view.len(table)
        };
        if records < MANY {
            return Ok(counted(&account, question));
        }
        let _permit = self.0.workers.acquire().await.map_err(|error| DbError::Failed(error.to_string()))?;
        let work = tokio::task::spawn_blocking(move || (counted(&account, question), turn));
        Ok(work.await.map_err(|error| DbError::Failed(error.to_string()))?.0)
    }

    /// Plans a page in a snapshot, in which it is then read: for accounts that change faster than pages are read.
    pub async fn plan_in(&self, tx: &mut Tx, id: AccountId, request: &Request) -> Result<Option<Plan>, DbError> {
        let account = self.account(id);
        let _turn = account.turn.lock().await;
        let held = account.state.write().take();
        // What follows may fail, and then there is no view.
        self.note(id, &account, 0);
        let wanted = with_parents(request.list.table);
        let Some(mut state) = self.load_in(tx, (id, &account), held, wanted).await? else { return Ok(None) };
        if let Some(field) = request.field {
            let engine = tx.engine();
            let found = store::answers(&mut Source::Snapshot(tx, engine), id, field).await?;
            request.take_answers(&mut state, field, &found.map(|(_, found)| found).unwrap_or_default());
        }
        request.learn(&mut state);
        let plan = request.made(&state).map(|(plan, _)| plan);
        self.fit(id, &account, &mut state);
        *account.state.write() = Some(state);
        Ok(plan)
    }

    /// Loads the view of an account again, because something in it was not as it must be.
    pub fn forget(&self, id: AccountId) {
        let account = self.account(id);
        let dropped = account.state.write().take();
        if dropped.is_some() {
            self.note(id, &account, 0);
        }
    }

    /// Counts a page that was planned again.
    pub fn count_second_try(&self) {
        self.0.counters.second_tries.fetch_add(1, Ordering::Relaxed);
    }
}
