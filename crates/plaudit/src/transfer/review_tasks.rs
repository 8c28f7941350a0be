//! The review tasks of a file.

use super::Error;
use super::import::{Import, Item};
use crate::program::{Program, RecordMembers as _, store};
use crate::records::StoredRow;
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
        let season = program.review_stages.any(task.review_stage).map(|stage| stage.season);
        if let (Some(stated), Some(season)) = (item.object.get("season").and_then(Json::as_str), season)
            && stated != season.as_str()
        {
            let message = format!("is computed and must be {season}, the season of the review stage, or left out");
            self.faults.member(&item.location, "season", message);
        }
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        self.write_record(&item, task).await
    }
}
