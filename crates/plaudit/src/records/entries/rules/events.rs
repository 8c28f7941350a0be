//! What a change of an entry is in the log: the action and the events, from the difference that it makes.

use crate::log::{Action, Event};
use crate::records::entries::rules::tags;
use crate::records::entries::{Eligibility, Entry, Moderation, Status};

/// What is logged of an entry that was `before` and is `after`, each with whether it is in the trash. `is_answered`: its answers are others. `is_copy`: it
/// begins as the copy of another one.
pub(in crate::records::entries) fn logged(
    before: Option<(&Entry, bool)>,
    after: (&Entry, bool),
    is_answered: bool,
    is_copy: bool,
) -> (Action, Vec<Event>) {
    let (action, mut events) = match (before, after) {
        (None, _) if is_copy => (Action::Created, vec![Event::EntryCreated, Event::EntryCopied]),
        (None, _) => (Action::Created, vec![Event::EntryCreated]),
        (Some((_, false)), (_, true)) => (Action::Trashed, vec![Event::EntryDeleted]),
        (Some((_, true)), (_, false)) => (Action::Restored, vec![Event::EntryUpdated]),
        (Some(_), _) => (Action::Updated, vec![Event::EntryUpdated]),
    };
    let more = caused(before.map(|(entry, _)| entry), after.0, is_answered);
    events.extend(more.into_iter().filter_map(|(event, is_caused)| is_caused.then_some(event)));
    (action, events)
}

/// The events beside the first one, and whether the difference causes them. A new entry has changed nothing; it has
/// become what it is.
fn caused(before: Option<&Entry>, after: &Entry, is_answered: bool) -> [(Event, bool); 10] {
    let is_new = before.is_none();
    let before = before.unwrap_or(after);
    let became = |is_now: bool, was: bool| is_now && (is_new || !was);
    let is_status = |status| became(after.status == status, before.status == status);
    let is_screened = |as_what| became(after.eligibility_status == as_what, before.eligibility_status == as_what);
    let had = if is_new { "" } else { before.tags.as_str() };
    let is_tagged = tags::split(&after.tags).any(|tag| tags::split(had).all(|other| other != tag));
    let first = if is_new { Moderation::Undecided } else { before.moderation_status };
    [
        (Event::EntryStatusChanged, before.status != after.status),
        (Event::EntrySubmitted, is_status(Status::Submitted)),
        (Event::EntryResubmitted, is_status(Status::Resubmitted)),
        (Event::EntryModerated, first != after.moderation_status),
        (Event::EntryTagged, is_tagged),
        (Event::EntryCategoryChanged, before.category != after.category),
        (Event::EntryChapterChanged, before.chapter != after.chapter),
        (Event::EntryEligible, is_screened(Eligibility::Eligible)),
        (Event::EntryIneligible, is_screened(Eligibility::Ineligible)),
        (Event::FieldValueUpdated, is_answered),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::entries::rules::tests::DOC;
    use kernel::text::Slug;

    fn entry() -> Entry {
        Entry { status: Status::InProgress, ..Entry::of_document(DOC).unwrap() }
    }

    fn names((action, events): (Action, Vec<Event>)) -> String {
        let names: Vec<&str> = events.into_iter().map(Event::name).collect();
        format!("{} {}", action.name(), names.join(","))
    }

    fn updated(after: &Entry) -> String {
        names(logged(Some((&entry(), false)), (after, false), false, false))
    }

    #[test]
    fn a_new_entry_has_become_what_it_is_and_has_changed_nothing() {
        assert_eq!(names(logged(None, (&entry(), false), false, false)), "created entry_created");
        assert_eq!(names(logged(None, (&entry(), false), false, true)), "created entry_created,entry_copied");
        let made = Entry {
            status: Status::Submitted,
            eligibility_status: Eligibility::Ineligible,
            moderation_status: Moderation::Approved,
            tags: "a".into(),
            ..entry()
        };
        let events = "entry_created,entry_submitted,entry_moderated,entry_tagged,entry_ineligible";
        assert_eq!(names(logged(None, (&made, false), false, false)), format!("created {events}"));
    }

    #[test]
    fn the_trash_is_told_apart() {
        let entry = entry();
        assert_eq!(names(logged(Some((&entry, false)), (&entry, true), false, false)), "trashed entry_deleted");
        assert_eq!(names(logged(Some((&entry, true)), (&entry, false), false, false)), "restored entry_updated");
        assert_eq!(
            names(logged(Some((&entry, true)), (&entry, true), true, false)),
            "updated entry_updated,field_value_updated"
        );
    }

    #[test]
    fn every_difference_has_its_event() {
        let slug = |text| Slug::parse(text).unwrap();
        for (after, event) in [
            (Entry { title: "Other".into(), ..entry() }, ""),
            (Entry { status: Status::Submitted, ..entry() }, ",entry_status_changed,entry_submitted"),
            (Entry { status: Status::Resubmitted, ..entry() }, ",entry_status_changed,entry_resubmitted"),
            (Entry { status: Status::Invited, ..entry() }, ",entry_status_changed"),
            (Entry { moderation_status: Moderation::Rejected, ..entry() }, ",entry_moderated"),
            (Entry { category: slug("CategBBB"), ..entry() }, ",entry_category_changed"),
            (Entry { chapter: slug("ChapteBB"), ..entry() }, ",entry_chapter_changed"),
            (Entry { eligibility_status: Eligibility::Eligible, ..entry() }, ",entry_eligible"),
            (Entry { tags: "a".into(), ..entry() }, ",entry_tagged"),
        ] {
            assert_eq!(updated(&after), format!("updated entry_updated{event}"));
        }
        let tagged = Entry { tags: "a,b".into(), ..entry() };
        let fewer = Entry { tags: "b".into(), ..entry() };
        assert_eq!(names(logged(Some((&tagged, false)), (&fewer, false), false, false)), "updated entry_updated");
    }
}
