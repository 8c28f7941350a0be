//! The list of entries.

use crate::entries::document::included;
use crate::entries::list::{DETAILED, PLAIN};
use crate::http::openapi::{Error, Paging};
use crate::http::page::ListQuery;
use crate::http::{self, ApiError, Caller, RawQuery, Renderer, Reply};

/// A page of entries. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/entry",
    operation_id = "GetEntryCollectionV23",
    tag = "Entries",
    params(
        ("entrant" = Option<String>, Query, description = "The user who owns them"),
        ("moderation" = Option<String>, Query, description = "`approved`, `undecided` or `rejected`"),
        ("payment_status" = Option<String>, Query, description = "`paid` or `awaiting_payment`"),
        ("price" = Option<String>, Query, description = "A price at which an order names them"),
        ("review_status" = Option<String>, Query, description = "Where their review stands"),
        ("status" = Option<String>, Query, description = "`submitted`, `in_progress`, `resubmission_required` or \
            `resubmitted`"),
        ("title" = Option<String>, Query, description = "A part of their title, whatever its case"),
        ("updated_at[before]" = Option<String>, Query, description = "A date or time before which they were changed last"),
        ("updated_at[after]" = Option<String>, Query, description = "A date or time after which they were changed last"),
        ("updated_at[on]" = Option<String>, Query, description = "The date on which they were changed last"),
        ("updated_at[between]" = Option<String>, Query, description = "Two dates or times with a comma between them"),
        ("category" = Option<String>, Query, description = "Their category"),
        ("chapter" = Option<String>, Query, description = "Their chapter"),
        ("form" = Option<String>, Query, description = "Their form"),
        ("season" = Option<String>, Query, description = "A season, or `all`; the active season without it"),
        ("tag" = Option<String>, Query, description = "A tag that they have"),
        ("archived" = Option<String>, Query, description = "What is archived: `only`, `all`, `none`"),
        ("deleted" = Option<String>, Query, description = "What is in the trash: `only`, `included`, `none`"),
        ("include" = Option<String>, Query, description = "Members of a single read to be shown as well: \
            `entry_fields`, `attachments`, `contributors`, with commas between them"),
        ("order" = Option<String>, Query, description = "`category`, `chapter`, `applicant`, `local_id`, \
            `parent_category`, `title` or `updated`"),
        Paging,
    ),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &PLAIN.spec)?;
    let members = query.words("include");
    if members.is_empty() {
        return http::list::page(&caller, raw.as_deref(), (&PLAIN, &query), "", &|renderer: &mut Renderer, texts| {
            renderer.item(texts[0], None);
            Ok(())
        })
        .await;
    }
    // Addresses of files, which are shown with answers and attachments, are good for a while only.
    let expires = caller.expires().to_string();
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        renderer.item(texts[0], included(texts[1], members).as_deref());
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&DETAILED, &query), &expires, &show).await
}
