//! Prices: what an entry, a person, a tag or a ticket costs, in each currency that it can be paid in.
//!
//! - A price belongs to a season. Where it names categories or chapters, which are of the same season, it is that of
//!   their entries only. A price of the type `tag` names the tag.
//! - An amount is exact in minor units and not below nothing.
//! - A currency may have several amounts, each `from` a time of the account's time zone on: the price switches over by
//!   itself ([`Price::amount_at`]). An amount without `from` holds before that; a currency without one cannot be paid
//!   in until its first begins.
//! - A time that comes twice because clocks are put back is the first of the two.
//! - Prices are set up by program files; lines of orders show their slug, link and title.

mod amounts;
mod rules;

pub(in crate::program) use amounts::{AMOUNT, read_amounts, write_amounts};
pub use amounts::{AMOUNTS, Amount};

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The most categories, or chapters, that a price names.
pub const PLACES: usize = 10_000;

choices! {
    /// What is paid for.
    pub enum PriceType {
        /// Each entry.
        Entry "entry",
        /// Each person who enters, once a season.
        Entrant "entrant",
        /// Each entry with a tag.
        Tag "tag",
        /// A ticket.
        Ticket "ticket",
    }
}

choices! {
    /// For whom a price is.
    pub enum MemberStatus {
        /// For everybody.
        All "all",
        /// For those who have a number of a member.
        Only "only",
        /// For those who have none.
        None "none",
    }
}

/// A price.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link()), check = check_tag(kind, tag))]
pub struct Price {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// What it is called.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub title: Translated,
    /// What is paid for; entry if left out.
    #[member(name = "type", default = PriceType::Entry)]
    pub kind: PriceType,
    /// The tag of the entries that it is for, for the type tag.
    #[member(FilledText(NAME_LENGTH), only_with("type", "tag"))]
    pub tag: Option<String>,
    /// The categories of the entries that it is for; none means every one.
    #[member(Set(&Shape::Ref(Kind::Category), PLACES))]
    pub categories: Vec<Slug>,
    /// The chapters of the entries that it is for; none means every one.
    #[member(Set(&Shape::Ref(Kind::Chapter), PLACES))]
    pub chapters: Vec<Slug>,
    /// Whether it is for members; all if left out.
    #[member(name = "members", default = MemberStatus::All)]
    pub member_status: MemberStatus,
    /// The amounts; a currency may have several, each from another time on.
    #[member(List(&AMOUNT, AMOUNTS), with = amounts, default = Vec::new())]
    pub amounts: Vec<Amount>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// A price names a tag where it is that of a tag.
fn check_tag(members: &mut Members<'_>, kind: Option<&PriceType>, tag: Option<&Option<String>>) {
    if (kind == Some(&PriceType::Tag)) != tag.is_some_and(Option::is_some) {
        members.fault("tag", "is required for a price of the type tag, and for no other");
    }
}
