//! Plans pages: which records they show, from the view of the account.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use list_view::{Filter, Key, Made, Page, Path, Sort, Tie};
use tokio::sync::OwnedMutexGuard;

use super::store::Wanted;
use super::{Account, Counts, MANY, Need, Question, State, Views, tables_of};
use crate::lists::page::Ask;
use crate::lists::{self, By, List, MOST_TIED, Start};
use crate::program::Program;
use db::{AccountId, Committed, DbError, Tx};
use kernel::text::Slug;

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
    /// Where the records of the page have places, if they have.
    pub places: Option<Places>,
}

/// Among which records there are places.
#[derive(Debug)]
pub struct Places {
    /// What is asked of a record to be among them.
    pub asks: Vec<Ask>,
    /// The column by which they have places, the largest value first; nothing where all of them are one group.
    pub column: Option<&'static str>,
    /// Whether the places above are counted too, and not only the records.
    pub counts_places: bool,
}

/// The records that have one place.
#[derive(Debug)]
pub struct Group {
    /// The value that they have.
    pub key: String,
    /// How many records have better places.
    pub above: u64,
    /// How many better values there are, where that is asked for.
    pub values_above: u64,
    /// The records of each better value that several have, by name, of those that are not above the group before, where that is asked
    /// for; those left out of which there are too many.
    pub tied_above: Vec<Vec<String>>,
    /// How many they are.
    pub size: u64,
    /// The records, by name; none where there are too many.
    pub members: Vec<Wanted>,
}

/// What a page shows.
#[derive(Debug)]
pub struct Plan {
    /// Where the account stood.
    pub head: Committed,
    /// The records, in order.
    pub wanted: Vec<Wanted>,
    /// How many records the whole list has.
    pub total: u64,
    /// Whether records follow.
    pub has_more: bool,
    /// The key and the name of the last record.
    pub last: Option<(Key, String)>,
    /// The groups in which records of the page have places, where they do.
    pub groups: Vec<Group>,
}

impl Request {
    fn need(&self, least: i64) -> Need {
        Need { tables: tables_of(self.list.table, &self.asks), field: self.field, least }
    }

    fn path(&self, state: &State, name: &str) -> Path {
        lists::path(&state.view, self.list.table, name)
    }

    fn filter(&self, state: &State) -> Filter {
        lists::filter(&state.view, self.list.table, &self.asks)
    }

    /// The sort, where all that it needs is known.
    fn sort(&self, state: &State) -> Option<Sort> {
        let table = self.list.table;
        Some(match self.by {
            By::Number(column) => Sort::Number(self.path(state, column)),
            By::Text(column) => Sort::Text(self.path(state, column)),
            By::Value(_) | By::Named(..) => {
                let (path, decided) = self.ranked(state)?;
                Sort::Ranked(path, state.view.known_ranks(table, path, decided)?)
            }
            By::Answers => {
                let field = self.field?;
                Sort::Told(number_of(field), Arc::clone(state.made.answers.get(&field)?))
            }
        })
    }

    /// What is ranked where the list is sorted by values or by what they are called, and what decides the ranks.
    fn ranked(&self, state: &State) -> Option<(Path, (&'static str, i64))> {
        match self.by {
            By::Value(column) => Some((self.path(state, column), ("", 0))),
            By::Named(column, _) => Some((self.path(state, column), (self.order, self.program.version))),
            By::Number(_) | By::Text(_) | By::Answers => None,
        }
    }

    /// Learns what the sort needs to know of the values of its column.
    fn learn(&self, state: &mut State) {
        let Some((path, decided)) = self.ranked(state) else { return };
        state.view.ranks(self.list.table, path, decided, |value| match self.by {
            By::Named(_, called) => Slug::parse(value).map_or_else(String::new, |slug| called(&self.program, slug)),
            _ => value.to_owned(),
        });
    }

    /// The filter and the sort of places.
    fn ranking(&self, state: &State) -> Option<(Filter, Sort)> {
        let places = self.places.as_ref()?;
        let filter = lists::filter(&state.view, self.list.table, &places.asks);
        Some((filter, places.column.map_or(Sort::Name, |column| Sort::Text(self.path(state, column)))))
    }

    /// Keeps the list by which records have places.
    fn rank(&self, state: &mut State) {
        let Some((filter, sort)) = self.ranking(state) else { return };
        if state.view.ties(self.list.table, (&filter, &sort), &[], false).is_none() {
            let made = state.view.make(self.list.table, &filter, &sort);
            state.view.keep(made);
        }
    }

    /// The page, where its list is kept.
    fn kept(&self, account: &Account) -> Option<Plan> {
        account.state.read().as_ref().and_then(|state| self.page(state))
    }

    fn page(&self, state: &State) -> Option<Plan> {
        let (filter, sort) = (self.filter(state), self.sort(state)?);
        let (view, Start { direction, most, .. }) = (&state.view, &self.start);
        let page = view.page(self.list.table, (&filter, &sort), *direction, self.start.from(), *most)?;
        self.plan(state, &sort, &page)
    }

    fn plan(&self, state: &State, sort: &Sort, page: &Page) -> Option<Plan> {
        let (view, table) = (&state.view, self.list.table);
        let held: Vec<Path> = self.list.shown.held.iter().map(|column| self.path(state, column)).collect();
        let wanted = |slot: &u32| Wanted {
            name: view.name(table, *slot).to_owned(),
            locator: view.locator(table, *slot),
            held: held.iter().map(|path| view.text(table, *slot, *path).to_owned()).collect(),
        };
        let mut groups = Vec::new();
        if let Some((filter, ranking)) = self.ranking(state) {
            let counts_places = self.places.as_ref().is_some_and(|places| places.counts_places);
            let key = |slot: u32| match view.key(table, &ranking, slot) {
                Key::Text(text) => text,
                Key::Nothing | Key::Number(_) => String::new(),
            };
            let is_one = matches!(ranking, Sort::Name);
            let slots: Vec<u32> = page.slots.iter().copied().filter(|slot| is_one || !key(*slot).is_empty()).collect();
            let group = |tie: Tie| Group {
                key: tie.slots.first().map(|slot| key(*slot)).unwrap_or_default(),
                above: tie.above,
                values_above: tie.keys_above,
                tied_above: {
                    let told_apart = tie.tied_above.iter().filter(|tied| tied.len() <= MOST_TIED);
                    let names = |tied: &Vec<u32>| tied.iter().map(|slot| view.name(table, *slot).to_owned()).collect();
                    told_apart.map(names).collect()
                },
                size: tie.slots.len() as u64,
                members: if is_one || tie.slots.len() <= MOST_TIED {
                    tie.slots.iter().map(wanted).collect()
                } else {
                    Vec::new()
                },
            };
            groups.extend(view.ties(table, (&filter, &ranking), &slots, counts_places)?.into_iter().map(group));
        }
        Some(Plan {
            head: state.head,
            wanted: page.slots.iter().map(wanted).collect(),
            total: page.total,
            has_more: page.has_more,
            last: page.slots.last().map(|slot| (view.key(table, sort, *slot), view.name(table, *slot).to_owned())),
            groups,
        })
    }

    /// The page with the list that was made for it; nothing where a sort is not known any more.
    fn made(&self, state: &State) -> Option<(Plan, Option<Made>)> {
        let (filter, sort) = (self.filter(state), self.sort(state)?);
        let made = state.view.make(self.list.table, &filter, &sort);
        let page = state.view.page_of(&made, self.start.direction, self.start.from(), self.start.most);
        Some((self.plan(state, &sort, &page)?, filter.is_kept().then_some(made)))
    }
}

/// What tells the sorts by the answers to a field apart.
fn number_of(field: Slug) -> u64 {
    u64::from_be_bytes(*field.as_bytes())
}

/// Counts the records for which something holds.
fn counted(state: &State, (table, asks, columns): &Question) -> (Committed, Arc<Counts>) {
    let paths: Vec<Path> = columns.iter().map(|column| lists::path(&state.view, *table, column)).collect();
    let counts = state.view.count(*table, &lists::filter(&state.view, *table, asks), &paths);
    let value = |(code, path): (&u32, &Path)| state.view.value(*table, *path, *code).to_owned();
    let reported = |(codes, count): (Vec<u32>, u64)| (codes.iter().zip(&paths).map(value).collect(), count);
    (state.head, Arc::new(counts.into_iter().map(reported).collect::<Counts>()))
}

impl Views {
    /// Plans a page on a view that is not older than a change of the account. Where the view has to be brought up to date for it, and no
    /// list to be made, that is in a snapshot, in which the page is then read; where no change is named, always. Nothing where there is no such account, or where
    /// the view was dropped at once because others need the room.
    pub async fn plan(
        &self,
        id: AccountId,
        request: &Arc<Request>,
        least: Option<i64>,
    ) -> Result<Option<(Plan, Option<Tx>)>, DbError> {
        let (account, need) = (self.account(id), request.need(least.unwrap_or_default()));
        let has_needed = || least.is_some() && account.has(need);
        if has_needed()
            && let Some(plan) = request.kept(&account)
        {
            return Ok(Some((plan, None)));
        }
        // The turn comes before the snapshot, so that the view cannot be ahead of it.
        let turn = Arc::clone(&account.turn).lock_owned().await;
        let (tx, turn) = if has_needed() {
            (None, turn)
        } else {
            let Some((tx, turn)) = self.renew(id, &account, need, turn).await? else { return Ok(None) };
            match request.kept(&account) {
                Some(plan) => return Ok(Some((plan, Some(tx)))),
                None if least.is_none() => (Some(tx), turn),
                None => {
                    // No connection waits for a list that is made.
                    tx.commit().await?;
                    (None, turn)
                }
            }
        };
        let (plan, _turn) = self.make(id, &account, request, turn).await?;
        Ok(plan.map(|plan| (plan, tx)))
    }

    /// Plans a page, for who has the turn: by the list that is kept, or by one that is made and kept.
    async fn make(
        &self,
        id: AccountId,
        account: &Arc<Account>,
        request: &Arc<Request>,
        turn: OwnedMutexGuard<()>,
    ) -> Result<(Option<Plan>, OwnedMutexGuard<()>), DbError> {
        if let Some(plan) = request.kept(account) {
            return Ok((Some(plan), turn));
        }
        let records = account.state.read().as_ref().map_or(0, |state| state.view.len(request.list.table));
        let (views, account, request) = (self.clone(), Arc::clone(account), Arc::clone(request));
        let make = move || {
            if let Some(state) = account.state.write().as_mut() {
                request.learn(state);
                request.rank(state);
            }
            let (plan, made) = account.state.read().as_ref().and_then(|state| request.made(state))?;
            if let (Some(made), Some(state)) = (made, account.state.write().as_mut()) {
                state.view.keep(made);
                views.fit(id, &account, state);
            }
            Some(plan)
        };
        self.by_size(records, turn, make).await
    }

    /// Runs what takes long with many records away from the threads that answer requests, and the turn with it.
    async fn by_size<T: Send + 'static>(
        &self,
        records: usize,
        turn: OwnedMutexGuard<()>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(T, OwnedMutexGuard<()>), DbError> {
        if records < MANY {
            return Ok((work(), turn));
        }
        let permit = self.worker().await?;
        let work = move || {
            let made = work();
            drop(permit);
            (made, turn)
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| DbError::Failed(error.to_string()))
    }

    /// How many records for which this holds have each combination of values in these columns, and where the account stood.
    /// The view is not older than a change of the account, by number and hash.
    pub async fn count(
        &self,
        id: AccountId,
        (table, asks): (usize, &[Ask]),
        columns: &[&'static str],
        least: Committed,
    ) -> Result<Option<(Committed, Arc<Counts>)>, DbError> {
        self.bring(id, Need { tables: tables_of(table, asks), field: None, least: least.sequence }).await?;
        let account = self.account(id);
        let turn = Arc::clone(&account.turn).lock_owned().await;
        let question = (table, asks.to_vec(), columns.to_vec());
        let records = {
            let held = account.state.read();
            let Some(state) = held.as_ref() else { return Ok(None) };
            let stands = state.head.sequence;
            if stands < least.sequence || stands == least.sequence && state.head != least {
                return Ok(None);
            }
            if let Some(counts) = state.made.counts.get(&question) {
                return Ok(Some((state.head, Arc::clone(counts))));
            }
            state.view.len(table)
        };
        let views = self.clone();
        let count = move || {
            let (head, counts) = account.state.read().as_ref().map(|state| counted(state, &question))?;
            if let Some(state) = account.state.write().as_mut() {
                state.take_counts(question, &counts);
                views.fit(id, &account, state);
            }
            Some((head, counts))
        };
        self.by_size(records, turn, count).await.map(|(counted, _turn)| counted)
    }

    /// Loads the view of an account again, because something in it was not as it must be.
    pub async fn forget(&self, id: AccountId) {
        let account = self.account(id);
        let _turn = account.turn.lock().await;
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
