//! Making documents: the job `documents`, which makes one of each selected record by a template.
//!
//! - A template finds records as a single read of the interface shows them to a manager ([`facts`]), with texts in the language of
//!   whom the document is for, where the account and the template have it.
//! - Documents are made some at a time: their files are announced, stored, and recorded in one transaction with the documents
//!   ([`making`]). So each is there once, whatever node dies when; what is stored and never recorded is swept.
//! - What is wrong with a template, or is no longer there, is an error of the job and loses no other document.

mod board;
mod facts;
mod making;
pub mod store;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::jobs::{Patience, Work};
use crate::program::document_templates::FileType;
use kernel::text::Slug;

pub use making::preview;

/// The job that makes documents.
pub const WORK: Work = Work { kind: "documents", patience: Patience::MINUTES, run: |run| Box::pin(making::work(run)) };

/// What the job is told.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Input {
    /// The template.
    pub template: Slug,
    /// The name of the type of the files.
    pub file_type: String,
    /// The records, by slug.
    pub selected: Vec<String>,
    /// The name, by the code of its language.
    pub name: BTreeMap<String, String>,
    /// The description, the same.
    pub description: BTreeMap<String, String>,
    /// Whether documents are shared with whom they are for.
    pub shared: bool,
    /// Whether these are written to.
    pub notification: bool,
    /// Who asked for it, as the log names actors.
    pub actor: String,
}

impl Input {
    /// As a job is told.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    fn file_type(&self) -> Option<FileType> {
        FileType::CHOICES.iter().find(|(name, _)| *name == self.file_type).map(|(_, file_type)| *file_type)
    }
}
