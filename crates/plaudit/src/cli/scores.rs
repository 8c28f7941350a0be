//! `plaudit scores`: what judges gave, for a spreadsheet.
//!
//! - Every assignment outside the trash is a row, whether its sheet counts or not: `counts` says that. Points are those of the
//!   sheet; a column for each criterion follows, by its slug.
//! - A text that a spreadsheet would take for a formula begins with an apostrophe.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::cells::cell;
use super::export::Output;
use super::{Failure, account_of, spare_database};
use crate::config::Config;
use crate::program::Program;
use crate::program::criteria::Criterion;
use crate::records::assignments::rules::{criteria, points};
use crate::records::assignments::{Assignment, store};
use crate::records::standings::{Counted, rules};
use db::{AccountId, Db, DbError, Tx};
use kernel::clock::Clock;
use kernel::text::Slug;

/// What to do with scores.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write every sheet of an account as CSV, with a column for each criterion
    Export {
        /// The account's slug
        account: Slug,
        /// The slug of a score set; left out, all of them
        #[arg(long)]
        score_set: Option<Slug>,
        /// The file to write, in place of standard output; one of this name is replaced when the new one is whole
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// The columns before those of criteria.
const COLUMNS: [&str; 14] = [
    "assignment",
    "score_set",
    "mode",
    "entry",
    "judge",
    "role",
    "method",
    "status",
    "counts",
    "points",
    "decision",
    "preference",
    "votes",
    "comment",
];

/// Runs the command.
pub(super) async fn run(db: &Db, config: &Config, command: Command) -> Result<(), Failure> {
    let Command::Export { account, score_set, output } = command;
    if let Some(path) = &output {
        spare_database(config, path)?;
    }
    let mut tx = db.snapshot().await?;
    let account = account_of(&mut tx, account).await?;
    let program = Program::load(&mut tx, account, &Arc::from(""), &Clock::system()).await?;
    let program = program.ok_or_else(|| Failure::Failed("the account has no set-up".to_owned()))?;
    if let Some(slug) = score_set.filter(|slug| program.score_sets.any(*slug).is_none()) {
        return Err(Failure::Failed(format!("the account has no score set {slug}")));
    }
    let mut output = Output::begin(output)?;
    let written = write(&mut tx, account, (&program, score_set), &mut output).await;
    output.finish(written.map_err(Failure::from))
}

async fn write(
    tx: &mut Tx,
    account: AccountId,
    (program, score_set): (&Program, Option<Slug>),
    out: &mut (dyn Write + Send),
) -> Result<(), DbError> {
    let failed = |error: csv::Error| DbError::Failed(error.to_string());
    let of_set = |set: Slug| score_set.is_none_or(|score_set| score_set == set);
    let sets = program.score_sets.all_live().map(|set| set.slug).filter(|set| of_set(*set));
    let criteria: Vec<&Criterion> = sets.flat_map(|set| criteria(program, set)).collect();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS.into_iter().chain(criteria.iter().map(|criterion| criterion.slug.as_str())))
        .map_err(failed)?;
    store::each(tx, account, score_set, &program.context, |assignment| {
        csv.write_record(row(&assignment, program, &criteria).iter().map(|cell| &**cell)).map_err(failed)
    })
    .await?;
    csv.flush().map_err(|error| failed(error.into()))
}

/// The cells of an assignment.
fn row<'a>(assignment: &'a Assignment, program: &Program, criteria: &[&Criterion]) -> Vec<Cow<'a, str>> {
    let slug = |slug: Option<Slug>| slug.map_or(Cow::Borrowed(""), |slug| Cow::Owned(slug.to_string()));
    let number = |number: Option<i64>| number.map_or(Cow::Borrowed(""), |number| Cow::Owned(number.to_string()));
    let counted = rules::counted(assignment, program);
    let total = match &counted {
        Some(Counted::Points(value, _)) => value.rounded().into(),
        _ => Cow::Borrowed(""),
    };
    let mode = program.score_sets.any(assignment.score_set).map_or("", |set| set.mode().name());
    let mut cells = vec![
        Cow::Owned(assignment.slug.to_string()),
        slug(Some(assignment.score_set)),
        mode.into(),
        slug(Some(assignment.entry)),
        slug(assignment.judge),
        slug(assignment.role),
        assignment.method.name().into(),
        assignment.status.name().into(),
        if counted.is_some() { "yes" } else { "no" }.into(),
        total,
        assignment.decision.map_or("", |decision| decision.name()).into(),
        number(assignment.preference),
        number((assignment.votes > 0).then_some(assignment.votes)),
        assignment.comment.as_ref().map_or(Cow::Borrowed(""), |comment| cell(&comment.comment)),
    ];
    let of = |criterion: &&Criterion| points(&assignment.scores, criterion.slug).map(|points| points.to_string());
    cells.extend(criteria.iter().map(|criterion| of(criterion).map_or(Cow::Borrowed(""), Cow::Owned)));
    cells
}
