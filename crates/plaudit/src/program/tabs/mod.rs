//! Tabs: the parts of a form.
//!
//! - A tab belongs to a form and is shown within other records only, as `{slug, type, created_at, updated_at}`.
//! - Its type tells what it holds: fields of the entry (General), contributors, attachments, referees, the screening
//!   for eligibility, or nothing but the beginning (Start).
//! - Tabs of a form are ordered by `order`.

use super::choice::choices;
use super::{Member, NAME_LENGTH, Record, Shape};
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The largest number in an order.
pub const ORDER: i64 = 1_000_000_000;

choices! {
    /// What a tab holds.
    pub enum TabKind {
        /// The beginning: category, chapter, title.
        Start "Start",
        /// Fields of the entry.
        General "General",
        /// Contributors and their fields.
        Contributors "Contributors",
        /// Attachments and their fields.
        Attachments "Attachments",
        /// Referees and their fields.
        Referees "Referees",
        /// Fields that decide on eligibility.
        Eligibility "Eligibility",
    }
}

const CREATED: Member = Member::optional("created", Shape::Time, "Another name of created_at.");
const UPDATED: Member = Member::optional("updated", Shape::Time, "Another name of updated_at.");

/// A tab of a form.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(CREATED, UPDATED), check = check_times(created, updated))]
pub struct Tab {
    /// Its slug.
    pub slug: Slug,
    /// The form that it belongs to; left out where it stands within its form.
    #[member(Ref(Kind::Form), required, identifying)]
    pub form: Slug,
    /// What it holds.
    #[member(name = "type", required, identifying)]
    pub kind: TabKind,
    /// What stands on it; may be empty.
    #[member(Translated(NAME_LENGTH), identifying, is_name)]
    pub name: Translated,
    /// Its place among the tabs of the form.
    #[member(Integer(0, ORDER))]
    pub order: i64,
    /// When it was made; left out, what is stored, or the time of the run.
    #[member(name = "created_at", default = other_time(members, "created").unwrap_or(context.now))]
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    #[member(name = "updated_at", default = other_time(members, "updated").unwrap_or(context.now))]
    pub updated: Timestamp,
}

/// A time has the name that a tab shows, or that of all other records; both must agree.
fn check_times(members: &mut Members<'_>, created: Option<&Timestamp>, updated: Option<&Timestamp>) {
    for (name, other, time) in [("created_at", "created", created), ("updated_at", "updated", updated)] {
        let same = members.optional(other, input::time);
        if same.is_some() && time != same.as_ref() {
            members.fault(other, format!("is not the time of {name}"));
        }
    }
}

/// A time by its other name; what is wrong with it is told when both are compared.
fn other_time(members: &mut Members<'_>, name: &str) -> Option<Timestamp> {
    input::time(members.get(name)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Context, store};
    use kernel::text::Locale;

    fn read(text: &str) -> Result<Tab, String> {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now };
        store::parse(text, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tab_keeps_what_it_is_given() {
        let text = r#"{"slug":"TabAAAAA","form":"FormAAAA","type":"General","name":{"en_GB":"Work"},"order":2,"created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-02T00:00:00.000000Z"}"#;
        assert_eq!(store::stored(&read(text).unwrap()), text);
        assert_eq!(read(r#"{"slug":"TabAAAAA","form":"FormAAAA","type":"Start"}"#).unwrap().order, 0);
        assert!(read(r#"{"slug":"TabAAAAA","form":"FormAAAA","type":"start"}"#).is_err());
    }

    #[test]
    fn the_times_may_have_the_names_of_other_records() {
        let tab = |times: &str| read(&format!(r#"{{"slug":"TabAAAAA","form":"FormAAAA","type":"Start",{times}}}"#));
        let time = Timestamp::parse("2026-01-01T00:00:00.000000Z").unwrap();
        let wrong = tab(r#""created_at":"x","created":"2026-01-01T00:00:00.000000Z""#).unwrap_err();
        assert!(wrong.contains("must be an ISO 8601 time") && !wrong.contains("is not the time"), "{wrong}");
        assert_eq!(tab(r#""created":"2026-01-01T00:00:00.000000Z""#).unwrap().created, time);
        assert!(tab(r#""created":"2026-01-01T00:00:00.000000Z","created_at":"2026-01-02T00:00:00.000000Z""#).is_err());
    }
}
