//! The list of publications. Their bundles are large, so that no page reads them.

use list_view::Holds;

use super::{Head, document};
use crate::lists::page::{Ask, Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{By, List, PUBLICATIONS, Shown, Table, column};
use db::DbError;
use kernel::text::{Slug, Timestamp};

/// The end of an embargo that there is not: before all times.
pub(super) const NO_EMBARGO: i64 = i64::MIN;

/// Publications as views hold them.
pub static LISTED: Table = Table {
    sql: "publications",
    name: "slug",
    columns: &[
        column("score_set", Holds::Code),
        column("published", Holds::Number),
        column("embargo", Holds::Number),
        column("feedback", Holds::Flag),
        column("head_sequence", Holds::Number),
        column("head_hash", Holds::Text),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[Filter::new("score_set", FilterKind::Slug, "The score set").by(Narrow::Is("score_set"))];

/// `GET /leaderboard/publication` (contract, section 11).
pub(crate) static LIST: List = List {
    path: "/leaderboard/publication",
    spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(FILTERS, &[]) },
    table: PUBLICATIONS,
    sorts: &[],
    default_sort: By::Number("published"),
    shown: Shown {
        held: &[],
        columns: &[
            "r.slug",
            "r.score_set",
            "CAST(r.published AS TEXT)",
            "CAST(r.embargo AS TEXT)",
            "CAST(r.feedback AS TEXT)",
            "CAST(r.head_sequence AS TEXT)",
            "r.head_hash",
        ],
        joins: "",
    },
};

/// What is asked of publications by whoever does not see everything: that no embargo goes on.
pub(crate) fn listed(now: Timestamp) -> Ask {
    Ask::Within("embargo", NO_EMBARGO, now.as_microseconds().saturating_add(1))
}

/// The document of a page, from the columns that the list declares; `is_whole` for who sees everything.
pub(crate) fn document_of(texts: &[&str], is_whole: bool) -> Result<String, DbError> {
    let broken = || DbError::Failed("a publication was read without its columns".to_owned());
    let [slug, score_set, published, embargo, feedback, sequence, hash] = texts else { return Err(broken()) };
    let slug_of = |text: &str| Slug::parse(text).ok_or_else(broken);
    let number = |text: &str| text.parse::<i64>().map_err(|_| broken());
    let embargo = number(embargo)?;
    let shown = document::Shown {
        slug: slug_of(slug)?,
        score_set: slug_of(score_set)?,
        published: Timestamp::from_microseconds(number(published)?),
        embargo_until: (embargo != NO_EMBARGO).then(|| Timestamp::from_microseconds(embargo)),
        feedback: *feedback == "1",
        head: Head { sequence: number(sequence)?, hash: (*hash).to_owned() },
    };
    Ok(kernel::document::object(|object| shown.write(is_whole, object)))
}
