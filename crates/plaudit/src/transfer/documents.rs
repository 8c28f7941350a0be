//! The documents of a file.

use super::Error;
use super::import::{Import, Item};
use crate::program::{Context, Program, RecordMembers as _, store};
use crate::records::StoredRow;
use crate::records::documents::Document;
use kernel::kind::Kind;

impl Import<'_> {
    /// Checks and writes a document, which keeps languages that the account has given up since.
    pub(super) async fn document(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let context = Context::any_language(program.context.now);
        let is_stored = |value: &Document, found: &StoredRow| store::stored_as(value, found.deleted) == found.doc;
        let read = item.read_record::<Document>(&context, is_stored, &mut self.faults);
        let Some((document, is_same)) = read else { return self.check_unread(&item, Document::MEMBERS, program).await };
        self.check_references(&item.location, program, document.references()).await?;
        if !self.has(Kind::File, document.file.as_str()).await? {
            self.faults.member(&item.location, "file", format!("there is no file {}", document.file));
        }
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_record(&item, document).await
    }
}
