//! What judges see of entries: those of their assignments, and of these what is judged.
//!
//! - An entry is seen by an assignment that holds, is not in the trash, is of a live score set and whose judge has no conflict of
//!   interest with it: its slug, title, category,
//!   chapter, form and season, and the answers to fields whose `visibility` names the mode of such a score set. Where `shows.entrants`
//!   of one is true, so are its entrant, its contributors and its attachments, and of these the answers to such fields.
//! - Of the assignments of other judges those are seen that hold, are of an entry and a score set in which the person has an
//!   assignment that holds, and are shown by the score set ([`of_others`]).
//! - A list that is filtered or sorted by another member has no entries that are seen in this way alone.

use crate::lists::ASSIGNMENTS;
use crate::lists::page::{Ask, ListQuery, Order};
use crate::program::Program;
use crate::program::fields::{Field, Visibility};
use crate::program::score_sets::{Mode, Others, ScoreSet, Shows};
use crate::records::assignments::{Assignment, Cause, Sheet, Status};
use crate::records::entries::Entry;
use kernel::document;
use kernel::kind::Kind;
use kernel::text::Slug;

/// What is seen of an entry by those who judge it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Whether it is seen as its applicant sees it, too.
    pub is_applicant: bool,
    /// Whether its entrant, contributors and attachments are seen.
    pub(super) entrants: bool,
    /// By the place of the mode among [`Visibility::CHOICES`]: whether the fields are seen that it makes visible.
    pub(super) visible: [bool; Visibility::CHOICES.len()],
}

/// What a field names where it is visible in a mode.
fn visibility(mode: Mode) -> Visibility {
    match mode {
        Mode::Qualifying => Visibility::Qualifying,
        Mode::TopPick => Visibility::TopPick,
        Mode::VipJudging => Visibility::Scoring,
        Mode::Voting => Visibility::Voting,
        Mode::Gallery => Visibility::Gallery,
    }
}

impl Judged {
    /// What is seen by the assignments of these score sets; nothing where none of them is there any more.
    pub fn of(program: &Program, score_sets: &[Slug]) -> Option<Self> {
        let mut judged = None;
        for score_set in score_sets.iter().filter_map(|slug| program.score_sets.live(*slug)) {
            let judged: &mut Self = judged.get_or_insert_default();
            judged.entrants |= score_set.shows.entrants;
            let seen = Visibility::CHOICES.iter().position(|(_, choice)| *choice == visibility(score_set.mode()));
            judged.visible.iter_mut().zip(0..).filter(|(_, at)| Some(*at) == seen).for_each(|(is, _)| *is = true);
        }
        judged
    }

    /// Whether the answers to a field are seen.
    pub fn sees(&self, field: &Field) -> bool {
        let choices = Visibility::CHOICES.iter().zip(self.visible).filter(|(_, is_seen)| *is_seen);
        self.is_applicant && field.applicant.read
            || choices.map(|((_, choice), _)| choice).any(|choice| field.visibility.contains(choice))
    }

    /// Which of these members of the second document are seen.
    pub fn members<'m>(&self, members: &[&'m str]) -> Vec<&'m str> {
        let sees_all = self.entrants || self.is_applicant;
        members.iter().copied().filter(|member| sees_all || *member == "entry_fields").collect()
    }

    /// The first document of an entry as it is seen, in place of its own one.
    pub fn document(&self, entry: &Entry) -> String {
        document::object(|object| {
            object.slug("slug", entry.slug);
            object.text("title", &entry.title);
            if self.entrants {
                object.entrant("entrant", entry.entrant);
            }
            object.splice();
            object.reference("category", Kind::Category, entry.category);
            object.reference("chapter", Kind::Chapter, entry.chapter);
            object.reference("form", Kind::Form, entry.form);
            object.reference("season", Kind::Season, entry.season);
        })
    }
}

/// What is asked of entries that a person sees as a judge alone: nothing of them where a query asks for members that judges
/// do not see. Whether an entry is archived is told by the list of assignments as well.
pub(super) fn asks(program: &Program, judge: Slug, query: &ListQuery) -> Ask {
    const SEEN: [&str; 7] = ["title", "category", "chapter", "form", "season", "archived", "include"];
    const SORTS: [&str; 4] = ["category", "chapter", "parent_category", "title"];
    let is_of_entrants = |name: &str| name == "entrant" || name == "applicant";
    let named = query.filter_names().filter(|name| !SEEN.contains(name));
    let sorted = match query.order {
        Order::Named(order) => (query.is_sorted && !SORTS.contains(&order)).then_some(order),
        Order::Field(_) => Some(""),
    };
    let hidden: Vec<&str> = named.chain(sorted).collect();
    if hidden.iter().any(|name| !is_of_entrants(name)) {
        return Ask::Never;
    }
    let score_sets = program.score_sets.all_live().filter(|set| hidden.is_empty() || set.shows.entrants);
    Ask::Pointed(ASSIGNMENTS, "entry", assigned(judge, score_sets.map(|set| set.slug)), true)
}

/// What a judge sees of the sheets of others, where the judge's own one is complete or not; nothing where they are not seen.
pub fn of_others(shows: Shows, is_complete: bool) -> Option<Sheet> {
    let is_shown = |when| match when {
        Others::Never => false,
        Others::AfterOwn => is_complete,
        Others::Always => true,
    };
    let [scores, comments] = [shows.others_scores, shows.others_comments].map(is_shown);
    (scores || comments).then_some(Sheet { scores, comments, names: shows.names_of_judges })
}

/// Whether a sheet is complete and its score set shows its judge for that what others give. Votes are given anew in each period,
/// and are never complete.
pub fn shows_others(score_set: &ScoreSet, assignment: &Assignment) -> bool {
    let shows = score_set.shows;
    let shows_after = [shows.others_scores, shows.others_comments].contains(&Others::AfterOwn);
    let is_complete = assignment.status == Status::Complete && assignment.reopening.is_none();
    score_set.mode() != Mode::Voting && is_complete && shows_after && of_others(shows, true).is_some()
}

/// What is asked of the assignments that a person sees as their judge, and of those of others that the person is shown. A list
/// that is filtered or sorted by who judges, or walked by cursors, which name records, has none whose judges are not shown.
pub(super) fn assignments(program: &Program, judge: Slug, query: &ListQuery) -> Vec<Ask> {
    const HIDDEN: [&str; 3] = ["slug", "judge", "panel"];
    // Tags of entries are not for judges.
    if query.filter("tag").is_some() {
        return Vec::new();
    }
    let hides = query.filter_names().any(|name| HIDDEN.contains(&name));
    let hides = hides || query.cursor.is_some() || query.is_sorted && query.order != Order::Named("updated");
    let of_others = |when: Others, own: Option<Status>| {
        let sets = program.score_sets.all_live().filter(|set| set.shows.first_of_others() == when);
        let sets: Vec<Slug> = sets.filter(|set| set.shows.names_of_judges || !hides).map(|set| set.slug).collect();
        if sets.is_empty() {
            return None;
        }
        let own = own.map(|status| Ask::Is("status", status.name().to_owned()));
        let others = assigned(judge, sets.iter().copied()).into_iter().chain(own).collect();
        let seen = vec![of_any(sets), holds(), Ask::Is("deleted", "0".to_owned()), Ask::Is("role", String::new())];
        Some(Ask::Alike(["entry", "score_set"], seen, others))
    };
    let own = Ask::Is("judge", judge.to_string());
    let after_own = of_others(Others::AfterOwn, Some(Status::Complete));
    [Some(own), of_others(Others::Always, None), after_own].into_iter().flatten().collect()
}

/// What is asked of the assignments of a judge in some score sets by which their entries are seen.
fn assigned(judge: Slug, score_sets: impl Iterator<Item = Slug>) -> Vec<Ask> {
    let no = |column| Ask::Is(column, "0".to_owned());
    vec![Ask::Is("judge", judge.to_string()), of_any(score_sets), holds(), no("conflicted"), no("deleted")]
}

/// That an assignment is of one of these score sets.
fn of_any(score_sets: impl IntoIterator<Item = Slug>) -> Ask {
    Ask::Any(score_sets.into_iter().map(|slug| Ask::Is("score_set", slug.to_string())).collect())
}

/// That an assignment is what it was linked by.
fn holds() -> Ask {
    Ask::Any(Cause::NAMES.iter().map(|name| Ask::Is("method", (*name).to_owned())).collect())
}
