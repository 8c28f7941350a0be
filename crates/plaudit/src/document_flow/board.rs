//! The leaderboard of the score set that a template names, as it stands when the job begins.

use std::collections::{BTreeSet, HashMap};

use crate::program::Program;
use crate::program::score_sets::{Mode, ScoreSet};
use crate::records::assignments::store::of_score_set;
use crate::records::standings::item::{Place, Scale, document};
use crate::records::standings::store::{decided, on_board};
use crate::records::standings::whole::{self, Placed};
use crate::records::store::named;
use db::{AccountId, DbError, Source, Tx};
use kernel::kind::Kind;
use kernel::text::Slug;

/// The most entries of a booklet.
const MOST: usize = 1_000;
/// How many entries are read at a time.
const BATCH_SIZE: usize = 100;

/// A leaderboard.
pub(super) struct Board {
    placed: Vec<Placed>,
    /// Where an entry stands in it.
    positions: HashMap<Slug, usize>,
}

impl Board {
    /// That of a score set; nothing where it has none, or its numbers are too large.
    pub(super) async fn read(
        tx: &mut Tx,
        account: AccountId,
        program: &Program,
        score_set: &ScoreSet,
    ) -> Result<Option<Self>, DbError> {
        if score_set.mode() == Mode::Gallery {
            return Ok(None);
        }
        let entries: BTreeSet<Slug> =
            on_board(tx, account, score_set.slug).await?.into_iter().map(|found| found.entry).collect();
        let mut source = Source::Snapshot(tx);
        let sheets = of_score_set(&mut source, account, (score_set.slug, None), &program.context).await?;
        let decided = decided(&mut source, account, score_set.slug, &program.context).await?;
        let placed = whole::board(program, (score_set, &decided), &entries, &sheets);
        Ok(placed.map(|placed| {
            let positions = placed.iter().enumerate().map(|(position, placed)| (placed.entry, position)).collect();
            Self { placed, positions }
        }))
    }

    /// The item of an entry, by its first document; nothing where it is not on the leaderboard.
    pub(super) fn item(
        &self,
        program: &Program,
        score_set: &ScoreSet,
        (entry, doc): (Slug, &str),
    ) -> Result<Option<String>, DbError> {
        let Some(placed) = self.positions.get(&entry).and_then(|position| self.placed.get(*position)) else {
            return Ok(None);
        };
        let place = Place { rank: placed.rank, steps: placed.steps.clone() };
        document(program, (score_set, &Scale::of(program, score_set)), (doc, &placed.totals), &place).map(Some)
    }

    /// The items of the first entries, the best first.
    pub(super) async fn items(
        &self,
        tx: &mut Tx,
        account: AccountId,
        program: &Program,
        score_set: &ScoreSet,
    ) -> Result<Vec<String>, DbError> {
        let slugs: Vec<String> = self.placed.iter().take(MOST).map(|placed| placed.entry.to_string()).collect();
        let mut items = Vec::with_capacity(slugs.len());
        for slugs in slugs.chunks(BATCH_SIZE) {
            let rows = named(tx, account, Kind::Entry, slugs).await?;
            for slug in slugs {
                let (Some(row), Some(entry)) = (rows.get(slug), Slug::parse(slug)) else { continue };
                items.extend(self.item(program, score_set, (entry, &row.doc))?);
            }
        }
        Ok(items)
    }
}
