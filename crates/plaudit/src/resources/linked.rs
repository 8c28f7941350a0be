//! Set-up records that are read where links lead to them and have no lists: roles, taxes, prices, panels, review stages and
//! content blocks (contract, section 1).
//!
//! They are shown in the form of their reference, with their own members as their program file has them: references are
//! filled in, and texts are in the languages asked for.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::http::{ApiError, Caller, Path, Reply};
use crate::program::content_blocks::ContentBlock;
use crate::program::member::{Member, Shape};
use crate::program::panels::Panel;
use crate::program::prices::Price;
use crate::program::review_stages::ReviewStage;
use crate::program::roles::Role;
use crate::program::taxes::Tax;
use crate::program::{InProgram, store};
use crate::resources::operation::{Takes, operation};
use crate::resources::setup_record;
use crate::services::App;
use kernel::document::{self, List, Object};
use kernel::json::Json;
use kernel::json::parse_own;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of these records.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(linked::<Role>("Users", "GetRoleV23", "What users may do."))
        .routes(linked::<Tax>("Taxes", "GetTaxV23", "A tax."))
        .routes(linked::<Price>("Orders", "GetPriceV23", "What an entry, a person, a tag or a ticket costs."))
        .routes(linked::<Panel>("Assignments", "GetPanelV23", "Who judges which entries, and when."))
        .routes(linked::<ReviewStage>("Review tasks", "GetReviewStageV23", "Who has to agree to an entry."))
        .routes(linked::<ContentBlock>("Forms", "GetContentBlockV23", "A text that stands above forms."))
}

fn linked<T: InProgram>(group: &'static str, id: &'static str, about: &str) -> UtoipaMethodRouter<App> {
    operation((HttpMethod::Get, &setup_record::one::<T>(), id, group), about, Takes::Nothing, show::<T>)
}

async fn show<T: InProgram>(caller: Caller, Path(slug): Path<Slug>) -> Result<Reply, ApiError> {
    let record = T::records(caller.program()).live_record(slug).ok_or(ApiError::NotFound)?;
    setup_record::shown(&caller, record.revision, document(&record.value)?).await
}

fn document<T: InProgram>(record: &T) -> Result<String, ApiError> {
    let stored = store::stored(record);
    let members = parse_own(&stored).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(document::object(|object| {
        object.slug("slug", record.slug());
        object.link("link", T::KIND, record.slug().as_str());
        for Member { name, shape, .. } in T::MEMBERS {
            if let Some(value) = members.get(name) {
                write(object, name, shape, value);
            }
        }
    }))
}

fn write(object: &mut Object<'_>, name: &str, shape: &Shape, value: &Json) {
    match (shape, value) {
        (Shape::Ref(kind), Json::String(slug)) => object.optional_reference(name, *kind, Slug::parse(slug)),
        (Shape::Translated(_), Json::Object(_)) => object.translated_text(name, &value.to_string()),
        (Shape::List(item, _) | Shape::Set(item, _) | Shape::FilledSet(item, _), Json::Array(items)) => {
            object.list(name, |list| items.iter().for_each(|value| write_item(list, item, value)));
        }
        _ => object.raw(name, &value.to_string()),
    }
}

fn write_item(list: &mut List<'_>, shape: &Shape, value: &Json) {
    match (shape, value.as_str().and_then(Slug::parse)) {
        (Shape::Ref(Kind::User), Some(slug)) => list.manager(slug),
        (Shape::Ref(kind), Some(slug)) => list.reference(*kind, slug),
        _ => list.raw(&value.to_string()),
    }
}
