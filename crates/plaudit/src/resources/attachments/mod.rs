//! Requests to attachments.

pub mod upload;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, Path, Reply};
use crate::program::{Context, Program, Record};
use crate::records::entries::Entry;
use crate::records::entries::attachments::list::LIST;
use crate::records::entries::attachments::{Attachment, rules, store};
use crate::records::files;
use crate::resources::entry_children::{self, EntryChild};
use crate::resources::people_list::people_list;
use crate::services::App;
use db::{AccountId, DbError, Source, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token};

/// The routes of attachments.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of attachments of entries that are not in the trash. Without `order` what was changed last comes \
                 first.";
    OpenApiRouter::new()
        .routes(people_list(("GetAttachmentCollectionV23", "Attachments"), about, &LIST, |program, renderer, texts| {
            renderer.item(&document(program, texts[0], texts[1], texts[2])?.0, None);
            Ok(())
        }))
        .routes(routes!(show))
        .routes(entry_children::update::<Attachment>("PutAttachmentV23"))
        .routes(entry_children::delete::<Attachment>(
            "DeleteAttachmentV23",
            "Puts an attachment into the trash. Its file stays.",
        ))
        .routes(entry_children::update_field::<Attachment>("PutAttachmentUpdateFieldV23"))
        .routes(routes!(upload::upload))
}

/// What is shown of an attachment, and the name of its file.
fn document(program: &Program, doc: &str, title: &str, file: &str) -> Result<(String, String), DbError> {
    let attachment = store::parse(doc, &program.context)?;
    let filename = if file.is_empty() { String::new() } else { files::store::facts(file)?.filename };
    Ok((rules::document(&attachment, title, &filename), filename))
}

/// An attachment.
#[utoipa::path(get, path = "/attachment/{token}", operation_id = "GetAttachmentV23", tag = "Attachments")]
pub async fn show(caller: Caller, Path(token): Path<Token>) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = store::find(&caller.app().db, caller.account(), &token).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, shown) = found.ok_or(ApiError::NotFound)?;
    let file = shown.file.unwrap_or_default();
    let (document, filename) = document(program, &shown.doc, &shown.title, &file)?;
    Ok(Reply::ok(document, revision).naming(&[&shown.title, &filename]))
}

impl EntryChild for Attachment {
    const KIND: Kind = Kind::Attachment;
    const GROUP: &'static str = "Attachments";
    type Id = Token;
    type Given = rules::Given;

    fn id(&self) -> &str {
        self.token.as_str()
    }

    fn entry(&self) -> Slug {
        self.entry
    }

    fn stored(&self) -> String {
        Self::stored(self)
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

    async fn find_for_update(
        tx: &mut Tx,
        account: AccountId,
        token: &Token,
        context: &Context,
    ) -> Result<Option<Record<Self>>, DbError> {
        store::find_for_update(tx, account, token, context).await
    }

    async fn put(tx: &mut Tx, account: AccountId, record: &Record<Self>) -> Result<(), DbError> {
        store::put(tx, account, record).await
    }

    async fn shown(&self, tx: &mut Tx, account: AccountId, head: &Entry) -> Result<(String, [String; 2]), DbError> {
        let names = files::store::names(account, Source::Snapshot(tx), std::slice::from_ref(&self.token)).await?;
        let filename = names.into_iter().next().map(|(_, filename)| filename).unwrap_or_default();
        Ok((rules::document(self, &head.title, &filename), [head.title.clone(), filename]))
    }
}
