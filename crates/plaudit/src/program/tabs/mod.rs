//! Tabs: the parts of a form.
//!
//! - A tab belongs to a form and is shown within other records only, as `{slug, type, created_at, updated_at}`.
//! - Its type tells what it holds: fields of the entry (General), contributors, attachments, referees, the screening
//!   for eligibility, or nothing but the beginning (Start).
//! - Tabs of a form are ordered by `order`.

use super::{Context, Member, SetupRecord, Shape, names};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The largest number in an order.
pub const ORDER: i64 = 1_000_000_000;

/// What a tab holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// The beginning: category, chapter, title.
    Start,
    /// Fields of the entry.
    General,
    /// Contributors and their fields.
    Contributors,
    /// Attachments and their fields.
    Attachments,
    /// Referees and their fields.
    Referees,
    /// Fields that decide on eligibility.
    Eligibility,
}

impl TabKind {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[
        ("Start", Self::Start),
        ("General", Self::General),
        ("Contributors", Self::Contributors),
        ("Attachments", Self::Attachments),
        ("Referees", Self::Referees),
        ("Eligibility", Self::Eligibility),
    ];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::General => "General",
            Self::Contributors => "Contributors",
            Self::Attachments => "Attachments",
            Self::Referees => "Referees",
            Self::Eligibility => "Eligibility",
        }
    }
}

/// A tab of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its slug.
    pub slug: Slug,
    /// The form that it belongs to.
    pub form: Slug,
    /// What it holds; the member `type`.
    pub kind: TabKind,
    /// What stands on it; may be empty.
    pub name: Translated,
    /// Its place among the tabs of the form.
    pub order: i64,
    /// When it was made; the member `created_at`.
    pub created: Timestamp,
    /// When it was last changed; the member `updated_at`.
    pub updated: Timestamp,
}

impl SetupRecord for Tab {
    const KIND: Kind = Kind::Tab;

    const MEMBERS: &'static [Member] = &[
        Member::required(
            "form",
            Shape::Ref(Kind::Form),
            "The form that it belongs to; left out where it stands within its form.",
        )
        .identifying(),
        Member::required("type", Shape::OneOf(|| names(TabKind::CHOICES)), "What it holds.").identifying(),
        Member::optional("name", Shape::Translated(NAME_LENGTH), "What stands on it.").identifying(),
        Member::optional("order", Shape::Integer(0, ORDER), "Its place among the tabs of the form."),
        Member::created("created_at"),
        Member::optional("created", Shape::Time, "Another name of created_at."),
        Member::updated("updated_at"),
        Member::optional("updated", Shape::Time, "Another name of updated_at."),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let form = members.required("form", input::slug);
        let kind = members.required("type", input::one_of(TabKind::CHOICES));
        let name = members.optional("name", input::translated(&context.languages, NAME_LENGTH));
        let order = members.optional("order", input::integer(0..=ORDER));
        let created = read_time(members, "created_at", "created").unwrap_or(context.now);
        let updated = read_time(members, "updated_at", "updated").unwrap_or(context.now);
        Some(Self {
            slug,
            form: form?,
            kind: kind?,
            name: name.unwrap_or_default(),
            order: order.unwrap_or(0),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("form", self.form);
        object.text("type", self.kind.name());
        object.locales("name", &self.name);
        object.integer("order", self.order);
        object.time("created_at", self.created);
        object.time("updated_at", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![("form", Kind::Form, self.form)]
    }
}

/// A time under the name that a tab shows, or under that of all other records; both must agree.
fn read_time(members: &mut Members<'_>, name: &str, other: &str) -> Option<Timestamp> {
    let time = members.optional(name, input::time);
    let same = members.optional(other, input::time);
    if time.is_some() && same.is_some() && time != same {
        members.fault(other, format!("is not the time of {name}"));
    }
    time.or(same)
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
