//! Roles: what a user is in an account.
//!
//! - A role has a name of its own and one of nine types, which tells what its users may do.
//! - A user without a role is an entrant.
//! - Roles are set up by program files; the interface shows them with the users who have them.

use super::{Context, Member, SetupRecord, Shape, names};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// What the users of a role may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleType {
    /// Runs the program.
    ProgramManager,
    /// Runs chapters of it.
    ChapterManager,
    /// Enters.
    Entrant,
    /// Judges.
    Judge,
    /// Judges, and sees to it that the others do.
    LeadJudge,
    /// Votes.
    Voter,
    /// Looks on.
    Guest,
    /// Sees to orders.
    Bookkeeper,
    /// Reads everything.
    Auditor,
}

impl RoleType {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[
        ("program_manager", Self::ProgramManager),
        ("chapter_manager", Self::ChapterManager),
        ("entrant", Self::Entrant),
        ("judge", Self::Judge),
        ("lead_judge", Self::LeadJudge),
        ("voter", Self::Voter),
        ("guest", Self::Guest),
        ("bookkeeper", Self::Bookkeeper),
        ("auditor", Self::Auditor),
    ];

    /// Whether its users can be assigned entries to judge.
    #[must_use]
    pub fn is_judging(self) -> bool {
        matches!(self, Self::Judge | Self::LeadJudge | Self::Voter)
    }

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProgramManager => "program_manager",
            Self::ChapterManager => "chapter_manager",
            Self::Entrant => "entrant",
            Self::Judge => "judge",
            Self::LeadJudge => "lead_judge",
            Self::Voter => "voter",
            Self::Guest => "guest",
            Self::Bookkeeper => "bookkeeper",
            Self::Auditor => "auditor",
        }
    }
}

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Translated,
    /// What its users may do; the member `type`.
    pub kind: RoleType,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Role {
    const KIND: Kind = Kind::Role;

    const MEMBERS: &'static [Member] = &[
        Member::link(),
        Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
        Member::optional(
            "type",
            Shape::OneOf(|| names(RoleType::CHOICES)),
            "What its users may do; entrant where it is left out.",
        ),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let kind = members.optional("type", input::one_of(RoleType::CHOICES));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self { slug, name: name?, kind: kind.unwrap_or(RoleType::Entrant), created, updated })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.locales("name", &self.name);
        object.text("type", self.kind.name());
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
    use kernel::text::Locale;

    #[test]
    fn every_type_of_role_reads_back() {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now };
        let minimal: Role = store::parse(r#"{"slug":"RoleAAAA","name":{"en_GB":"Anyone"}}"#, &context).unwrap();
        assert_eq!(minimal.kind, RoleType::Entrant);
        for (name, kind) in RoleType::CHOICES {
            assert_eq!(kind.name(), *name);
            let role = Role { kind: *kind, ..minimal.clone() };
            assert_eq!(store::parse::<Role>(&store::stored(&role), &context).unwrap(), role);
        }
    }
}
