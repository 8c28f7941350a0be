//! Set-up records that are read where links lead to them and have no lists: roles, taxes, prices, panels, review stages and
//! content blocks (contract, section 1).
//!
//! They are shown in the form of their reference, with their own members as their program file has them: references are
//! filled in, and texts are in the languages asked for.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::http::{ApiError, Caller, Path, Reader, Reply};
use crate::program::content_blocks::ContentBlock;
use crate::program::panels::Panel;
use crate::program::prices::Price;
use crate::program::review_stages::ReviewStage;
use crate::program::roles::Role;
use crate::program::taxes::Tax;
use crate::program::{InProgram, shown};
use crate::resources::operation::{Takes, operation};
use crate::resources::setup_record;
use crate::services::App;
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

async fn show<T: InProgram>(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let record = T::records(caller.program()).live_record(slug).ok_or(ApiError::NotFound)?;
    setup_record::shown(&caller, record.revision, shown(&record.value, true)?).await
}
