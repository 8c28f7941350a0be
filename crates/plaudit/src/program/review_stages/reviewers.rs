//! Who reviews: people who need not be users, each named once.

use super::REVIEWERS;
use crate::program::{Context, Member, NAME_LENGTH, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members};

/// A reviewer in a program file.
pub(crate) const REVIEWER: Shape = Shape::Object(&[
    Member::optional("name", Shape::Text(NAME_LENGTH), "What the person is called."),
    Member::required("email", Shape::Pattern("^[^@\\s]+@[^@\\s]+$"), "The e-mail address."),
]);

/// Somebody who reviews, not necessarily a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewer {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// Reads a member that is a list of reviewers.
pub(crate) fn read_list(members: &mut Members<'_>, name: &str, most: usize) -> Option<Vec<Reviewer>> {
    let read = members.objects(name, most, |members| {
        let name = members.optional("name", input::text(NAME_LENGTH));
        let email = members.required("email", input::email);
        Some(Reviewer { name: name.unwrap_or_default(), email: email? })
    });
    Some(read?.into_iter().flatten().collect())
}

pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Reviewer>> {
    let reviewers = read_list(members, "reviewers", REVIEWERS)?;
    for (index, reviewer) in reviewers.iter().enumerate() {
        let is_same = |other: &Reviewer| other.email.eq_ignore_ascii_case(&reviewer.email);
        if reviewers[..index].iter().any(is_same) {
            members.fault("reviewers", format!("has {} twice", reviewer.email));
        }
    }
    Some(reviewers)
}

/// Writes such a member.
pub(crate) fn write_list(reviewers: &[Reviewer], object: &mut Object<'_>, name: &str) {
    object.list(name, |list| {
        for reviewer in reviewers {
            list.object(|object| {
                object.text("name", &reviewer.name);
                object.text("email", &reviewer.email);
            });
        }
    });
}

pub(super) fn write(reviewers: &[Reviewer], object: &mut Object<'_>, _: Texts) {
    write_list(reviewers, object, "reviewers");
}
