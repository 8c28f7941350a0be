//! A publication as it is shown.

use super::{Head, Publication};
use crate::program::{Member, MemberValue as _, Shape};
use kernel::document::{List, Object};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

const fn shown(name: &'static str, shape: Shape, about: &'static str) -> Member {
    Member::optional(name, shape, about)
}

const HEAD: Shape = Shape::Object(&[
    Member::required("sequence", Shape::Integer(0, i64::MAX), "The number of the last change."),
    Member::required("hash", Shape::Pattern("^[0-9a-f]{64}$"), "Its hash.")
        .example("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
]);

/// What is shown of a publication.
pub const MEMBERS: &[Member] = &[
    shown("slug", Shape::Slug, "Its slug."),
    shown("score_set", Shape::Ref(Kind::ScoreSet), "The score set."),
    shown("published", Timestamp::SHAPE, "When it was published."),
    shown("embargo_until", Timestamp::SHAPE, "Until when only managers and auditors see it; null for no embargo.")
        .nullable(),
    shown("feedback", Shape::Flag, "Whether entrants see what judges wrote about their entries."),
    shown("head", HEAD, "Where the change log stood; null for whoever does not see everything.").nullable(),
    shown(
        "bundle",
        Shape::Component("Link"),
        "The address of the result bundle; null for whoever does not see everything.",
    )
    .nullable(),
    shown(
        "places",
        Shape::Component("PublishedPlaces"),
        "The entries in their order, those that are in the trash left out.",
    )
    .in_single_reads(),
    shown(
        "comments",
        Shape::Component("PublishedComments"),
        "What judges wrote about entries of the person of the key.",
    )
    .in_single_reads(),
];

/// The members that every answer shows.
pub(super) struct Shown {
    pub(super) slug: Slug,
    pub(super) score_set: Slug,
    pub(super) published: Timestamp,
    pub(super) embargo_until: Option<Timestamp>,
    pub(super) feedback: bool,
    pub(super) head: Head,
}

impl Shown {
    pub(super) fn write(&self, is_whole: bool, object: &mut Object<'_>) {
        object.slug("slug", self.slug);
        object.reference("score_set", Kind::ScoreSet, self.score_set);
        object.time("published", self.published);
        object.optional_time("embargo_until", self.embargo_until);
        object.flag("feedback", self.feedback);
        if is_whole {
            object.object("head", |object| {
                object.integer("sequence", self.head.sequence);
                object.text("hash", &self.head.hash);
            });
            object.link("bundle", Kind::Publication, &format!("{}/bundle", self.slug));
        } else {
            object.null("head");
            object.null("bundle");
        }
    }
}

/// An entry that has a place, or none.
#[derive(Clone, Debug)]
pub struct PlacedEntry {
    /// Its slug.
    pub slug: Slug,
    /// Its title.
    pub title: String,
    /// Its place; nothing for none.
    pub rank: Option<i64>,
}

/// What a judge wrote about an entry.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The name of the criterion; nothing for the whole entry.
    pub criterion: Option<Translated>,
    /// The text.
    pub comment: String,
}

/// What is seen of a publication besides what every answer shows.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Whether everything is.
    pub is_whole: bool,
    /// The entries in the order of their places.
    pub places: Vec<PlacedEntry>,
    /// The own entries with what was written about them.
    pub comments: Vec<(PlacedEntry, Vec<Remark>)>,
}

impl PlacedEntry {
    fn write(&self, object: &mut Object<'_>) {
        object.object("entry", |object| {
            object.named(Kind::Entry, self.slug, ("title", &self.title));
        });
    }
}

impl Publication {
    /// The document.
    pub fn document(&self, seen: &Seen) -> String {
        kernel::document::object(|object| {
            let Self { slug, score_set, published, embargo_until, feedback, head, .. } = self.clone();
            let shown = Shown { slug, score_set, published, embargo_until, feedback, head };
            shown.write(seen.is_whole, object);
            object.list("places", |list| {
                for place in &seen.places {
                    list.object(|object| {
                        place.write(object);
                        object.optional_integer("rank", place.rank);
                    });
                }
            });
            object.list("comments", |list| {
                for (entry, remarks) in &seen.comments {
                    list.object(|object| {
                        entry.write(object);
                        object.list("comments", |list| remarks.iter().for_each(|remark| remark.write(list)));
                    });
                }
            });
        })
    }
}

impl Remark {
    fn write(&self, list: &mut List<'_>) {
        list.object(|object| {
            match &self.criterion {
                Some(name) => object.translated("criterion", name),
                None => object.null("criterion"),
            }
            object.text("comment", &self.comment);
        });
    }
}
