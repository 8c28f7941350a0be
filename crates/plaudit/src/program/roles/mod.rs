//! Roles: what a user is in an account.
//!
//! - A role has a name of its own and one of nine types, which tells what its users may do.
//! - A user without a role is an entrant.
//! - Roles are set up by program files; the interface shows them with the users who have them.

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::text::{Slug, Timestamp, Translated};

choices! {
    /// What the users of a role may do.
    pub enum RoleType {
        /// Runs the program.
        ProgramManager "program_manager",
        /// Runs chapters of it.
        ChapterManager "chapter_manager",
        /// Enters.
        Entrant "entrant",
        /// Judges.
        Judge "judge",
        /// Judges, and sees to it that the others do.
        LeadJudge "lead_judge",
        /// Votes.
        Voter "voter",
        /// Looks on.
        Guest "guest",
        /// Sees to orders.
        Bookkeeper "bookkeeper",
        /// Reads everything.
        Auditor "auditor",
    }
}

impl RoleType {
    /// Whether its users can be assigned entries to judge.
    pub fn is_judging(self) -> bool {
        matches!(self, Self::Judge | Self::LeadJudge | Self::Voter)
    }
}

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link()))]
pub struct Role {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What its users may do; entrant where it is left out.
    #[member(name = "type", default = RoleType::Entrant)]
    pub kind: RoleType,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Context;
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
