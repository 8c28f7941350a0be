//! Panels assign: the work of the lease `panels` of an account, which follows the change log.
//!
//! - Whatever a change was, all panels are worked out anew ([`rules`]), so that who judges what follows from what is there, and
//!   not from the order in which it came. Changes that cannot matter are passed over.
//! - What differs is written in steps. Each asks again whether the judge may judge the entry, and leaves links alone that were
//!   made by hand or by chance.
//! - Sheets that were begun and lose their cause become stray; links without a sheet go into the trash. Where a judge has a declared
//!   conflict, that stays until it is lifted, and the entry gets another judge.
//! - Score sets that are archived, or of a season that is over, keep what they have.
//! - The lease is looked at again when the account has other changes; between two times there is a pause of nine times what the
//!   last one took, so that panels take a tenth of a processor at the most.

pub mod rules;
pub mod store;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use self::rules::{Change, Wanted};
use super::facts::{self, Scope};
use super::link::{self, Link};
use crate::leases::store::{self as lease_store, Turn};
use crate::leases::{self, Held, LeaseName, NEVER};
use crate::log::{Actor, Origin};
use crate::program::score_sets::ScoreSet;
use crate::program::{Program, Programs};
use crate::records::assignments::{Assignment, Cause, Method, store as assignments};
use crate::records::people;
use crate::services::App;
use db::{AccountId, BoxFuture, DbError, Source, Tx};
use kernel::clock::Stopwatch;
use kernel::input::Violations;
use kernel::text::{Slug, Timestamp};

/// How many changes a step writes.
const STEP: usize = 100;
/// The longest pause after a time.
const PAUSE: Duration = Duration::from_mins(1);

/// To be called in each transaction that may have changed panels, after that: an account with panels has the lease.
pub async fn follow(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    if store::has_panels(tx, account).await? {
        lease_store::put(tx, account, LeaseName::Panels, (0, NEVER, "{}")).await?;
    }
    Ok(())
}

/// Has the assignments of panels follow what was changed since the lease was last held.
pub async fn work(app: App, mut held: Held) -> Result<(), DbError> {
    let (account, stopwatch) = (held.account, Stopwatch::start());
    let Some((sequence, changes)) = read(&app, account, held.position).await? else { return Ok(()) };
    for changes in changes.chunks(STEP) {
        let part = Part::new(&app, &held, sequence, changes.to_vec());
        if held.ends() || !app.db.write(account, part, |tx, part| part.write(tx)).await? {
            return Ok(());
        }
        app.wakes.add(account);
    }
    if !held.until_idle {
        let pause = (stopwatch.elapsed() * 9).min(PAUSE);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = ended(&mut held) => {}
        }
    }
    let part = Part::new(&app, &held, sequence, Vec::new());
    app.db.write(account, part, |tx, part| part.end(tx)).await
}

/// Waits until the lease is to be given back.
async fn ended(held: &mut Held) {
    while !held.ends() {
        held.called().await;
    }
}

/// The account's last change, and what is to be changed; nothing where the account is gone.
async fn read(app: &App, account: AccountId, position: i64) -> Result<Option<(i64, Vec<(Slug, Change)>)>, DbError> {
    let mut tx = app.db.snapshot().await?;
    let Some(program) = app.programs.in_transaction(&mut tx, account).await? else { return Ok(None) };
    let (sequence, is_relevant) = store::since(&mut tx, account, position).await?;
    let mut changes = Vec::new();
    if is_relevant {
        for score_set in program.score_sets.all_live() {
            let of_set = changes_of(&mut tx, &program, score_set).await?;
            changes.extend(of_set.into_iter().map(|change| (score_set.slug, change)));
        }
    }
    program.intact()?;
    tx.commit().await?;
    Ok(Some((sequence, changes)))
}

/// What the panels of a score set change.
async fn changes_of(tx: &mut Tx, program: &Arc<Program>, score_set: &ScoreSet) -> Result<Vec<Change>, DbError> {
    let (account, mut violations) = (program.id, Violations::default());
    super::rules::check_score_set(program, score_set.slug, &mut violations);
    if !violations.is_empty() {
        return Ok(Vec::new());
    }
    let of_set = (score_set.slug, None);
    let panels: Vec<_> = rules::of_score_set(program, score_set.slug).collect();
    if panels.is_empty() && !store::has_automatic(tx, account, score_set.slug).await? {
        return Ok(Vec::new());
    }
    let mut there = assignments::of_score_set(&mut Source::Snapshot(tx), account, of_set, &program.context).await?;
    let mut wanted = Wanted::default();
    for panel in panels {
        let mut judges: BTreeSet<Slug> = panel.judges.iter().copied().collect();
        for role in &panel.roles {
            judges.extend(facts::store::users_of_role(&mut Source::Snapshot(tx), account, *role).await?);
        }
        let judges: Vec<Slug> = judges.into_iter().collect();
        let scope = Scope::Of { form: score_set.form, season: score_set.season };
        let facts = facts::store::read(&mut Source::Snapshot(tx), program, &scope, &judges).await?;
        let program = Arc::clone(program);
        let (score_set, panel) = (score_set.slug, panel.slug);
        // Each pair of an entry and a judge may be looked at, which takes seconds where there are many.
        let added = tokio::task::spawn_blocking(move || {
            if let Some(of) = program.score_sets.live(score_set).zip(program.panels.live(panel)) {
                wanted.add(&program, of, &facts, &there);
            }
            (wanted, there)
        });
        (wanted, there) = added.await.map_err(|error| DbError::Failed(error.to_string()))?;
    }
    Ok(wanted.changes(&there))
}

/// Changes that are written together.
struct Part {
    programs: Arc<Programs>,
    account: AccountId,
    owner: Arc<str>,
    /// The time of the database, until when the lease is held, and the time that is shown.
    times: (i64, i64, Timestamp),
    /// How far the log was read.
    sequence: i64,
    changes: Vec<(Slug, Change)>,
}

impl Part {
    fn new(app: &App, held: &Held, sequence: i64, changes: Vec<(Slug, Change)>) -> Self {
        let times = (app.database_clock.now(), leases::until(app), app.clock.now());
        let (programs, owner) = (Arc::clone(&app.programs), Arc::clone(&held.owner));
        Self { programs, account: held.account, owner, times, sequence, changes }
    }

    /// Writes them; `false` where the lease is lost.
    fn write<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<bool, DbError>> {
        Box::pin(async move {
            let account = self.account;
            // Requests lock the account's head before they touch leases: so does this.
            tx.head(account).await?;
            if lease_store::hold(tx, account, LeaseName::Panels, &self.owner).await?.is_none() {
                return Ok(false);
            }
            let Some(program) = self.programs.in_transaction(tx, account).await? else { return Ok(false) };
            let origin = Origin { actor: Actor::System, source: "system", at: self.times.2 };
            let pairs: Vec<(Slug, Slug)> = self.changes.iter().map(|(_, change)| change.pair()).collect();
            let [entries, judges]: [BTreeSet<Slug>; 2] =
                [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()];
            let (scope, judges) = (Scope::These(entries.into_iter().collect()), judges.into_iter().collect::<Vec<_>>());
            let facts = facts::store::read(&mut Source::Snapshot(tx), &program, &scope, &judges).await?;
            for (score_set, change) in &self.changes {
                let set = program.score_sets.live(*score_set);
                let Some(set) = set.filter(|set| rules::may(&program, &facts, change.pair(), set)) else {
                    if matches!(change, Change::Remove(_)) {
                        remove(tx, &program, &origin, change.pair(), *score_set).await?;
                    }
                    continue;
                };
                match change {
                    Change::Remove(pair) => remove(tx, &program, &origin, *pair, set.slug).await?,
                    Change::Assign((entry, judge), why) => {
                        let (panels, rounds) = why.clone();
                        let (entry, judge, score_set) = (*entry, *judge, set.slug);
                        let link = Link { entry, judge, score_set, rounds, cause: Cause::Automatic, panels };
                        assign(tx, &program, &origin, &link).await?;
                    }
                }
            }
            program.intact()?;
            let (_, until, _) = self.times;
            lease_store::renew_one(tx, account, LeaseName::Panels, until).await?;
            Ok(true)
        })
    }

    /// Notes how far the log was read, and gives the lease back.
    fn end<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<(), DbError>> {
        Box::pin(async move {
            let (account, (now, until, _)) = (self.account, self.times);
            if lease_store::hold(tx, account, LeaseName::Panels, &self.owner).await?.is_some() {
                let turn = Turn { position: self.sequence, due: NEVER, state: "{}".to_owned(), until };
                lease_store::end_turn(tx, account, LeaseName::Panels, turn).await?;
                lease_store::give_back(tx, account, LeaseName::Panels, NEVER, now).await?;
            }
            Ok(())
        })
    }
}

/// Links a judge with an entry, unless somebody did otherwise meanwhile.
async fn assign(tx: &mut Tx, program: &Program, origin: &Origin, link: &Link) -> Result<(), DbError> {
    let before = assignments::find_any_for_update(tx, program.id, link.slug(), &program.context).await?;
    let is_of_others = before.is_some_and(|before| {
        !before.deleted && matches!(before.value.method, Method::Manual | Method::Random | Method::Recused)
    });
    if is_of_others { Ok(()) } else { link::write(tx, program.id, program, origin, link).await }
}

/// Takes back what a panel linked, unless somebody did otherwise meanwhile.
async fn remove(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (entry, judge): (Slug, Slug),
    score_set: Slug,
) -> Result<(), DbError> {
    let slug = crate::records::assignments::AssignmentSlug::of_judge(entry, judge, score_set);
    let found = people::find_for_update::<Assignment>(tx, program.id, &slug, &program.context).await?;
    match found.filter(|found| found.value.method == Method::Automatic) {
        Some(before) => link::remove(tx, program.id, program, origin, &before).await,
        None => Ok(()),
    }
}
