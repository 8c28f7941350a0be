//! Reminders of judges: the work of the lease `reminders` of an account.
//!
//! - A round of judging with `reminder_days` reminds, so many days before its end, each judge who has open sheets in it then: a
//!   message with how many there are and when the round ends. Nothing is sent once it has ended.
//! - A sheet is open that is neither complete nor abstained, while its link holds, its entry is not in the trash and its judge has
//!   no conflict of interest. Where judges choose among their entries, those that they leave out are open only as long as they have
//!   given nothing ([`open_of`]).
//! - Users who turned `notification_emails` off are not written to, and nobody is while the account is suspended.
//! - The lease remembers for which end the judges of a round were reminded, and of a round that is under way the last of them, in
//!   the transaction that adds the messages. So nobody is written to twice, and an end that moves to a later time is told again.
//! - The lease is due whenever the set-up was changed, and when the next round is to be told of.

pub mod store;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rules;
use crate::jobs;
use crate::leases::store::{self as lease_store, Turn};
use crate::leases::{self, Held, LeaseName, NEVER};
use crate::log::{Actor, Origin};
use crate::mail::notice::{OpenSheets, open_sheets};
use crate::program::rounds::{Round, RoundType};
use crate::program::score_sets::Mode;
use crate::program::{Context, Program, store as program_store};
use crate::services::App;
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::input::Violations;
use kernel::text::{Slug, Timestamp};

/// How many judges a step looks at.
const STEP: usize = 100;

/// To be called in each transaction that may have changed rounds, after that: an account whose rounds remind has the lease, which
/// looks at them anew.
pub async fn follow(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    if reminds(tx, account).await? {
        lease_store::put(tx, account, LeaseName::Reminders, (NEVER, 0, "{}")).await?;
    }
    Ok(())
}

/// Whether an account has a round that reminds its judges.
pub async fn reminds(tx: &mut Tx, account: AccountId) -> Result<bool, DbError> {
    // What is stored of a round states everything, so that nothing is asked of the context.
    let context = Context::any_language(Timestamp::from_seconds(0));
    let rounds = program_store::live::<Round>(tx, account, &context).await?;
    Ok(rounds.iter().any(|round| round.reminder_days.is_some()))
}

/// Reminds whoever is to be reminded now.
pub async fn work(app: App, held: Held) -> Result<(), DbError> {
    let account = held.account;
    loop {
        let step = Step { app: app.clone(), account, owner: Arc::clone(&held.owner) };
        if held.ends() || !app.db.write(account, step, |tx, step| step.run(tx)).await? {
            return Ok(());
        }
        app.wakes.add(account);
    }
}

/// What the lease remembers, as JSON: rounds whose judges were reminded.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct Remembered {
    rounds: BTreeMap<String, Reminded>,
}

/// How far the judges of a round were reminded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Reminded {
    /// Of which end, in microseconds.
    end: i64,
    /// The last judge; nothing once all are done.
    last: Option<String>,
}

/// A round whose judges are to be reminded.
#[derive(Clone, Copy, Debug)]
struct Due<'p> {
    round: &'p Round,
    end: Timestamp,
}

/// The round whose judges are to be reminded now; else when there is one again.
fn next<'p>(program: &'p Program, remembered: &Remembered, now: Timestamp) -> Result<Due<'p>, i64> {
    let (zone, mut next) = (program.account.zone(), NEVER);
    if program.account.suspended {
        return Err(next);
    }
    for round in program.rounds.all_live().filter(|round| round.kind == RoundType::Judge) {
        let Some((at, end)) = round.reminder(&zone).filter(|(_, end)| now < *end) else { continue };
        let is_told = |reminded: &Reminded| reminded.end >= end.as_microseconds() && reminded.last.is_none();
        if remembered.rounds.get(round.slug.as_str()).is_some_and(is_told) {
            continue;
        }
        if at <= now {
            return Ok(Due { round, end });
        }
        next = next.min(at.as_microseconds());
    }
    Err(next)
}

/// How many of a judge's sheets in a score set are open, of so many that nothing was given on and so many that are complete. In
/// the modes in which judges choose among their entries, whoever has chosen is done.
fn open_of(mode: Mode, (open, complete): (i64, i64)) -> i64 {
    match mode {
        Mode::VipJudging | Mode::Qualifying => open,
        Mode::TopPick | Mode::Voting if complete == 0 => open,
        Mode::TopPick | Mode::Voting | Mode::Gallery => 0,
    }
}

/// Judges who are reminded together.
struct Step {
    app: App,
    account: AccountId,
    owner: Arc<str>,
}

impl Step {
    /// Reminds some judges of a round; where there is none, gives the lease back. Whether there may be more.
    fn run<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<bool, DbError>> {
        Box::pin(async move {
            let (account, name) = (self.account, LeaseName::Reminders);
            // Requests lock the account's head before they touch leases: so does this.
            tx.head(account).await?;
            let Some((_, state)) = lease_store::hold(tx, account, name, &self.owner).await? else { return Ok(false) };
            let Some(program) = self.app.programs.in_transaction(tx, account).await? else { return Ok(false) };
            let mut remembered: Remembered = serde_json::from_str(&state).unwrap_or_default();
            let time = self.app.database_clock.now();
            remembered.rounds.retain(|_, reminded| reminded.end > time);
            let due = match next(&program, &remembered, Timestamp::from_microseconds(time)) {
                Ok(due) => {
                    let slug = due.round.slug.to_string();
                    let end = due.end.as_microseconds();
                    let before = remembered.rounds.get(&slug).filter(|reminded| reminded.end >= end);
                    let last = before.and_then(|reminded| reminded.last.clone()).unwrap_or_default();
                    let last = self.remind(tx, &program, due.round, &last).await?;
                    remembered.rounds.insert(slug, Reminded { end, last });
                    None
                }
                Err(due) => Some(due),
            };
            let state = serde_json::json!(remembered).to_string();
            let turn = Turn { position: NEVER, due: due.unwrap_or(0), state, until: leases::until(&self.app) };
            lease_store::end_turn(tx, account, name, turn).await?;
            if let Some(due) = due {
                lease_store::give_back(tx, account, name, due, time).await?;
            }
            Ok(due.is_none())
        })
    }

    /// Adds a message to each judge of a round behind this one who has open sheets, of so many judges; gives the last one, and
    /// nothing where there are no more.
    async fn remind(
        &self,
        tx: &mut Tx,
        program: &Program,
        round: &Round,
        after: &str,
    ) -> Result<Option<String>, DbError> {
        let judges = store::judges(tx, self.account, (after, STEP)).await?;
        let Some(last) = judges.last().map(|(judge, _)| *judge) else { return Ok(None) };
        let mut open: BTreeMap<Slug, BTreeMap<Slug, (i64, i64)>> = BTreeMap::new();
        for sheets in store::sheets(tx, self.account, round.slug, (after, last)).await? {
            let is_its = |set: Slug| {
                let mut violations = Violations::default();
                let set = rules::check_score_set(program, set, &mut violations).filter(|_| violations.is_empty());
                set.is_some_and(|set| {
                    sheets.names_round
                        || ((set.form, set.season) == (round.form, round.season) && round.is_for(sheets.chapter))
                })
            };
            if is_its(sheets.score_set) {
                let of_judge = open.entry(sheets.judge).or_default();
                let counts = of_judge.entry(sheets.score_set).or_default();
                *counts = (counts.0 + sheets.open, counts.1 + sheets.complete);
            }
        }
        let origin = Origin { actor: Actor::System, source: "system", at: self.app.clock.now() };
        let (account, locale) = (&program.account, program.account.default_language);
        for (judge, user) in judges.iter().filter_map(|(judge, user)| Some((judge, user.as_ref()?))) {
            let Some((email, of_sets)) = user.email.as_ref().zip(open.remove(judge)) else { continue };
            let of_set = |(set, counts): (&Slug, &(i64, i64))| {
                program.score_sets.live(*set).map_or(0, |set| open_of(set.mode(), *counts))
            };
            let (open, end) = (of_sets.iter().map(of_set).sum(), round.end_date);
            let Some(end) = end.filter(|_| open > 0 && user.notification_emails) else { continue };
            let round = round.name.in_locale(locale);
            let about = OpenSheets { account_name: &account.name, round, open, end: (end, &account.timezone) };
            let message = open_sheets(&about, email.clone()).to_json();
            jobs::add(tx, self.account, (jobs::mail::WORK.kind, message), &origin, &self.app.ids).await?;
        }
        Ok((judges.len() == STEP).then(|| last.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::program;

    const END: &str = r#""season":"SeasonAA","form":"FormAAAA","name":{},"type":"judge","reminder_days":2,"end_date":"2026-03-09 11:00:00""#;

    fn due(reminded: Option<(&str, Option<&str>)>, now: &str) -> Result<Slug, i64> {
        let program = program(&[("round", "RoundAAA", END)]);
        let time = |text| Timestamp::parse(text).unwrap();
        let reminded = reminded
            .map(|(end, last)| Reminded { end: time(end).as_microseconds(), last: last.map(str::to_owned) })
            .map(|reminded| ("RoundAAA".to_owned(), reminded));
        next(&program, &Remembered { rounds: reminded.into_iter().collect() }, time(now)).map(|due| due.round.slug)
    }

    #[test]
    fn judges_are_reminded_once_of_each_later_end() {
        let (round, end) = (Ok(Slug::parse("RoundAAA").unwrap()), "2026-03-09T10:00:00.000000Z");
        let at = "2026-03-07T10:00:00.000000Z";
        assert_eq!(due(None, "2026-03-07T09:59:59.999999Z"), Err(Timestamp::parse(at).unwrap().as_microseconds()));
        assert_eq!(due(None, at), round);
        assert_eq!(due(None, end), Err(NEVER), "the round has ended");
        assert_eq!(due(Some((end, None)), at), Err(NEVER));
        assert_eq!(due(Some((end, Some("UserAAAA"))), at), round, "it is under way");
        assert_eq!(due(Some(("2026-03-08T10:00:00.000000Z", None)), at), round, "the end has moved to a later time");
        assert_eq!(due(Some(("2026-03-10T10:00:00.000000Z", None)), at), Err(NEVER), "and to an earlier one");
        assert_eq!(due(Some(("2026-03-10T10:00:00.000000Z", Some("UserAAAA"))), at), round, "while it was under way");
    }

    #[test]
    fn whoever_chose_among_entries_has_no_open_sheets() {
        for (mode, begun, done) in [
            (Mode::VipJudging, 3, 3),
            (Mode::Qualifying, 3, 3),
            (Mode::TopPick, 3, 0),
            (Mode::Voting, 3, 0),
            (Mode::Gallery, 0, 0),
        ] {
            assert_eq!((open_of(mode, (3, 0)), open_of(mode, (3, 1))), (begun, done), "{mode:?}");
        }
    }
}
