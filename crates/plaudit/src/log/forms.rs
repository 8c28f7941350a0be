//! The forms of stored documents: which is written, which are read, and the steps from each to the next.
//!
//! - Beside every document stands the number of its form, in its row as in the log.
//! - The log keeps every document as it was written, because the chain has its hash. A reader of the log gets documents in the
//!   form that is written now, so steps are never removed.
//! - Rows are rewritten some at a time, while they are read and written. Until all are, the readers of a kind take both forms.
//! - How a form is introduced, so that two versions serve one database, is described in `docs/database.md`.

use std::borrow::Cow;

use db::DbError;
use kernel::kind::Kind;

/// A step from the form before it to a later one.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The form that documents have after it.
    pub form: i64,
    /// The kind whose documents it rewrites.
    pub kind: Kind,
    /// Rewrites a text: a document, or in a row one of its two parts. A text that has the form already stays as it is,
    /// because an older version may copy a part of a newer document into one that it writes.
    pub rewrite: fn(&str) -> Result<String, String>,
}

/// The forms of documents that a program knows.
#[derive(Clone, Copy, Debug)]
pub struct Forms {
    /// The form that is written. Documents of rows in an earlier one are rewritten while the service runs.
    pub written: i64,
    /// The oldest form in which rows are read. Those in an earlier one are rewritten before the service starts.
    pub oldest: i64,
    /// The steps, by form. A step beyond the form that is written serves `doctor` beside a later version, which writes it.
    pub steps: &'static [Step],
}

/// The form of the documents that are written.
pub const FORM: i64 = 1;

/// The forms that this program knows.
pub const FORMS: Forms = Forms { written: FORM, oldest: 1, steps: &[] };

impl Forms {
    /// The last form up to `to` that documents of this kind can have; 0 where no step makes one.
    pub fn last(&self, kind: Kind, to: i64) -> i64 {
        let forms = self.steps.iter().filter(|step| step.kind == kind).map(|step| step.form);
        forms.filter(|form| *form <= to).max().unwrap_or_default()
    }

    /// Whether a row may have one form where its last change has another: a step made it.
    pub fn may_have(&self, kind: Kind, (from, to): (i64, i64)) -> bool {
        from == to || (from < to && self.last(kind, to) == to)
    }

    /// A text of a record of this kind, from one form to another.
    pub fn rewritten<'t>(&self, kind: Kind, text: &'t str, (from, to): (i64, i64)) -> Result<Cow<'t, str>, DbError> {
        let mut text = Cow::Borrowed(text);
        for step in self.steps.iter().filter(|step| step.kind == kind && step.form > from && step.form <= to) {
            let rewritten = (step.rewrite)(&text);
            text = Cow::Owned(rewritten.map_err(|error| DbError::Failed(format!("to form {}: {error}", step.form)))?);
        }
        Ok(text)
    }

    /// A document of the log in the form that is written; as it was logged where a step cannot rewrite it, so that the changes
    /// after it are read.
    pub fn logged(&self, kind: Kind, form: i64, document: &str) -> String {
        match self.rewritten(kind, document, (form, self.written)) {
            Ok(document) => document.into_owned(),
            Err(error) => {
                tracing::error!(%kind, form, %error, "a document of the log cannot be rewritten");
                document.to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffixed(suffix: &str, text: &str) -> Result<String, String> {
        if text == "broken" { Err("it is broken".to_owned()) } else { Ok(format!("{text} {suffix}")) }
    }

    const STEPS: Forms = Forms {
        written: 3,
        oldest: 1,
        steps: &[
            Step { form: 2, kind: Kind::User, rewrite: |text| suffixed("two", text) },
            Step { form: 3, kind: Kind::Order, rewrite: |text| suffixed("of an order", text) },
            Step { form: 3, kind: Kind::User, rewrite: |text| suffixed("three", text) },
            Step { form: 4, kind: Kind::User, rewrite: |text| suffixed("four", text) },
        ],
    };

    #[test]
    fn a_text_takes_the_steps_of_its_kind_between_two_forms() {
        for ((from, to), expected) in
            [((1, 1), "a"), ((1, 2), "a two"), ((1, 3), "a two three"), ((2, 4), "a three four"), ((4, 3), "a")]
        {
            assert_eq!(STEPS.rewritten(Kind::User, "a", (from, to)).unwrap(), expected);
        }
        assert_eq!(STEPS.rewritten(Kind::Entry, "a", (1, 4)).unwrap(), "a");
        let error = STEPS.rewritten(Kind::User, "broken", (2, 3)).unwrap_err();
        assert_eq!(error, DbError::Failed("to form 3: it is broken".to_owned()));
    }

    #[test]
    fn a_document_of_the_log_has_the_form_that_is_written_unless_a_step_cannot_rewrite_it() {
        assert_eq!(STEPS.logged(Kind::User, 1, "a"), "a two three");
        assert_eq!(STEPS.logged(Kind::User, 4, "a"), "a");
        assert_eq!(STEPS.logged(Kind::User, 1, "broken"), "broken");
    }

    #[test]
    fn a_row_has_the_form_of_its_last_change_or_one_that_a_step_makes() {
        assert_eq!([1, 2, 3, 4].map(|to| STEPS.last(Kind::User, to)), [0, 2, 3, 4]);
        assert_eq!([2, 3].map(|to| STEPS.last(Kind::Order, to)), [0, 3]);
        assert!(STEPS.may_have(Kind::Order, (2, 3)) && STEPS.may_have(Kind::Entry, (2, 2)));
        assert!(!STEPS.may_have(Kind::Order, (1, 2)) && !STEPS.may_have(Kind::User, (3, 2)));
    }
}
