//! The review tasks of a file.

use super::Error;
use super::import::{Import, Item};
use crate::program::{Program, RecordMembers as _, store};
use crate::records::StoredRow;
use crate::records::entries;
use crate::records::review_tasks::ReviewTask;
use kernel::input::Members;
use kernel::json::Json;
use kernel::text::Token;

impl Import<'_> {
    /// Checks and writes a review task. What its decision did stands in its entry, which the file has as well.
    pub(super) async fn review_task(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let Some(token) = Token::parse(&item.location.name) else { return Ok(()) };
        let reader = |members: &mut Members<'_>| ReviewTask::read(members, token.clone(), &program.context);
        let is_stored = |value: &ReviewTask, found: &StoredRow| store::stored_as(value, found.deleted) == found.doc;
        let read = item.read_current(&program.context, reader, is_stored, &mut self.faults);
        let Some((task, is_same)) = read else { return self.check_unread(&item, ReviewTask::MEMBERS, program).await };
        self.check_references(&item.location, program, task.references()).await?;
        self.check_of_entry(&item, &task).await?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_record(&item, task).await
    }

    /// Tells of a season and a category that are not those of the entry, which comes before its tasks.
    async fn check_of_entry(&mut self, item: &Item, task: &ReviewTask) -> Result<(), Error> {
        let stated = ["season", "category"].map(|member| (member, item.object.get(member).and_then(Json::as_str)));
        if stated.iter().all(|(_, stated)| stated.is_none()) {
            return Ok(());
        }
        let found = entries::store::season_and_category(&mut self.tx, self.id, task.entry).await?;
        let Some((season, category)) = found else { return Ok(()) };
        for ((member, stated), of_entry) in stated.into_iter().zip([season, category]) {
            if stated.is_some_and(|stated| stated != of_entry.as_str()) {
                let message = format!("is computed and must be {of_entry}, the {member} of the entry, or left out");
                self.faults.member(&item.location, member, message);
            }
        }
        Ok(())
    }
}
