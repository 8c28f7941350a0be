//! What judges are shown beside the entry.

use crate::program::choice::choices;
use crate::program::{Context, Member, MemberValue, Record, RecordMembers, Shape, Texts};
use kernel::document::Object;
use kernel::input::{Members, Violations, Wrong};
use kernel::json::Json;
use kernel::text::Slug;

choices! {
    /// When judges are shown what others gave.
    pub enum Others {
        /// Never.
        Never "never",
        /// When their own sheet is complete.
        AfterOwn "after_own",
        /// Always.
        Always "always",
    }
}

/// What judges are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct Shows {
    /// When they see the scores of others; never where it is left out.
    #[member(default = Others::Never)]
    pub others_scores: Others,
    /// When they see the comments of others; never where it is left out.
    #[member(default = Others::Never)]
    pub others_comments: Others,
    /// Whether they see who the other judges are.
    pub names_of_judges: bool,
    /// Whether they see who entered, with contributors and attachments.
    pub entrants: bool,
}

impl Default for Shows {
    fn default() -> Self {
        let nothing = Others::Never;
        Self { others_scores: nothing, others_comments: nothing, names_of_judges: false, entrants: false }
    }
}

impl MemberValue for Shows {
    const SHAPE: Shape = Shape::Object(Self::MEMBERS);

    fn read(json: &Json, _: &Shape, context: &Context) -> Result<Self, Wrong<Self>> {
        let Json::Object(object) = json else { return Err("must be an object".to_owned().into()) };
        let mut members = Members::closed(object);
        // It has no slug of its own.
        let nobody = Slug::from_letters(*b"ShowsAAA");
        let shows = nobody.and_then(|slug| <Self as RecordMembers>::read(&mut members, slug, context));
        members.finish().or(shows).map_err(Violations::of_part)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.object(member.name, |object| <Self as RecordMembers>::write(self, object));
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::default())
    }
}
