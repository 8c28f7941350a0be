//! Writes entries: the one way in which an entry changes through the service, whoever changes it.
//!
//! - What the log tells, the action and the events, follows from the difference between before and after. Where there is
//!   none, nothing is written.
//! - The documents, the index columns, the tags, the counts, the title in orders and the seasons of the entrant are kept in the
//!   same transaction. Of the documents only what has changed is made anew; they always are what they would be if all of it were.
//! - What makes an entry longer than it may be is refused.
//! - `updated` is the time of the last change of a member. The trash is no member.

use crate::log::{self, Action, Event, Origin};
use crate::program::Program;
use crate::records::Refusal;
use crate::records::entries::counts::division_of;
use crate::records::entries::document::with_answers;
use crate::records::entries::rules::{events, files_among, length};
use crate::records::entries::store::{
    Stored, broken, find_any_for_update, related, set_boards, set_documents, set_row, set_tags, write_counts,
};
use crate::records::entries::{CountChanges, Counts, Entry, Payment, RelatedData, detail};
use crate::records::orders;
use crate::records::users::{self, Person};
use db::{AccountId, DbError, Tx};
use kernel::document::whole;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Slug;

/// A change of an entry that is to be written.
#[derive(Debug)]
pub struct Change<'c> {
    /// What it was, locked; nothing for a new one.
    pub before: Option<&'c Stored>,
    /// What it becomes. Where something of it changes, its `updated` is the time of the change.
    pub after: Entry,
    /// Whether it is in the trash then.
    pub deleted: bool,
    /// Whether it begins as the copy of another one. Its contributors were written before it then.
    pub is_copy: bool,
}

/// Writes an entry, logs the change and gives what is stored then. Where nothing changes, that is what was stored.
pub async fn write(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    change: Change<'_>,
) -> Result<Stored, Refusal> {
    let Change { before, after: entry, deleted, is_copy } = change;
    let entrant = entry.entrant;
    let missing = || DbError::Failed(format!("there is no user {entrant}, whose entry is written"));
    let Some(before) = before else {
        let person = Some(users::store::person(tx, account, entrant).await?.ok_or_else(missing)?);
        let around = made(tx, account, program, &entry, is_copy).await?;
        let reported = events::logged(None, (&entry, deleted), false, is_copy);
        let detail = Some(detail(&entry.entry_fields, &around));
        let after = After { entry, counts: around.counts, detail, deleted, person, member: "entry_fields" };
        return commit(tx, program, origin, None, after, reported).await;
    };
    let (first, counts) = (before.entry()?, before.counts()?);
    let is_answered = first.entry_fields != entry.entry_fields;
    let detail = match with_answers(&before.detail, &entry.entry_fields) {
        Some(detail) => is_answered.then_some(detail),
        None => return Err(broken(&"its answers").into()),
    };
    let [files_before, files] = [&first, &entry].map(|entry| files_among(program, &entry.entry_fields));
    let counts = Counts { files: counts.files - files_before + files, ..counts };
    let person = match entrant {
        entrant if entrant == first.entrant => before.person.clone(),
        entrant => Some(users::store::person(tx, account, entrant).await?.ok_or_else(missing)?),
    };
    let member = if is_answered { "entry_fields" } else { "title" };
    let after = After { entry, counts, detail, deleted, person, member };
    changed(tx, program, origin, (before, &first), after).await
}

/// Like [`write()`], of an entry that keeps its answers and its entrant: nothing but the first document is looked at.
pub async fn write_head(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (before, first): (&Stored, &Entry),
    entry: Entry,
    deleted: bool,
) -> Result<Stored, Refusal> {
    let (counts, person) = (before.counts()?, before.person.clone());
    let after = After { entry, counts, detail: None, deleted, person, member: "tags" };
    changed(tx, program, origin, (before, first), after).await
}

/// Like [`write_head`], of an entry whose payment status follows its orders; an import tells of no events.
pub async fn write_payment_status(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (before, first): (&Stored, &Entry),
    (payment_status, is_imported): (Payment, bool),
) -> Result<Stored, Refusal> {
    let entry = Entry { payment_status, ..first.clone() };
    if !is_imported {
        return write_head(tx, program, origin, (before, first), entry, before.deleted).await;
    }
    let (counts, person, deleted) = (before.counts()?, before.person.clone(), before.deleted);
    let entry = Entry { updated: origin.at, ..entry };
    let after = After { entry, counts, detail: None, deleted, person, member: "tags" };
    commit(tx, program, origin, Some((before, first)), after, (Action::Imported, Vec::new())).await
}

/// Why the documents of an entry are made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An import changed the records that it shows.
    Import,
    /// A contributor, an attachment or a file of it was added, changed or taken away, which changes the entry. The member has
    /// the answers that were given.
    EntryChildren(&'static str),
}

/// Makes the documents of an entry anew from the records that they show, and logs them where they changed. To be called
/// for every entry whose contributors, attachments or files changed, even for one in the trash. Gives what is stored then;
/// `None` where there is no such entry.
pub async fn refresh_detail(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    slug: Slug,
    cause: Cause,
) -> Result<Option<Stored>, Refusal> {
    let Some(before) = find_any_for_update(tx, account, slug).await? else { return Ok(None) };
    let mut entry = before.entry()?;
    let around = related(tx, account, program, &entry).await?;
    let (counts, detail) = (around.counts, detail(&entry.entry_fields, &around));
    if counts == before.counts()? && detail == before.detail {
        return Ok(Some(before));
    }
    let first = before.head()?;
    let (member, reported) = match cause {
        Cause::Import => ("contributors", (Action::Imported, Vec::new())),
        Cause::EntryChildren(answers) => {
            entry.updated = origin.at;
            (answers, (Action::Updated, vec![Event::EntryUpdated]))
        }
    };
    let (deleted, person) = (before.deleted, before.person.clone());
    let after = After { entry, counts, detail: Some(detail), deleted, person, member };
    commit(tx, program, origin, Some((&before, &first)), after, reported).await.map(Some)
}

/// What an entry becomes.
struct After {
    /// The entry, whose answers may be left out where the second document is the same.
    entry: Entry,
    counts: Counts,
    /// The second document where it is another one.
    detail: Option<String>,
    deleted: bool,
    /// Its entrant, as entries show users.
    person: Option<Person>,
    /// The member under which is told that it becomes too long.
    member: &'static str,
}

/// What a new entry shows of other records. Nothing can belong to it yet, unless it is a copy.
async fn made(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    entry: &Entry,
    is_copy: bool,
) -> Result<RelatedData, DbError> {
    if is_copy {
        return related(tx, account, program, entry).await;
    }
    let counts = Counts { contributors: 0, files: files_among(program, &entry.entry_fields) };
    Ok(RelatedData { contributors: Vec::new(), attachments: Vec::new(), counts })
}

/// Writes an entry where it is another one than before.
async fn changed(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (before, first): (&Stored, &Entry),
    mut after: After,
) -> Result<Stored, Refusal> {
    after.entry.updated = first.updated;
    let is_same = after.entry == *first;
    if is_same && after.deleted == before.deleted {
        return Ok(before.clone());
    }
    if !is_same {
        after.entry.updated = origin.at;
    }
    let (was, is) = ((first, before.deleted), (&after.entry, after.deleted));
    let reported = events::logged(Some(was), is, after.detail.is_some(), false);
    commit(tx, program, origin, Some((before, first)), after, reported).await
}

async fn commit(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    before: Option<(&Stored, &Entry)>,
    after: After,
    (action, events): (Action, Vec<Event>),
) -> Result<Stored, Refusal> {
    let account = program.id;
    let After { entry, counts, detail, deleted, person, member } = after;
    let has_same_detail = detail.is_none();
    let detail = detail.or_else(|| before.map(|(stored, _)| stored.detail.clone())).unwrap_or_default();
    let doc = entry.document(counts, deleted);
    let had = before.map(|(stored, first)| (first, stored.detail.as_str()));
    if let Err(message) = length::check_length(&program.lengths, had, &entry, [&doc, &detail]) {
        let mut violations = Violations::default();
        violations.add(member, message);
        return Err(violations.into());
    }
    let document = whole(&doc, &detail);
    let change = log::Change { kind: Kind::Entry, slug: entry.slug.as_str(), action, events: &events, document };
    let revision = log::append(tx, account, origin, change).await?;
    let stored = Stored { revision, deleted, doc, detail, person };
    match before {
        Some((before, first)) if before.deleted == deleted && has_same_index(first, &entry) => {
            set_documents(tx, account, &entry, &stored, has_same_detail).await?;
        }
        _ => set_row(tx, account, &entry, &stored).await?,
    }
    if before.is_some_and(|(_, first)| first.chapter != entry.chapter) {
        orders::store::renew_orders(tx, account, entry.slug, revision).await?;
    }
    if before.is_some_and(|(_, first)| first.title != entry.title) {
        orders::store::retitle(tx, account, origin, entry.slug, &entry.title).await?;
    }
    set_tags(tx, account, entry.slug, before.map_or("", |(_, first)| &first.tags), &entry.tags).await?;
    if let Some((_, first)) = before {
        set_boards(tx, account, Some(first), &entry, revision).await?;
    }
    let mut counts = CountChanges::default();
    let counted = before.and_then(|(before, first)| division_of(first, before.deleted));
    counts.note(counted, division_of(&entry, deleted));
    write_counts(tx, account, counts).await?;
    let held = before.map(|(before, first)| (first.entrant, first.season, !before.deleted));
    users::store::move_entry(tx, account, held, (entry.entrant, entry.season, !deleted)).await?;
    Ok(stored)
}

/// Whether the columns by which lists filter and sort are what they were, but for chapter and time.
fn has_same_index(before: &Entry, after: &Entry) -> bool {
    let places = |entry: &Entry| (entry.season, entry.category, entry.division, entry.form, entry.local_id);
    let standing =
        |entry: &Entry| (entry.status, entry.moderation_status, entry.payment_status, entry.archived, entry.entrant);
    places(before) == places(after)
        && standing(before) == standing(after)
        && before.review_status == after.review_status
        && before.title == after.title
}
