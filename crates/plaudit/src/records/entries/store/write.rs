//! Writes entries: the one way in which an entry changes through the service, whoever changes it.
//!
//! - What the log tells, the action and the events, follows from the difference between before and after. Where there is
//!   none, nothing is written.
//! - The documents, the index columns, the tags, the counts, the title in orders and the seasons of the entrant are kept in the
//!   same transaction. Of the documents only what has changed is made anew; they always are what they would be if all of it were.
//! - `updated` is the time of the last change of a member. The trash is no member.

use crate::log::{self, Action, Event, Origin};
use crate::program::Program;
use crate::records::entries::counts::division_of_head;
use crate::records::entries::document::with_answers;
use crate::records::entries::rules::{events, files_among};
use crate::records::entries::store::{
    Stored, broken, find_any_for_update, related, set_chapter, set_doc, set_documents, set_row, set_tags, write_counts,
};
use crate::records::entries::{CountChanges, Counts, Entry, EntryHead, RelatedData, detail};
use crate::records::orders;
use crate::records::users::{self, Person};
use db::{AccountId, DbError, Tx};
use kernel::document::whole;
use kernel::kind::Kind;
use kernel::text::Slug;

/// A change of an entry that is to be written.
#[derive(Debug)]
pub struct Change<'c> {
    /// What it was, locked; nothing for a new one.
    pub before: Option<&'c Stored>,
    /// What it becomes. Where something of it changes, its `updated` is the time of the change.
    pub after: &'c Entry,
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
) -> Result<Stored, DbError> {
    let Change { before, after, deleted, is_copy } = change;
    let missing = || DbError::Failed(format!("there is no user {}, whose entry is written", after.entrant));
    let archived = after.archived;
    let Some(before) = before else {
        let person = users::store::person(tx, account, after.entrant).await?.ok_or_else(missing)?;
        let around = made(tx, account, program, after, is_copy).await?;
        let (head, detail) = (EntryHead::of(after, around.counts), detail(&after.entry_fields, &around));
        let reported = events::logged(None, (&head, deleted), false, is_copy);
        let after = After { head, detail: Some(detail), deleted, archived, person: Some(person) };
        return commit(tx, account, origin, None, after, reported).await;
    };
    let first = before.head()?;
    let answered = before.entry()?.entry_fields;
    let is_answered = answered != after.entry_fields;
    let detail = match with_answers(&before.detail, &after.entry_fields) {
        Some(detail) => is_answered.then_some(detail),
        None => return Err(broken(&"its answers")),
    };
    let files = first.counts().files - files_among(program, &answered) + files_among(program, &after.entry_fields);
    let person = match after.entrant {
        entrant if entrant == first.entrant => before.person.clone(),
        entrant => Some(users::store::person(tx, account, entrant).await?.ok_or_else(missing)?),
    };
    let head = EntryHead::of(after, Counts { files, ..first.counts() });
    let after = After { head, detail, deleted, archived, person };
    changed(tx, account, origin, (before, &first), after, is_answered).await
}

/// Like [`write`], of an entry that keeps its answers and its entrant: nothing but the first document is looked at.
pub async fn write_head(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    (before, first): (&Stored, &EntryHead<'_>),
    after: EntryHead<'_>,
    deleted: bool,
) -> Result<Stored, DbError> {
    let person = before.person.clone();
    let after = After { head: after, detail: None, deleted, archived: before.archived, person };
    changed(tx, account, origin, (before, first), after, false).await
}

/// Why the documents of an entry are made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An import changed the records that it shows.
    Import,
    /// A contributor, an attachment or a file of it was added, changed or taken away, which changes the entry.
    EntryChildren,
}

/// Makes the documents of an entry anew from the records that they show, and logs them where they changed. To be called
/// for every entry whose contributors, attachments or files changed, even for one in the trash. Gives what was counted;
/// `None` where there is no such entry.
pub async fn refresh_detail(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    slug: Slug,
    cause: Cause,
) -> Result<Option<Counts>, DbError> {
    let Some(before) = find_any_for_update(tx, account, slug).await? else { return Ok(None) };
    let entry = before.entry()?;
    let around = related(tx, account, program, &entry).await?;
    let mut head = EntryHead::of(&entry, around.counts);
    let detail = detail(&entry.entry_fields, &around);
    let first = before.head()?;
    if head == first && detail == before.detail {
        return Ok(Some(around.counts));
    }
    let reported = match cause {
        Cause::Import => (Action::Imported, Vec::new()),
        Cause::EntryChildren => {
            head.updated = origin.at;
            (Action::Updated, vec![Event::EntryUpdated])
        }
    };
    let (deleted, archived, person) = (before.deleted, before.archived, before.person.clone());
    let after = After { head, detail: Some(detail), deleted, archived, person };
    commit(tx, account, origin, Some((&before, &first)), after, reported).await?;
    Ok(Some(around.counts))
}

/// What an entry becomes.
struct After<'d> {
    head: EntryHead<'d>,
    /// The second document where it is another one.
    detail: Option<String>,
    deleted: bool,
    archived: bool,
    /// Its entrant, as entries show users.
    person: Option<Person>,
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
    account: AccountId,
    origin: &Origin,
    (before, first): (&Stored, &EntryHead<'_>),
    mut after: After<'_>,
    is_answered: bool,
) -> Result<Stored, DbError> {
    after.head.updated = first.updated;
    let is_same = after.head == *first && after.detail.is_none() && after.archived == before.archived;
    if is_same && after.deleted == before.deleted {
        return Ok(before.clone());
    }
    if !is_same {
        after.head.updated = origin.at;
    }
    let reported = events::logged(Some((first, before.deleted)), (&after.head, after.deleted), is_answered, false);
    commit(tx, account, origin, Some((before, first)), after, reported).await
}

async fn commit(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    before: Option<(&Stored, &EntryHead<'_>)>,
    after: After<'_>,
    (action, events): (Action, Vec<Event>),
) -> Result<Stored, DbError> {
    let After { head, detail, deleted, archived, person } = after;
    let has_same_detail = detail.is_none();
    let detail = detail.or_else(|| before.map(|(stored, _)| stored.detail.clone())).unwrap_or_default();
    let doc = head.to_doc();
    let document = whole(&doc, &detail);
    let change = log::Change { kind: Kind::Entry, slug: head.slug.as_str(), action, events: &events, document };
    let revision = log::append(tx, account, origin, change).await?;
    let stored = Stored { revision, deleted, archived, doc, detail, person };
    match before {
        Some((before, first)) if has_same_index(before, first, &stored, &head) => {
            match (has_same_detail, first.chapter == head.chapter) {
                (true, true) => set_doc(tx, account, &head, &stored).await?,
                (true, false) => set_chapter(tx, account, &head, &stored).await?,
                (false, true) => set_documents(tx, account, &head, &stored).await?,
                (false, false) => set_row(tx, account, &head, &stored).await?,
            }
        }
        _ => set_row(tx, account, &head, &stored).await?,
    }
    if before.is_some_and(|(_, first)| first.title != head.title) {
        orders::store::retitle(tx, account, origin, head.slug, &head.title).await?;
    }
    set_tags(tx, account, head.slug, before.map_or("", |(_, first)| &first.tags), &head.tags).await?;
    let mut counts = CountChanges::default();
    let counted = before.and_then(|(before, first)| division_of_head(first, before.deleted));
    counts.note(counted, division_of_head(&head, deleted));
    write_counts(tx, account, counts).await?;
    let held = before.map(|(before, first)| (first.entrant, first.season, !before.deleted));
    users::store::move_entry(tx, account, held, (head.entrant, head.season, !deleted)).await?;
    Ok(stored)
}

/// Whether the columns by which lists filter and sort are what they were, but for chapter and time.
fn has_same_index(before: &Stored, first: &EntryHead<'_>, after: &Stored, head: &EntryHead<'_>) -> bool {
    let flags = |stored: &Stored| (stored.deleted, stored.archived);
    let places = |head: &EntryHead<'_>| (head.season, head.category, head.division, head.form, head.local_id);
    let standing = |head: &EntryHead<'_>| (head.status, head.moderation_status, head.payment_status);
    flags(before) == flags(after)
        && places(first) == places(head)
        && standing(first) == standing(head)
        && first.review_status == head.review_status
        && first.title == head.title
        && first.entrant == head.entrant
}
