//! The stage of a kind of people's record that nothing else is computed from.

use super::Error;
use super::import::Import;
use crate::log::Action;
use crate::program::{Program, store};
use crate::records::StoredRow;
use crate::records::store::people::{PeopleRecord, change};

impl Import<'_> {
    /// Checks and writes the records of a kind.
    pub(super) async fn people<T: PeopleRecord>(&mut self, program: &Program) -> Result<(), Error> {
        let mut queue = self.begin(T::KIND).await?;
        while let Some(batch) = self.batch(&mut queue).await? {
            for mut item in batch {
                let is_stored = |value: &T, found: &StoredRow| store::stored(value) == found.doc;
                let read = item.read_current::<T>(&program.context, is_stored, &mut self.faults);
                let Some((value, is_same)) = read else { continue };
                self.check_references(&item.location, program, value.references()).await?;
                self.faults.violations(&item.location, &value.check(program));
                if !is_same && self.faults.is_empty() {
                    let done = (Action::Imported, &[][..], item.deleted);
                    change(&mut self.tx, self.id, &self.origin, done, &value).await?;
                    *self.changed.entry(T::KIND).or_default() += 1;
                }
            }
        }
        Ok(())
    }
}
