//! Who reviews: people who need not be users, each named once.

use super::REVIEWERS;
use crate::program::{Context, Member, NAME_LENGTH, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members};

/// A reviewer in a program file.
pub(super) const REVIEWER: Shape = Shape::Object(&[
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

pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Reviewer>> {
    let read = members.objects("reviewers", REVIEWERS, |members| {
        let name = members.optional("name", input::text(NAME_LENGTH));
        let email = members.required("email", input::email);
        Some(Reviewer { name: name.unwrap_or_default(), email: email? })
    });
    let reviewers: Vec<Reviewer> = read?.into_iter().flatten().collect();
    for (index, reviewer) in reviewers.iter().enumerate() {
        let is_same = |other: &Reviewer| other.email.eq_ignore_ascii_case(&reviewer.email);
        if reviewers[..index].iter().any(is_same) {
            members.fault("reviewers", format!("has {} twice", reviewer.email));
        }
    }
    Some(reviewers)
}

pub(super) fn write(reviewers: &[Reviewer], object: &mut Object<'_>, _: Texts) {
    object.list("reviewers", |list| {
        for reviewer in reviewers {
            list.object(|object| {
                object.text("name", &reviewer.name);
                object.text("email", &reviewer.email);
            });
        }
    });
}
