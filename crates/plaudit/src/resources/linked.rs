//! Set-up records that are read where links lead to them and have no lists: roles, taxes, prices, panels, review stages and
//! content blocks (contract, section 1).
//!
//! They are shown in the form of their reference, with their own members as their program file has them: references are
//! filled in, and texts are in the languages asked for.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, PathSlug, Reply};
use crate::program::content_blocks::ContentBlock;
use crate::program::panels::Panel;
use crate::program::prices::Price;
use crate::program::review_stages::ReviewStage;
use crate::program::roles::Role;
use crate::program::taxes::Tax;
use crate::program::{InProgram, shown};
use crate::resources::setup_list;
use crate::services::App;
use kernel::text::Slug;

macro_rules! linked {
    ($($function:ident: $record:ident, $path:literal, $operation:literal, $tag:literal, $about:literal;)*) => {
        /// The routes of these records.
        pub fn routes() -> OpenApiRouter<App> {
            OpenApiRouter::new()$(.routes(routes!($function)))*
        }

        $(
            #[doc = $about]
            #[utoipa::path(
                get,
                path = $path,
                operation_id = $operation,
                tag = $tag,
                responses(
                    (status = 200, description = "The record", body = ref(stringify!($record))),
                ),
            )]
            pub async fn $function(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
                show::<$record>(&caller, slug).await
            }
        )*
    };
}

linked! {
    role: Role, "/role/{slug}", "GetRoleV23", "Users", "What users may do.";
    tax: Tax, "/tax/{slug}", "GetTaxV23", "Taxes", "A tax.";
    price: Price, "/price/{slug}", "GetPriceV23", "Orders", "What an entry, a person, a tag or a ticket costs.";
    panel: Panel, "/panel/{slug}", "GetPanelV23", "Assignments", "Who judges which entries, and when.";
    review_stage: ReviewStage, "/review-stage/{slug}", "GetReviewStageV23", "Review tasks", "Who has to agree to an entry.";
    content_block: ContentBlock, "/content-block/{slug}", "GetContentBlockV23", "Forms", "A text that stands above forms.";
}

async fn show<T: InProgram>(caller: &Caller, slug: Slug) -> Result<Reply, ApiError> {
    let record = T::records(caller.program()).live_record(slug).ok_or(ApiError::NotFound)?;
    setup_list::show(caller, record.revision, shown(&record.value, true)?).await
}
