//! Tabs: the parts of a form.
//!
//! - A tab belongs to a form and is shown within other records only, as `{slug, type, created_at, updated_at}`.
//! - Its type tells what it holds: fields of the entry (General), contributors, attachments, referees, the screening
//!   for eligibility, or nothing but the beginning (Start).
//! - Tabs of a form are ordered by `order`.

use super::choice::choices;
use super::{Context, Member, NAME_LENGTH, Record, SetupRecord, Shape};
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
#[record(extra(CREATED, UPDATED), complete)]
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
    #[member(Translated(NAME_LENGTH), identifying)]
    pub name: Translated,
    /// Its place among the tabs of the form.
    #[member(Integer(0, ORDER))]
    pub order: i64,
    /// When it was made; left out, what is stored, or the time of the run.
    #[member(name = "created_at", default = context.now)]
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    #[member(name = "updated_at", default = context.now)]
    pub updated: Timestamp,
}

impl SetupRecord for Tab {
    const KIND: Kind = Kind::Tab;
}

impl Tab {
    fn complete(&mut self, members: &mut Members<'_>, _: &Context) {
        for (name, other, time) in
            [("created_at", "created", &mut self.created), ("updated_at", "updated", &mut self.updated)]
        {
            // A time has the name that a tab shows, or that of all other records; both must agree.
            if let Some(same) = members.optional(other, input::time) {
                if members.has(name) && *time != same {
                    members.fault(other, format!("is not the time of {name}"));
                }
                *time = same;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
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
        assert_eq!(tab(r#""created":"2026-01-01T00:00:00.000000Z""#).unwrap().created, time);
        assert!(tab(r#""created":"2026-01-01T00:00:00.000000Z","created_at":"2026-01-02T00:00:00.000000Z""#).is_err());
    }
}
