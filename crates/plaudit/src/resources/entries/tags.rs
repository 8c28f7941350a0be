//! The tags of an entry, named in the path.

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;

use crate::access::Sight;
use crate::http::{ApiError, Caller, Path, PathTags, Reply, Writer, Writing};
use crate::records::entries::{Entry, rules, store};
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use db::Tx;
use kernel::input::Violations;
use kernel::text::Slug;

/// What becomes of the tags of an entry, by those in the path.
type Change = fn(&str, &str) -> Result<String, Violations>;

/// The routes of tags.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let route = |method, id, about, change: Change| {
        let handler =
            async move |caller: Caller, Path(slug): Path<Slug>, Path(PathTags(tags)): Path<PathTags>, _: Writer| {
                caller.write((slug, tags, change), |tx, writing| Box::pin(write_tags(tx, writing))).await
            };
        operation((method, "/entry/{slug}/tag/{tags}", id, "Entries"), about, Takes::Nothing, handler)
    };
    let about_add = "Adds tags to an entry; those that it has already change nothing.";
    let about_remove = "Takes tags away from an entry; those that it does not have change nothing.";
    OpenApiRouter::new().routes(route(HttpMethod::Put, "PutEntryTagV23", about_add, rules::tags::added)).routes(route(
        HttpMethod::Delete,
        "DeleteEntryTagV23",
        about_remove,
        rules::tags::removed,
    ))
}

async fn write_tags(tx: &mut Tx, writing: &Writing<(Slug, String, Change)>) -> Result<Reply, ApiError> {
    let (slug, tags, change) = &*writing.state;
    let account = writing.account();
    let found = store::find_for_update(tx, account, *slug).await?.ok_or(ApiError::NotFound)?;
    let head = found.head()?;
    writing.manages(&head)?;
    let tags = change(&head.tags, tags)?;
    rules::check_not_destroyed(&writing.program, head.season)?;
    writing.precondition_of(&found)?;
    let after = Entry { tags, ..head.clone() };
    let stored = store::write_head(tx, &writing.program, &writing.origin, (&found, &head), after, false).await?;
    Ok(crate::resources::entries::created(stored, *slug, Sight::Whole))
}
