//! What a sheet says: points and comments by criterion, a decision, a preference or votes.

use crate::program::{Context, Member, MemberValue, Record, Shape, Texts, choices};
use kernel::document::Object;
use kernel::input::{self, Members, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Points, Slug, Timestamp};

/// The most characters of a comment.
pub const COMMENT_LENGTH: usize = 65_536;
/// The most scores of a sheet.
pub(super) const SCORES: usize = 10_000;
/// The most declarations of conflicts of a sheet.
pub const DECLARATIONS: usize = 1_000;

choices! {
    /// What a judge says of an entry that qualifies or not.
    pub enum Decision {
        /// It does.
        Pass "pass",
        /// It does not.
        Fail "fail",
        /// The judge cannot tell.
        Unsure "unsure",
    }
}

/// How much of an assignment is shown: of the sheet what was given and what was written, and who judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Whether scores are.
    pub scores: bool,
    /// Whether comments are.
    pub comments: bool,
    /// Whether the judge is, with the slug and the panels, which tell who that is.
    pub names: bool,
}

impl Sheet {
    /// All of it.
    pub const WHOLE: Self = Self { scores: true, comments: true, names: true };
}

/// What somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its slug.
    pub slug: Slug,
    /// The text.
    pub comment: String,
    /// The judge, who wrote it; nothing where somebody else did.
    pub user: Option<Slug>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Comment {
    const SLUG: Member = Member::required("slug", Shape::Slug, "Its slug.");
    const COMMENT: Member =
        Member::required("comment", Shape::Text(COMMENT_LENGTH), "The text; empty for an abstention without a reason.");
    const USER: Member = Member::optional("user", Shape::Ref(Kind::User), "The judge who wrote it.").nullable();
    const CREATED: Member = Member::required("created_at", Shape::Time, "When it was written.");
    const UPDATED: Member = Member::required("updated_at", Shape::Time, "When it was last changed.");
    /// Its members, in their order.
    const MEMBERS: &'static [Member] = &[Self::SLUG, Self::COMMENT, Self::USER, Self::CREATED, Self::UPDATED];

    fn read_members(members: &mut Members<'_>) -> Option<Self> {
        let slug = members.required("slug", input::slug);
        let comment = members.required("comment", input::text(COMMENT_LENGTH));
        let user = members.nullable("user", input::slug).flatten();
        let created_at = members.required("created_at", input::time);
        let updated_at = members.required("updated_at", input::time);
        Some(Self { slug: slug?, comment: comment?, user, created_at: created_at?, updated_at: updated_at? })
    }

    fn write_members(&self, object: &mut Object<'_>) {
        object.slug("slug", self.slug);
        object.text("comment", &self.comment);
        object.optional_slug("user", self.user);
        object.time("created_at", self.created_at);
        object.time("updated_at", self.updated_at);
    }
}

impl MemberValue for Comment {
    const SHAPE: Shape = Shape::Object(Self::MEMBERS);

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        let Json::Object(object) = json else { return Err("must be an object".to_owned().into()) };
        let mut members = Members::closed(object);
        let comment = Self::read_members(&mut members);
        members.finish().or(comment).map_err(kernel::input::Violations::of_part)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.object(member.name, |object| self.write_members(object));
    }
}

/// What a sheet says of a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
pub struct Score {
    /// The criterion, which is one of the score set's.
    #[member(Ref(Kind::Criterion), required)]
    pub criterion: Slug,
    /// The points; null for none.
    pub value: Option<Points>,
    /// What the judge says of the entry by this criterion.
    pub comment: Option<Comment>,
}

/// The member `scores`.
pub(super) mod scores {
    use super::{Context, Members, Object, SCORES, Score, Shape, Slug, Texts};
    use crate::program::RecordMembers as _;
    use kernel::kind::Kind;

    pub(in super::super) const SHAPE: Shape = Shape::Object(Score::MEMBERS);

    /// Reads all of them, in the order of their criteria, each once.
    pub(in super::super) fn read(members: &mut Members<'_>, context: &Context) -> Option<Vec<Score>> {
        // A score has no slug of its own.
        let nobody = Slug::from_letters(*b"ScoreAAA")?;
        let read = members.objects("scores", SCORES, |members| Score::read(members, nobody, context))?;
        let mut scores: Vec<Score> = read.into_iter().flatten().collect();
        scores.sort_by_key(|score| score.criterion);
        for pair in scores.windows(2).filter(|pair| pair[0].criterion == pair[1].criterion) {
            members.fault("scores", format!("has the criterion {} twice", pair[0].criterion));
        }
        Some(scores)
    }

    /// Writes all of them.
    pub(in super::super) fn write(scores: &[Score], object: &mut Object<'_>, _: Texts) {
        object.list("scores", |list| scores.iter().for_each(|score| list.object(|object| score.write(object))));
    }

    /// What they refer to.
    pub(in super::super) fn references(scores: &[Score]) -> impl Iterator<Item = (&'static str, Kind, Slug)> {
        let criteria = scores.iter().map(|score| ("scores", Kind::Criterion, score.criterion));
        criteria.chain(super::users(scores.iter().filter_map(|score| score.comment.as_ref()), "scores"))
    }
}

/// The member `conflict`.
pub(super) mod conflict {
    use super::{Comment, Context, DECLARATIONS, Kind, Members, Object, Slug, Texts};

    /// Reads all comments.
    pub(in super::super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Comment>> {
        let read = members.objects("conflict", DECLARATIONS, Comment::read_members)?;
        Some(read.into_iter().flatten().collect())
    }

    /// Writes all comments.
    pub(in super::super) fn write(comments: &[Comment], object: &mut Object<'_>, _: Texts) {
        object.list("conflict", |list| {
            for comment in comments {
                list.object(|object| comment.write_members(object));
            }
        });
    }

    /// Who wrote them.
    pub(in super::super) fn references(comments: &[Comment]) -> impl Iterator<Item = (&'static str, Kind, Slug)> {
        super::users(comments.iter(), "conflict")
    }
}

/// Who wrote comments.
fn users<'c>(
    comments: impl Iterator<Item = &'c Comment>,
    member: &'static str,
) -> impl Iterator<Item = (&'static str, Kind, Slug)> {
    comments.filter_map(move |comment| Some((member, Kind::User, comment.user?)))
}
