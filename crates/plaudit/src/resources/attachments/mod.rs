//! Requests to attachments.

pub mod upload;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::lists::List;
use crate::program::{self, Program};
use crate::records::entries::Entry;
use crate::records::entries::attachments::list::LIST;
use crate::records::entries::attachments::{Attachment, rules};
use crate::records::files;
use crate::resources::entry_children::{self, EntryChild};
use crate::resources::people_list::people_list;
use crate::services::App;
use db::{AccountId, DbError, Source, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// The routes of attachments.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of attachments of entries that are not in the trash. Without `order` what was changed last comes \
                 first.";
    OpenApiRouter::new()
        .routes(people_list(("GetAttachmentCollectionV23", "Attachments"), about, &LIST, |caller, renderer, texts| {
            renderer.seen(entry_children::sight(caller, texts)?);
            Ok(renderer.item(&Attachment::document(caller.program(), texts)?.0, None)?)
        }))
        .routes(entry_children::show::<Attachment>("GetAttachmentV23", "An attachment."))
        .routes(entry_children::update::<Attachment>("PutAttachmentV23"))
        .routes(entry_children::delete::<Attachment>(
            "DeleteAttachmentV23",
            "Puts an attachment into the trash. Its file stays.",
        ))
        .routes(entry_children::update_field::<Attachment>("PutAttachmentUpdateFieldV23"))
        .routes(routes!(upload::upload))
}

impl EntryChild for Attachment {
    const GROUP: &'static str = "Attachments";
    const ANSWERS: &'static str = "attachment_fields";
    const LIST: &'static List = &LIST;
    type Given = rules::Given;

    fn entry(&self) -> Slug {
        self.entry
    }

    fn answers(given: &mut Self::Given) -> &mut Option<JsonObject<'static>> {
        &mut given.attachment_fields
    }

    fn read_update(body: &JsonObject<'_>) -> (Self::Given, Violations) {
        rules::read_update(body)
    }

    fn read_answer(body: &JsonObject<'_>, field: Slug) -> (Self::Given, Violations) {
        rules::read_answer(body, field)
    }

    fn updated(
        &self,
        program: &Program,
        head: &Entry,
        given: (Self::Given, Violations),
        now: Timestamp,
    ) -> Result<Self, Violations> {
        rules::update(program, head, self, given, now)
    }

    fn document(program: &Program, texts: &[&str]) -> Result<(String, [String; 2]), DbError> {
        let attachment = program::store::parse(texts[0], &program.context)?;
        let filename = if texts[2].is_empty() { String::new() } else { files::store::facts(texts[2])?.filename };
        Ok((rules::document(&attachment, texts[1], &filename), [texts[1].to_owned(), filename]))
    }

    async fn shown(&self, tx: &mut Tx, account: AccountId, head: &Entry) -> Result<(String, [String; 2]), DbError> {
        let names = files::store::names(account, Source::Snapshot(tx), std::slice::from_ref(&self.token)).await?;
        let filename = names.into_iter().next().map(|(_, filename)| filename).unwrap_or_default();
        Ok((rules::document(self, &head.title, &filename), [head.title.clone(), filename]))
    }
}
