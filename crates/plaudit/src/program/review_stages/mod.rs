//! Review stages: who has to agree to an entry, outside of judging: a supervisor, a referee, a committee.
//!
//! - A review stage belongs to a season and a form of that season. Where it names categories or chapters it is for their
//!   entries only. The stages of a form are ordered by `order`; the next begins when one has ended with `proceed`.
//! - `timing` says when its tasks are made: `before_submission`, so that an entry is submitted only when every stage
//!   has ended with `proceed`, or `after_submission`.
//! - Its reviewers are the people that it names, and those whose e-mail address an entry gives in one of
//!   `reviewer_fields`, which are fields of the type email and of the form.
//! - A reviewer decides to `proceed` or to `stop`. Before the submission, stopping an entry makes it
//!   `not_approved_for_submission`. After it, `on_proceed` and `on_stop` say what the decision does to the entry.
//! - A task that has waited `reminder_days` is brought to mind.
//! - Review stages are set up by program files; review tasks show them.

mod members;
mod rules;

use super::choice::choices;
use super::tabs::ORDER;
use super::{Context, Member, Program, SetupRecord};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The most reviewers, and the most fields that name some.
pub const REVIEWERS: usize = 1_000;
/// The most categories, or chapters, that a stage names.
pub const PLACES: usize = 10_000;
/// The most days until a reminder.
pub const DAYS: i64 = 3_650;

choices! {
    /// When the tasks of a stage are made.
    pub enum Timing {
        /// Before an entry is submitted.
        BeforeSubmission "before_submission",
        /// When an entry has been submitted.
        AfterSubmission "after_submission",
    }
}

choices! {
    /// What an entry becomes when it may proceed.
    pub enum OnProceed {
        /// Nothing.
        Nothing "none",
        /// Its moderation status is approved.
        Approved "approved",
    }
}

choices! {
    /// What an entry becomes when it is stopped.
    pub enum OnStop {
        /// Nothing.
        Nothing "none",
        /// Its moderation status is rejected.
        Rejected "rejected",
        /// It has to be submitted again.
        ResubmissionRequired "resubmission_required",
    }
}

/// Somebody who reviews, not necessarily a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewer {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// A review stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewStage {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// The form of its entries.
    pub form: Slug,
    /// Its name.
    pub name: Translated,
    /// What reviewers are told.
    pub instructions: Translated,
    /// Its place among the stages of the form.
    pub order: i64,
    /// When its tasks are made.
    pub timing: Timing,
    /// Who reviews every entry.
    pub reviewers: Vec<Reviewer>,
    /// The fields whose answers are the addresses of reviewers.
    pub reviewer_fields: Vec<Slug>,
    /// The categories of its entries; none means every one.
    pub categories: Vec<Slug>,
    /// The chapters of its entries; none means every one.
    pub chapters: Vec<Slug>,
    /// What an entry becomes when it may proceed.
    pub on_proceed: OnProceed,
    /// What an entry becomes when it is stopped.
    pub on_stop: OnStop,
    /// What the decision to proceed is called; `Proceed` where it has no text.
    pub proceed_label: Translated,
    /// What the decision to stop is called; `Stop` where it has no text.
    pub stop_label: Translated,
    /// After how many days a task is brought to mind.
    pub reminder_days: Option<i64>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for ReviewStage {
    const KIND: Kind = Kind::ReviewStage;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name_text = || input::translated(&context.languages, NAME_LENGTH);
        members.link(slug);
        let season = members.required("season", input::slug);
        let form = members.required("form", input::slug);
        let name = members.required("name", name_text());
        let instructions = members.optional("instructions", input::translated(&context.languages, DESCRIPTION_LENGTH));
        let order = members.optional("order", input::integer(0..=ORDER));
        let timing = members.required("timing", input::one_of(Timing::CHOICES));
        let reviewers = read_reviewers(members);
        let reviewer_fields = members.optional("reviewer_fields", input::slugs(REVIEWERS)).unwrap_or_default();
        let names_none = members.get("reviewers").is_none_or(|json| json.as_array().is_some_and(<[_]>::is_empty));
        if names_none && reviewer_fields.is_empty() {
            members.fault("reviewers", "is required, unless reviewer_fields are given");
        }
        let categories = members.optional("categories", input::slugs(PLACES));
        let chapters = members.optional("chapters", input::slugs(PLACES));
        let on_proceed = members.optional("on_proceed", input::one_of(OnProceed::CHOICES));
        let on_stop = members.optional("on_stop", input::one_of(OnStop::CHOICES));
        for (member, does_something) in [
            ("on_proceed", on_proceed.is_some_and(|on_proceed| on_proceed != OnProceed::Nothing)),
            ("on_stop", on_stop.is_some_and(|on_stop| on_stop != OnStop::Nothing)),
        ] {
            if does_something && timing == Some(Timing::BeforeSubmission) {
                members.fault(member, "must be none or left out where the timing is before_submission");
            }
        }
        let proceed_label = members.optional("proceed_label", name_text());
        let stop_label = members.optional("stop_label", name_text());
        let reminder_days = members.nullable("reminder_days", input::integer(1..=DAYS));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            form: form?,
            name: name?,
            instructions: instructions.unwrap_or_default(),
            order: order.unwrap_or(0),
            timing: timing?,
            reviewers,
            reviewer_fields,
            categories: categories.unwrap_or_default(),
            chapters: chapters.unwrap_or_default(),
            on_proceed: on_proceed.unwrap_or(OnProceed::Nothing),
            on_stop: on_stop.unwrap_or(OnStop::Nothing),
            proceed_label: proceed_label.unwrap_or_default(),
            stop_label: stop_label.unwrap_or_default(),
            reminder_days: reminder_days.flatten(),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.slug("form", self.form);
        object.locales("name", &self.name);
        object.locales("instructions", &self.instructions);
        object.integer("order", self.order);
        object.text("timing", self.timing.name());
        object.list("reviewers", |list| {
            for reviewer in &self.reviewers {
                list.object(|object| {
                    object.text("name", &reviewer.name);
                    object.text("email", &reviewer.email);
                });
            }
        });
        object.slugs("reviewer_fields", &self.reviewer_fields);
        object.slugs("categories", &self.categories);
        object.slugs("chapters", &self.chapters);
        object.text("on_proceed", self.on_proceed.name());
        object.text("on_stop", self.on_stop.name());
        object.locales("proceed_label", &self.proceed_label);
        object.locales("stop_label", &self.stop_label);
        object.optional_integer("reminder_days", self.reminder_days);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        let mut references = vec![("season", Kind::Season, self.season), ("form", Kind::Form, self.form)];
        for (member, kind, slugs) in [
            ("reviewer_fields", Kind::Field, &self.reviewer_fields),
            ("categories", Kind::Category, &self.categories),
            ("chapters", Kind::Chapter, &self.chapters),
        ] {
            references.extend(slugs.iter().map(|slug| (member, kind, *slug)));
        }
        references
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}

fn read_reviewers(members: &mut Members<'_>) -> Vec<Reviewer> {
    let read = members.objects("reviewers", REVIEWERS, |members| {
        let name = members.optional("name", input::text(NAME_LENGTH));
        let email = members.required("email", kernel::input::email);
        Some(Reviewer { name: name.unwrap_or_default(), email: email? })
    });
    let reviewers: Vec<Reviewer> = read.unwrap_or_default().into_iter().flatten().collect();
    for (index, reviewer) in reviewers.iter().enumerate() {
        let is_same = |other: &Reviewer| other.email.eq_ignore_ascii_case(&reviewer.email);
        if reviewers[..index].iter().any(is_same) {
            members.fault("reviewers", format!("has {} twice", reviewer.email));
        }
    }
    reviewers
}
