//! Who a key acts for, and what it may do and see.
//!
//! - A key of the account may do everything. A key of a person may do what the roles of the person allow, all of them
//!   together. Who has no role that there is, is an entrant.
//! - An operation that no role of the person has is refused ([`operations`], contract, section 1, step 10).
//! - What a person does not see is as what does not exist. One function a kind tells what is seen of a list
//!   ([`Access::asks`]), so that its totals and cursors are of that alone; another what is seen of one record
//!   ([`Access::entry`]).
//! - Program managers and auditors see everything. Chapter managers see the entries of the chapters that name them as
//!   managers, those in the trash included, and what belongs to these; orders all of whose entries are such; and users who
//!   have such entries; and the assignments and review tasks of such entries. Judges and voters see their own assignments, and what these show
//!   ([`judged`]). Entrants see their entries, and of these the answers that applicants may read ([`Sight::Applicant`]); their
//!   orders; and themselves. Bookkeepers see orders. Review tasks are seen by whom they ask, and decided on by nobody else.
//! - What an auditor sees as that alone is for changes as what does not exist ([`Access::of_writer`]).
//! - What is published is seen by everybody whom a role lets read it, when its embargo has ended.
//! - The set-up is no secret to who may read it, but for fields that applicants may neither read nor answer, which entrants
//!   do not see, and for the managers of chapters, whom other managers see.
//! - What applicants may write is said by [`applicant`].

pub mod applicant;
pub mod judged;
pub mod operations;

use std::sync::Arc;

use self::judged::Judged;
use self::operations::Operation;
use crate::lists::page::{Ask, ListQuery};
use crate::lists::{
    ASSIGNMENTS, ATTACHMENTS, CONTRIBUTORS, DOCUMENTS, ENTRIES, ORDERS, PUBLICATIONS, REVIEW_TASKS, USERS,
};
use crate::program::Program;
use crate::program::chapters::Chapter;
use crate::program::fields::Field;
use crate::program::roles::RoleType;
use crate::records::entries::Entry;
use kernel::text::Slug;

/// How much of a record is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sight {
    /// All of it.
    #[default]
    Whole,
    /// What its applicant sees: no answers to fields that applicants may not read.
    Applicant,
    /// What who judges it sees of an entry.
    Judged(Judged),
}

/// What a key may do and see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access(Option<Arc<Person>>);

/// The person of a key.
#[derive(Debug, PartialEq, Eq)]
struct Person {
    user: Slug,
    roles: Vec<RoleType>,
    /// The chapters that the person manages, as the manager of chapters.
    chapters: Vec<Slug>,
}

impl Access {
    /// That of a key of the account.
    pub const ACCOUNT: Self = Self(None);

    /// That of a user who has these roles.
    pub fn of(program: &Program, user: Slug, roles: &[Slug]) -> Self {
        let mut kinds: Vec<RoleType> =
            roles.iter().filter_map(|role| program.roles.live(*role)).map(|role| role.kind).collect();
        if kinds.is_empty() {
            kinds.push(RoleType::Entrant);
        }
        let manages = kinds.contains(&RoleType::ChapterManager);
        let chapters = program.chapters.all_live().filter(|chapter| manages && chapter.managers.contains(&user));
        let chapters = chapters.map(|chapter| chapter.slug).collect();
        Self(Some(Arc::new(Person { user, roles: kinds, chapters })))
    }

    /// The same for a change: an auditor sees everything and writes what the other roles of the person write.
    #[must_use]
    pub fn of_writer(self) -> Self {
        let Some(person) = self.0.as_ref().filter(|person| person.roles.contains(&RoleType::Auditor)) else {
            return self;
        };
        let Person { user, roles, chapters } = &**person;
        let roles = roles.iter().copied().filter(|role| *role != RoleType::Auditor).collect();
        Self(Some(Arc::new(Person { user: *user, roles, chapters: chapters.clone() })))
    }

    /// The person, where the key is a person's.
    pub fn user(&self) -> Option<Slug> {
        self.0.as_ref().map(|person| person.user)
    }

    fn has(&self, role: RoleType) -> bool {
        self.0.as_ref().is_none_or(|person| person.roles.contains(&role))
    }

    /// Whether it may do everything.
    pub fn is_manager(&self) -> bool {
        self.has(RoleType::ProgramManager)
    }

    /// Whether it sees everything.
    pub fn sees_all(&self) -> bool {
        self.is_manager() || self.has(RoleType::Auditor)
    }

    /// Whether one of the roles has this operation.
    pub fn may(&self, operation: Option<&Operation>) -> bool {
        let Some(person) = &self.0 else { return true };
        operation.is_some_and(|operation| person.roles.iter().any(|role| operation.is_of(*role)))
    }

    /// Whether the person enters.
    pub fn is_entrant(&self) -> bool {
        self.has(RoleType::Entrant)
    }

    /// The person whose records are seen as an entrant's.
    pub fn entrant(&self) -> Option<Slug> {
        self.user().filter(|_| self.has(RoleType::Entrant))
    }

    /// The chapters whose records are seen whole.
    pub fn chapters(&self) -> &[Slug] {
        self.0.as_ref().map_or(&[], |person| &person.chapters)
    }

    /// What is seen of an entry in this chapter of this entrant; nothing where it is as if it did not exist.
    pub fn entry(&self, chapter: Slug, entrant: Slug) -> Option<Sight> {
        if self.sees_all() || self.chapters().contains(&chapter) {
            return Some(Sight::Whole);
        }
        (self.entrant() == Some(entrant)).then_some(Sight::Applicant)
    }

    /// The same of an entry that the person judges so, as lists and single reads of entries show it.
    pub fn judged_entry(&self, entry: &Entry, judged: Option<Judged>) -> Option<Sight> {
        match self.entry(entry.chapter, entry.entrant) {
            Some(Sight::Whole) => Some(Sight::Whole),
            Some(_) => {
                let both = |judged| Sight::Judged(Judged { is_applicant: true, ..judged });
                Some(judged.map_or(Sight::Applicant, both))
            }
            None => judged.map(Sight::Judged),
        }
    }

    /// The person whose assignments are seen as a judge's; nobody where everything is seen.
    pub fn judging(&self) -> Option<Slug> {
        self.judge().filter(|_| !self.sees_all())
    }

    /// The person whose assignments are seen as a judge's.
    fn judge(&self) -> Option<Slug> {
        let judges = [RoleType::Judge, RoleType::LeadJudge, RoleType::Voter];
        self.user().filter(|_| judges.into_iter().any(|role| self.has(role)))
    }

    /// Whether the assignment of this judge to an entry in this chapter is seen.
    pub fn assignment(&self, chapter: Slug, judge: Option<Slug>) -> bool {
        self.sees_all() || self.chapters().contains(&chapter) || self.fills_in(judge)
    }

    /// Whether the sheet of this judge is the person's to fill in.
    pub fn fills_in(&self, judge: Option<Slug>) -> bool {
        judge.is_some() && self.judge() == judge
    }

    /// Whether what is of this chapter is the person's to manage.
    pub fn manages(&self, chapter: Slug) -> bool {
        self.is_manager() || self.chapters().contains(&chapter)
    }

    /// The person who sees progress and reopens sheets as a lead judge.
    pub fn lead_judge(&self) -> Option<Slug> {
        self.user().filter(|_| self.has(RoleType::LeadJudge))
    }

    /// Whether an order is seen, whoever ordered; `is_of_chapters` tells whether all of its entries are of the person's chapters.
    pub fn order(&self, purchaser: Slug, is_of_chapters: bool) -> bool {
        self.sees_all() || self.has(RoleType::Bookkeeper) || is_of_chapters || self.entrant() == Some(purchaser)
    }

    /// Whether a document is seen: of an entry in this chapter, or shared with this reader.
    pub fn document(&self, chapter: Option<Slug>, reader: Option<Slug>) -> bool {
        let is_own = reader.is_some() && self.entrant() == reader;
        self.sees_all() || is_own || chapter.is_some_and(|chapter| self.chapters().contains(&chapter))
    }

    /// Whether orders and payments of anybody are written.
    pub fn keeps_books(&self) -> bool {
        self.is_manager() || self.has(RoleType::Bookkeeper)
    }

    /// What is seen of a user; `is_of_chapters` tells whether the user has an entry in one of the chapters.
    pub fn person(&self, user: Slug, is_of_chapters: bool) -> Option<Sight> {
        if self.sees_all() || is_of_chapters {
            return Some(Sight::Whole);
        }
        (self.user() == Some(user)).then_some(Sight::Applicant)
    }

    /// Whether a field is seen: by entrants where applicants may read or answer it.
    pub fn field(&self, field: &Field) -> bool {
        self.sees_fields() || field.applicant.read || field.applicant.write
    }

    /// Whether all fields are seen.
    pub fn sees_fields(&self) -> bool {
        self.sees_all() || self.has(RoleType::ChapterManager)
    }

    /// Whether the managers of a chapter are seen.
    pub fn sees_managers(&self, chapter: &Chapter) -> bool {
        self.sees_all() || self.chapters().contains(&chapter.slug)
    }

    /// What is asked of the records of a table beside what a list asks of them, by the number of the table: that they are
    /// seen.
    pub fn asks(&self, table: usize) -> Vec<Ask> {
        if self.sees_all() {
            return Vec::new();
        }
        match table {
            ENTRIES => vec![self.of_entry(["chapter", "entrant"])],
            CONTRIBUTORS | ATTACHMENTS => vec![self.of_entry(["entry.chapter", "entry.entrant"])],
            // What is seen by judging is asked of a page.
            ASSIGNMENTS => vec![Ask::Any(vec![self.of_chapters("entry.chapter")])],
            DOCUMENTS => {
                let own = self.entrant().map(|user| Ask::Is("reader", user.to_string()));
                let or_of_chapters = |ask| Ask::Any(vec![ask, self.of_chapters("entry.chapter")]);
                let live = Ask::Is("deleted", "0".to_owned());
                vec![or_of_chapters(own.unwrap_or(Ask::Never)), or_of_chapters(live)]
            }
            ORDERS if self.has(RoleType::Bookkeeper) => Vec::new(),
            ORDERS => {
                let own = self.entrant().map(|user| Ask::Is("purchaser", user.to_string()));
                let chapters = self.chapters().iter().map(ToString::to_string).collect();
                let chapters = Ask::Only("chapters", chapters);
                vec![Ask::Any(own.into_iter().chain([chapters]).collect())]
            }
            USERS => {
                let own = self.user().map(|user| Ask::Named(user.to_string()));
                let chapters = Ask::Pointed(ENTRIES, "entrant", vec![self.of_chapters("chapter")], true);
                vec![Ask::Any(own.into_iter().chain([chapters]).collect())]
            }
            // Whether an embargo goes on is asked by the list, which knows the time; who is asked to review, by one that knows the
            // e-mail address.
            PUBLICATIONS | REVIEW_TASKS => Vec::new(),
            _ => vec![Ask::Never],
        }
    }

    /// The same for a page that a query asks for, with what the person judges.
    pub fn asks_of_page(&self, table: usize, program: &Program, query: &ListQuery) -> Vec<Ask> {
        let mut asks = self.asks(table);
        if let ([Ask::Any(ways)], Some(judge)) = (asks.as_mut_slice(), self.judging()) {
            match table {
                ENTRIES => ways.push(judged::asks(program, judge, query)),
                ASSIGNMENTS => ways.extend(judged::assignments(program, judge, query)),
                _ => {}
            }
        }
        asks
    }

    fn of_entry(&self, [chapter, entrant]: [&'static str; 2]) -> Ask {
        let own = self.entrant().map(|user| Ask::Is(entrant, user.to_string()));
        Ask::Any(own.into_iter().chain([self.of_chapters(chapter)]).collect())
    }

    /// What is asked of the records that are of the person's chapters by this column.
    pub fn of_chapters(&self, column: &'static str) -> Ask {
        Ask::Any(self.chapters().iter().map(|chapter| Ask::Is(column, chapter.to_string())).collect())
    }

    /// What a list asks of the records of a table, where the columns that it asks for tell of what is not seen: of users, in
    /// which seasons they have entries.
    pub fn seen(&self, table: usize, asks: Vec<Ask>) -> Vec<Ask> {
        if table != USERS || self.sees_all() {
            return asks;
        }
        let entries = |seasons: Option<&Vec<String>>, is_there| {
            let of = |season: &String| Ask::Is("season", season.clone());
            let of_seasons = seasons.map(|seasons| Ask::Any(seasons.iter().map(of).collect()));
            let live = Ask::Is("deleted", "0".to_owned());
            let seen = [live, self.of_entry(["chapter", "entrant"])].into_iter().chain(of_seasons);
            Ask::Pointed(ENTRIES, "entrant", seen.collect(), is_there)
        };
        let seen = |ask| match ask {
            Ask::Has("seasons", seasons) => entries(Some(&seasons), true),
            Ask::Lacks("seasons", seasons) => entries(Some(&seasons), false),
            Ask::IsEmpty("seasons") => entries(None, false),
            ask => ask,
        };
        asks.into_iter().map(seen).collect()
    }
}

#[cfg(test)]
mod tests;
