//! The operations of documents.

mod create;

pub(crate) use create::MANY;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, Sight};
use crate::http::{ApiError, Caller, Path, Reader, Reply, Writer, Writing};
use crate::log::{Action, Event};
use crate::program::store::parse;
use crate::records::assignments::name_of;
use crate::records::documents::list::LIST;
use crate::records::documents::{Document, store};
use crate::records::people::{self, ShownRow, find_shown, find_shown_in};
use crate::resources::people_list::people_list;
use crate::services::App;
use db::{DbError, Tx};
use kernel::text::Slug;

/// The routes of documents.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of documents. Without `order` what was changed last comes first.";
    OpenApiRouter::new()
        .routes(people_list(("GetDocumentCollectionV23", "Documents"), about, &LIST, |caller, renderer, texts| {
            let shown = Shown::read(texts)?;
            // What the page was planned by has changed since.
            if !shown.is_seen(caller.access()) {
                return Err(ApiError::Stale);
            }
            Ok(renderer.item(&shown.document(), None)?)
        }))
        .routes(routes!(create::create))
        .routes(routes!(show, delete))
}

/// A document with what it shows of others.
struct Shown {
    document: Document,
    /// The title of its entry.
    title: String,
    /// The name of its user.
    user: String,
    /// The chapter of its entry.
    chapter: Option<Slug>,
}

impl Shown {
    /// From the columns that the list declares.
    fn read(texts: &[&str]) -> Result<Self, DbError> {
        let [doc, title, names, chapter] = texts else {
            return Err(DbError::Failed("a document was read without its columns".to_owned()));
        };
        let document = parse(doc, &store::context())?;
        Ok(Self { document, title: (*title).to_owned(), user: name_of(names), chapter: Slug::parse(chapter) })
    }

    fn is_seen(&self, access: &Access) -> bool {
        access.document(self.chapter, self.document.reader())
    }

    fn document(&self) -> String {
        self.document.document(&self.title, &self.user)
    }
}

/// A document, with an address that its file can be downloaded from for a while.
#[utoipa::path(get, path = "/document/{slug}", operation_id = "GetDocumentV23", tag = "Documents")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let program = caller.program();
    let read = find_shown::<Document>(&caller.app().db, caller.account(), &slug, ShownRow::of(&LIST.shown)).await?;
    let (_, found) = read.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let (revision, texts) = found.ok_or(ApiError::NotFound)?;
    let shown = Shown::read(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    if !shown.is_seen(caller.access()) {
        return Err(ApiError::NotFound);
    }
    Ok(Reply::ok(shown.document(), revision).naming(&[&shown.title, &shown.user]))
}

/// Puts a document into the trash. Its file stays.
#[utoipa::path(delete, path = "/document/{slug}", operation_id = "DeleteDocumentV23", tag = "Documents")]
pub async fn delete(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, slug) = (writing.account(), *writing.state);
    let found = people::find_for_update::<Document>(tx, account, &slug, &store::context()).await?;
    let found = found.ok_or(ApiError::NotFound)?;
    let texts =
        find_shown_in::<Document>(tx, account, &slug, ShownRow::of(&LIST.shown)).await?.ok_or(ApiError::NotFound)?;
    let shown = Shown::read(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let access = &writing.access;
    if !shown.is_seen(access) {
        return Err(ApiError::NotFound);
    }
    if !access.is_manager() && !shown.chapter.is_some_and(|chapter| access.manages(chapter)) {
        return Err(ApiError::NotPermitted);
    }
    if writing.compares_what_is_shown() {
        writing.precondition_seen((&shown.document(), None, Sight::Whole), &[])?;
    } else {
        writing.precondition(found.revision)?;
    }
    let events = (Action::Trashed, &[Event::DocumentDeleted][..]);
    people::change_causing(tx, account, &writing.origin, events, found.value).await?;
    Ok(Reply::NoContent)
}
