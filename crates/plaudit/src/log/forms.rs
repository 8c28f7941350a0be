//! The forms of stored documents: which is written, which are read, and the steps from each to the next.
//!
//! - Beside every document stands the number of its form, in its row as in the log.
//! - The log keeps every document as it was written, because the chain has its hash. Whoever reads documents of the log gets
//!   them in the form that is written now, so that steps are never taken away.
//! - Rows are rewritten, some at a time, while they are read and written. Until all are, a kind reads both forms.
//! - How a form is brought in, so that two versions serve one database, is told in `docs/database.md`.

use std::borrow::Cow;

use db::DbError;
use kernel::kind::Kind;

/// A step from one form of a kind's documents to a later one.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The form that it makes, of which every earlier one is made.
    pub form: i64,
    /// Whose documents it rewrites.
    pub kind: Kind,
    /// Rewrites the text of a document, or of a part of one: the second document that only single reads show stands in a
    /// row by itself, and in the log in the document's midst. A text that has the form already stays as it is: an older
    /// version may copy a part of a document into one that it writes.
    pub rewrite: fn(&str) -> Result<String, String>,
}

/// The forms of documents that a program knows.
#[derive(Clone, Copy, Debug)]
pub struct Forms {
    /// The form that is written. Documents of rows in an earlier one are rewritten while the service runs.
    pub written: i64,
    /// The oldest form in which rows are read. Those in an earlier one are rewritten before the service starts.
    pub oldest: i64,
    /// The steps, by form. There may be some beyond the form that is written, for a later version that writes it.
    pub steps: &'static [Step],
}

/// The form of the documents that are written.
pub const FORM: i64 = 1;

/// The forms that this program knows.
pub const FORMS: Forms = Forms { written: FORM, oldest: 1, steps: &[] };

impl Forms {
    /// The kinds that have steps up to a form, each with the last form that one makes.
    pub fn changed(&self, to: i64) -> impl Iterator<Item = (Kind, i64)> {
        let steps = self.steps;
        let last = move |kind| steps.iter().rfind(move |step| step.kind == kind && step.form <= to);
        Kind::ALL.into_iter().filter_map(move |kind| Some((kind, last(kind)?.form)))
    }

    /// Whether a row may have one form where its last change has another: a step made it.
    pub fn may_have(&self, kind: Kind, (from, to): (i64, i64)) -> bool {
        from == to || (from < to && self.steps.iter().any(|step| step.kind == kind && step.form == to))
    }

    /// A document of the log, unless it was erased, in the form that is written.
    pub fn logged(&self, kind: Kind, form: i64, document: Option<&str>) -> Result<Option<String>, DbError> {
        document.map(|document| Ok(self.rewritten(kind, document, (form, self.written))?.into_owned())).transpose()
    }

    /// What is stored of a record and goes into another document of it, in the form that is written. What has that form
    /// already stays as it is: a step leaves alone what it has nothing to do with.
    pub fn copied<'t>(&self, kind: Kind, text: &'t str) -> Result<Cow<'t, str>, DbError> {
        self.rewritten(kind, text, (0, self.written))
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
}
