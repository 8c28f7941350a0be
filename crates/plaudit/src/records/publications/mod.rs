//! Publications: the result of a score set as it stood at one change of the account, with what it was made of.
//!
//! - What is published stays: the places, and the result bundle ([`bundle`]), are stored with the publication and never made again.
//!   Whoever needs another result publishes again.
//! - Until the embargo ends only who sees everything sees a publication; afterwards everybody sees its places, and with `feedback`
//!   entrants see what judges wrote about their own entries. The comments are those that the counted sheets have when they are read.
//! - A publication that was withdrawn is in the trash.

pub mod bundle;
mod document;
mod inputs;
mod list;
mod results;
pub mod store;
pub mod verify;

pub use document::{MEMBERS, PlacedEntry, Remark, Seen};
pub use list::LISTED;
pub(crate) use list::{LIST, document_of, listed};

use crate::lists::Table;
use crate::program::{Context, Member, MemberValue, Record, RecordMembers, Shape, Texts};
use crate::records::people::PeopleRecord;
use db::Value;
use kernel::document::Object;
use kernel::input::{Members, Violations, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The longest bundle, in characters: as much as the documents of a page may have.
pub const BUNDLE_LENGTH: usize = 64 << 20;

/// A publication, as program files have it.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = check_bundle(score_set, head, bundle))]
pub struct Publication {
    /// Its slug.
    pub slug: Slug,
    /// The score set.
    #[member(Ref(Kind::ScoreSet), required)]
    pub score_set: Slug,
    /// When it was published.
    pub published: Timestamp,
    /// Until when it is for managers and auditors alone; null for no embargo.
    pub embargo_until: Option<Timestamp>,
    /// Whether entrants see what judges wrote about their entries.
    pub feedback: bool,
    /// Where the change log stood.
    #[member(required)]
    pub head: Head,
    /// The signed result bundle, as it is given out.
    #[member(FilledText(BUNDLE_LENGTH), required)]
    pub bundle: String,
}

/// A change of the account: what the log is up to it.
#[derive(Clone, Debug, PartialEq, Eq, Record, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Its SHA-256 in hexadecimal digits.
    #[member(FilledText(64), required)]
    pub hash: String,
    /// Its number; 0 before the first change.
    #[member(Integer(0, i64::MAX), required)]
    pub sequence: i64,
}

impl MemberValue for Head {
    const SHAPE: Shape = Shape::Object(Self::MEMBERS);

    fn read(json: &Json, _: &Shape, context: &Context) -> Result<Self, Wrong<Self>> {
        let Json::Object(object) = json else { return Err("must be an object".to_owned().into()) };
        let mut members = Members::closed(object);
        // It has no slug of its own.
        let nobody = Slug::from_letters(*b"HeadAAAA");
        let head = nobody.and_then(|slug| <Self as RecordMembers>::read(&mut members, slug, context));
        members.finish().or(head).map_err(Violations::of_part)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.object(member.name, |object| <Self as RecordMembers>::write(self, object));
    }
}

/// The bundle is of the same score set and the same change.
fn check_bundle(members: &mut Members<'_>, score_set: Option<&Slug>, head: Option<&Head>, bundle: Option<&String>) {
    let Some(((score_set, head), bundle)) = score_set.zip(head).zip(bundle) else { return };
    match bundle::told(bundle) {
        Ok(told) if told.head != *head => members.fault("head", "must be that of the bundle"),
        Ok(told) if told.score_set != *score_set => members.fault("score_set", "must be that of the bundle"),
        Ok(_) => {}
        Err(error) => members.fault("bundle", format!("is no result bundle: {error}")),
    }
}

impl Publication {
    /// Whether it is seen at a time by whoever does not see everything.
    pub fn is_public(&self, now: Timestamp) -> bool {
        self.embargo_until.is_none_or(|end| end <= now)
    }
}

impl PeopleRecord for Publication {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![
            self.score_set.into(),
            self.published.as_microseconds().into(),
            self.embargo_until.map_or(list::NO_EMBARGO, Timestamp::as_microseconds).into(),
            self.feedback.into(),
            self.head.sequence.into(),
            self.head.hash.clone().into(),
        ]
    }
}

#[cfg(test)]
mod tests;
