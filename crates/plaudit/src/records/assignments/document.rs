//! An assignment as it is shown (contract, section 6).

use serde::Deserialize;

use super::{Assignment, Comment, Sheet, Status, rules};
use crate::program::criteria::Criterion;
use crate::program::score_sets::{Aggregation, Rules, ScoreSet};
use crate::program::store::parse;
use crate::program::{Member, Program, Shape};
use crate::records::assignments::fraction::Fraction;
use db::DbError;
use kernel::document::{self, List, Object};
use kernel::kind::Kind;
use kernel::text::Slug;

const ROUNDS: Shape = Shape::List(&Shape::Ref(Kind::Round), usize::MAX);
const PANELS: Shape = Shape::List(&Shape::Ref(Kind::Panel), usize::MAX);

const fn shown(name: &'static str, shape: Shape, about: &'static str) -> Member {
    Member::optional(name, shape, about)
}

/// What is shown of an assignment.
pub const MEMBERS: &[Member] = &[
    shown("entry", Shape::Component("EntryReference"), "The entry."),
    shown("category", Shape::Ref(Kind::Category), "The category of the entry.").or_gone(),
    shown("chapter", Shape::Ref(Kind::Chapter), "The chapter of the entry.").or_gone(),
    shown("comments", Shape::Component("AssignmentComments"), "What was written; null for nothing.").nullable(),
    shown("created", Shape::Time, "When it was made."),
    shown("form", Shape::Slug, "The form of the entry."),
    shown("method", <super::Method as crate::program::MemberValue>::SHAPE, "What it is."),
    shown("panels", PANELS, "The panels that assign it."),
    shown(
        "judge",
        Shape::Component("Judge"),
        "The judge; null where a role judges, and to judges who are not shown it.",
    )
    .nullable(),
    shown("role", Shape::Ref(Kind::Role), "The role whose users judge; null where a judge does.").nullable(),
    shown("rounds", ROUNDS, "The rounds in which it is judged; none means every judging round of the form."),
    shown("score", Shape::Component("AssignmentScore"), "What the judge gave, by the mode; null for nothing.")
        .nullable(),
    shown("score_set", Shape::Ref(Kind::ScoreSet), "The score set.").or_gone(),
    shown("slug", Shape::Component("AssignmentSlug"), "Its slug; null where it would tell who judges.").nullable(),
    shown("status", <Status as crate::program::MemberValue>::SHAPE, "Where the sheet stands."),
    shown("updated", Shape::Time, "When it was last changed."),
];

/// An assignment with what it shows of its entry and its judge.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The assignment.
    pub assignment: Assignment,
    /// The title of the entry.
    pub title: String,
    /// Its category.
    pub category: Slug,
    /// Its chapter.
    pub chapter: Slug,
    /// Its form.
    pub form: Slug,
    /// The name of the judge.
    pub judge: String,
}

/// The name among the members by which others show a user.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The name of a user, from the members by which others show the user; empty for nobody.
pub fn name_of(names: &str) -> String {
    serde_json::from_str::<Named>(&format!("{{{names}}}")).map(|named| named.name).unwrap_or_default()
}

impl Shown {
    /// From the columns that the list declares.
    pub fn read(program: &Program, texts: &[&str]) -> Result<Self, DbError> {
        let [doc, title, category, chapter, form, names] = texts else {
            return Err(DbError::Failed("an assignment was read without its columns".to_owned()));
        };
        let slug =
            |text: &str| Slug::parse(text).ok_or_else(|| DbError::Failed(format!("a stored slug is broken: {text}")));
        Ok(Self {
            assignment: parse(doc, &program.context)?,
            title: (*title).to_owned(),
            category: slug(category)?,
            chapter: slug(chapter)?,
            form: slug(form)?,
            judge: name_of(names),
        })
    }

    /// The names of others in the document.
    pub fn names(&self) -> [&str; 5] {
        [&self.title, self.category.as_str(), self.chapter.as_str(), self.form.as_str(), &self.judge]
    }

    /// The document.
    pub fn document(&self, program: &Program) -> String {
        self.seen(program, Sheet::WHOLE)
    }

    /// The document of which so much is shown.
    pub fn seen(&self, program: &Program, sheet: Sheet) -> String {
        let assignment = &self.assignment;
        let judge = assignment.judge.filter(|_| sheet.names);
        document::object(|object| {
            object.object("entry", |object| {
                object.named(Kind::Entry, assignment.entry, ("title", &self.title));
            });
            object.reference("category", Kind::Category, self.category);
            object.reference("chapter", Kind::Chapter, self.chapter);
            if sheet.comments {
                self.write_comments(program, sheet.names, object);
            } else {
                object.null("comments");
            }
            object.time("created", assignment.created);
            object.slug("form", self.form);
            object.text("method", assignment.method.name());
            let panels = assignment.panels.iter().filter(|panel| sheet.names && program.panels.any(**panel).is_some());
            object.list("panels", |list| panels.for_each(|panel| list.reference(Kind::Panel, *panel)));
            self.write_judge(judge, "judge", object);
            object.optional_reference("role", Kind::Role, assignment.role);
            let rounds = assignment.rounds.iter().filter(|round| program.rounds.any(**round).is_some());
            object.list("rounds", |list| rounds.for_each(|round| list.reference(Kind::Round, *round)));
            match program.score_sets.any(assignment.score_set) {
                Some(score_set) if sheet.scores => write_score(assignment, score_set, program, object),
                _ => object.null("score"),
            }
            object.reference("score_set", Kind::ScoreSet, assignment.score_set);
            object.optional_text("slug", sheet.names.then_some(assignment.slug.as_str()));
            object.text("status", assignment.status.name());
            object.time("updated", assignment.updated);
        })
    }

    fn write_judge(&self, judge: Option<Slug>, name: &str, object: &mut Object<'_>) {
        match judge {
            Some(judge) => object.object(name, |object| {
                object.named(Kind::User, judge, ("name", &self.judge));
            }),
            None => object.null(name),
        }
    }

    fn write_comments(&self, program: &Program, names: bool, object: &mut Object<'_>) {
        let assignment = &self.assignment;
        let criteria: Vec<(&Criterion, &Comment)> = rules::criteria(program, assignment.score_set)
            .into_iter()
            .filter_map(|criterion| {
                let score = assignment.scores.iter().find(|score| score.criterion == criterion.slug)?;
                Some((criterion, score.comment.as_ref()?))
            })
            .collect();
        let abstention = assignment.abstention.as_slice();
        let abstention = if abstention.iter().any(|comment| comment.comment.is_empty()) { &[] } else { abstention };
        let judging = assignment.comment.as_slice();
        let groups = [("judging", judging), ("abstention", abstention), ("conflict", assignment.conflict.as_slice())];
        if criteria.is_empty() && groups.iter().all(|(_, comments)| comments.is_empty()) {
            return object.null("comments");
        }
        object.object("comments", |object| {
            for (name, comments) in groups {
                object.list(name, |list| comments.iter().for_each(|comment| self.write_comment(comment, names, list)));
            }
            object.list("criteria", |list| {
                for (criterion, comment) in criteria {
                    list.object(|object| {
                        object.translated("name", &criterion.name);
                        object.list("comments", |list| self.write_comment(comment, names, list));
                    });
                }
            });
        });
    }

    fn write_comment(&self, comment: &Comment, names: bool, list: &mut List<'_>) {
        list.object(|object| {
            object.slug("slug", comment.slug);
            object.text("comment", &comment.comment);
            object.time("created_at", comment.created_at);
            object.time("updated_at", comment.updated_at);
            // No other user is known here by name.
            self.write_judge(comment.user.filter(|user| names && Some(*user) == self.assignment.judge), "user", object);
        });
    }
}

fn write_score(assignment: &Assignment, score_set: &ScoreSet, program: &Program, object: &mut Object<'_>) {
    match score_set.rules {
        Rules::Qualifying(_) if let Some(decision) = assignment.decision => {
            object.object("score", |object| object.text("final_decision", decision.name()));
        }
        Rules::TopPick(_) if let Some(preference) = assignment.preference => {
            object.object("score", |object| object.integer("preference", preference));
        }
        Rules::Voting(_) if assignment.votes > 0 => {
            object.object("score", |object| object.integer("total_votes", assignment.votes));
        }
        Rules::VipJudging(rules) if assignment.scores.iter().any(|score| score.value.is_some()) => {
            let criteria = rules::criteria(program, score_set.slug);
            object.object("score", |object| write_points(assignment, rules.aggregation, &criteria, object));
        }
        _ => object.null("score"),
    }
}

fn write_points(assignment: &Assignment, aggregation: Aggregation, criteria: &[&Criterion], object: &mut Object<'_>) {
    object.list("criteria", |list| {
        for criterion in criteria {
            list.object(|object| {
                object.translated("name", &criterion.name);
                let value = rules::points(&assignment.scores, criterion.slug).map(|points| points.to_string());
                write_of(value, &criterion.maximum.to_string(), object);
                object.integer("weight", criterion.weight);
            });
        }
    });
    // What is missing is never counted as nothing.
    let is_whole = rules::status_of_scores(&assignment.scores, criteria) == Status::Complete;
    let value = rules::value(&assignment.scores, aggregation, criteria).filter(|_| is_whole);
    let maximum = rules::maximum(aggregation, criteria).unwrap_or(Fraction::ZERO);
    object.object("total_score", |object| write_of(value.map(Fraction::rounded), &maximum.rounded(), object));
}

/// Points, of how many, and both in one text.
pub(crate) fn write_of(value: Option<String>, maximum: &str, object: &mut Object<'_>) {
    match &value {
        Some(value) => object.raw("value", value),
        None => object.null("value"),
    }
    object.raw("max_score", maximum);
    object.optional_text("final_score", value.map(|value| format!("{value}/{maximum}")).as_deref());
}
