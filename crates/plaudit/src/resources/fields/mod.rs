//! The operations of fields.

pub mod list;

use std::borrow::Cow;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Access;
use crate::http::{ApiError, Caller, Path, Reply, Writer, Writing};
use crate::lists::page::Ask;
use crate::log::Action;
use crate::program::fields::{Field, document, read, rules, write_settings};
use crate::program::{Program, store};
use crate::resources::setup_list::SetupList;
use crate::resources::setup_record::{self, Given, Related, SetupResource, Writable};
use crate::services::App;
use db::Tx;
use kernel::document::Object;
use kernel::text::Slug;

/// The routes of fields.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(setup_record::list::<Field>("GetFieldCollectionV23"))
        .routes(setup_record::create::<Field>("PostFieldV23", "Makes a field on a tab."))
        .routes(setup_record::show_with_settings::<Field>("GetFieldV23"))
        .routes(setup_record::update::<Field>("PutFieldV23"))
        .routes(setup_record::delete::<Field>(
            "DeleteFieldV23",
            "Puts a field into the trash, which hides its answers and loses none of them.",
        ))
        .routes(routes!(restore))
}

impl SetupResource for Field {
    const GROUP: &'static str = "Fields";
    const LIST: &'static SetupList<Self> = &list::LIST;

    fn seen(&self, access: &Access, program: &Program) -> Option<Cow<'_, Self>> {
        let named = self.conditional.as_ref().and_then(|condition| program.fields.live(condition.field));
        let shown = match named {
            // The condition tells the title of the field and one of its options.
            Some(named) if !access.field(named) => Cow::Owned(Self { conditional: None, ..self.clone() }),
            _ => Cow::Borrowed(self),
        };
        access.field(self).then_some(shown)
    }

    fn asks(access: &Access) -> Vec<Ask> {
        if access.sees_fields() { Vec::new() } else { vec![Ask::Is("for_applicants", "1".to_owned())] }
    }

    fn document(&self, related: &Related<'_>) -> String {
        document(self, related.program)
    }
}

impl Writable for Field {
    async fn written(before: Option<&Self>, given: &Given<'_>, _: &mut Tx) -> Result<Self, ApiError> {
        let Given { program, slug, body, now, .. } = *given;
        let given = read(body, before.is_none(), &program.context);
        Ok(match before {
            None => rules::create(program, slug, given, now)?,
            Some(before) => rules::update(program, before, given, now)?,
        })
    }

    fn write_settings(&self, settings: &mut Object<'_>) {
        write_settings(self, settings);
    }
}

/// Brings a field back from the trash, and its answers with it.
#[utoipa::path(post, path = "/field/{slug}/restore", operation_id = "PostFieldRestoreV23", tag = "Fields")]
pub async fn restore(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_restore(tx, writing))).await
}

async fn write_restore(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, slug) = (writing.account(), *writing.state);
    let found = store::find_any_for_update::<Field>(tx, account, slug, &writing.program.context).await?;
    let field = found.ok_or(ApiError::NotFound)?;
    if !field.deleted {
        return Err(ApiError::State("The field is not in the trash.".to_owned()));
    }
    rules::restore(&writing.program, &field.value).map_err(ApiError::State)?;
    writing.precondition(field.revision)?;
    store::change(tx, account, &writing.origin, Action::Restored, field.value).await?;
    Ok(Reply::NoContent)
}
