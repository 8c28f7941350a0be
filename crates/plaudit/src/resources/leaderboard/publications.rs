//! Publishing results: `POST /leaderboard/publish`, and what is published.
//!
//! - A result is that of the whole board, as `GET /leaderboard?score_set=` shows it, in the transaction that publishes it.
//! - What is seen is said in [`crate::records::publications`]. Who does not see everything is shown neither where the change log stood
//!   nor the address of the bundle.

use std::collections::BTreeMap;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asked_for;
use crate::access::{Access, Sight};
use crate::http::list::{self, Paged};
use crate::http::{ApiError, Body, Caller, Path, RawQuery, Reader, Reply, Writer, Writing};
use crate::lists::page::ListQuery;
use crate::log::Action;
use crate::program::Program;
use crate::records::assignments::rules::criteria;
use crate::records::assignments::{Assignment, store::of_score_set};
use crate::records::people::{change, find_for_update, free_slug};
use crate::records::publications::{
    Head, LIST, PlacedEntry, Publication, Remark, Seen, bundle, document_of, listed, store,
};
use crate::records::standings::store::{decided, on_board};
use crate::render::Renderer;
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use crate::views::Request;
use db::{AccountId, Source, Tx};
use kernel::input::{self, Members};
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The routes of publications.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(publish))
        .routes(operation(
            (HttpMethod::Get, LIST.path, "GetLeaderboardPublicationCollectionV23", "Leaderboards"),
            "A page of published results, those under an embargo for managers and auditors alone. What was published last comes \
             first.",
            Takes::Query(LIST.spec.parameters()),
            show_all,
        ))
        .routes(routes!(show, withdraw))
        .routes(routes!(show_bundle))
}

/// Publishes the result of a score set as it stands, with a signed bundle of what it was made of. It stays as it is; whoever needs
/// another one publishes again.
#[utoipa::path(
    post, path = "/leaderboard/publish", operation_id = "PostLeaderboardPublishV23", tag = "Leaderboards",
    request_body(content = ref("PublishResult"), content_type = "application/json"),
    responses((status = 201, description = "The publication; `Location` is its address", body = ref("Publication"))),
)]
pub(super) async fn publish(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_publish(tx, writing))).await
}

async fn write_publish(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let mut members = Members::closed(&writing.state);
    let score_set = members.required("score_set", input::slug);
    let embargo_until = members.nullable("embargo_until", input::time).flatten();
    let feedback = members.optional("feedback", input::flag).unwrap_or_default();
    let mut violations = members.finish();
    if let Some(slug) = score_set.filter(|slug| program.score_sets.live(*slug).is_none()) {
        violations.add("score_set", format!("{slug} is no score set of the account"));
    }
    let score_set = asked_for(violations.or(score_set)?, program)?;
    let entries = on_board(tx, account, score_set.slug).await?.into_iter().map(|found| found.entry).collect();
    let of = (score_set.slug, None);
    let sheets = of_score_set(&mut Source::Snapshot(tx), account, of, &program.context).await?;
    let head = tx.head(account).await?.ok_or(ApiError::KeyRefused)?;
    let head = Head { sequence: head.sequence, hash: hex::encode(head.hash) };
    let signer = &writing.app().result_signer;
    let decided = decided(&mut Source::Snapshot(tx), account, score_set.slug, &program.context).await?;
    let bundle = bundle::make(program, (score_set, &decided), (&entries, &sheets), head.clone(), signer)
        .map_err(|error| ApiError::State(format!("The result cannot be published: {error}.")))?;
    let publication = Publication {
        slug: free_slug::<Publication>(tx, account, writing.ids()).await?,
        score_set: score_set.slug,
        published: writing.origin.at,
        embargo_until,
        feedback,
        head,
        bundle,
    };
    let seen = seen((&mut Source::Snapshot(tx), account), program, &writing.access, &publication).await?;
    let (slug, document) = (publication.slug, publication.document(&seen));
    let revision = change(tx, account, &writing.origin, Action::Created, publication).await?;
    Ok(Reply::created(document, revision, Kind::Publication, slug.as_str()))
}

/// A published result: the places and, for entrants, what judges wrote about their own entries.
#[utoipa::path(
    get, path = "/leaderboard/publication/{slug}", operation_id = "GetLeaderboardPublicationV23", tag = "Leaderboards",
    responses((status = 200, description = "The publication", body = ref("Publication"))),
)]
pub(super) async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let (mut tx, publication, revision) = find(&caller, slug).await?;
    let from = (&mut Source::Snapshot(&mut tx), caller.account());
    let seen = seen(from, caller.program(), caller.access(), &publication).await?;
    tx.commit().await?;
    caller.shown((&publication.document(&seen), None, Sight::Whole), revision, None)
}

/// What a published result was made of, what it comes to, and where the change log stood, signed. In JSON it is canonical, and
/// `plaudit verify-result` verifies it.
#[utoipa::path(
    get, path = "/leaderboard/publication/{slug}/bundle", operation_id = "GetLeaderboardPublicationBundleV23",
    tag = "Leaderboards", responses((status = 200, description = "The bundle", body = ref("ResultBundle"))),
)]
pub(super) async fn show_bundle(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let (tx, publication, revision) = find(&caller, slug).await?;
    tx.commit().await?;
    Ok(Reply::ok(publication.bundle, revision))
}

/// A publication that the caller sees, with its revision, in a transaction that sees one state.
async fn find(caller: &Caller, slug: Slug) -> Result<(Tx, Publication, i64), ApiError> {
    let program = caller.program();
    let mut tx = caller.app().db.snapshot().await?;
    let found = store::find(&mut tx, caller.account(), slug, &program.context).await?;
    let (_, found) = found.filter(|(version, _)| *version == program.version).ok_or(ApiError::Stale)?;
    let is_seen = |publication: &Publication| caller.access().sees_all() || publication.is_public(caller.now());
    let found = found.filter(|found| is_seen(&found.value)).ok_or(ApiError::NotFound)?;
    Ok((tx, found.value, found.revision))
}

/// Withdraws a publication: nobody sees it any more. The change log keeps it.
#[utoipa::path(
    delete,
    path = "/leaderboard/publication/{slug}",
    operation_id = "DeleteLeaderboardPublicationV23",
    tag = "Leaderboards"
)]
pub(super) async fn withdraw(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_withdraw(tx, writing))).await
}

async fn write_withdraw(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (account, context) = (writing.account(), &writing.program.context);
    let found = find_for_update::<Publication>(tx, account, &writing.state, context).await?;
    let found = found.ok_or(ApiError::NotFound)?;
    writing.precondition(found.revision)?;
    change(tx, account, &writing.origin, Action::Trashed, found.value).await?;
    Ok(Reply::NoContent)
}

/// What a key sees of a publication.
async fn seen(
    (source, account): (&mut Source<'_>, AccountId),
    program: &Program,
    access: &Access,
    publication: &Publication,
) -> Result<Seen, ApiError> {
    let told = bundle::told(&publication.bundle).map_err(ApiError::Internal)?;
    let titles = store::titles(source, account, publication.score_set).await?;
    let entrant = access.entrant().map(|user| user.to_string());
    let (mut places, mut own) = (Vec::new(), BTreeMap::new());
    for place in told.places {
        let Some((title, entered_by)) = titles.get(&place.entry) else { continue };
        let shown = PlacedEntry { slug: place.entry, title: title.clone(), rank: place.rank };
        if publication.feedback && entrant.as_ref() == Some(entered_by) {
            own.insert(place.entry, (shown.clone(), Vec::new()));
        }
        places.push(shown);
    }
    if !own.is_empty() {
        let entries: Vec<Slug> = own.keys().copied().collect();
        let of = (publication.score_set, Some(&entries[..]));
        for sheet in of_score_set(source, account, of, &program.context).await? {
            if let (Some(judge), Some((_, remarks))) = (sheet.judge, own.get_mut(&sheet.entry))
                && told.counted.contains(&(sheet.entry, judge))
            {
                remarks.extend(remarks_of(&sheet, program));
            }
        }
    }
    let comments = own.into_values().map(|(entry, remarks)| (entry, in_order(remarks))).collect();
    Ok(Seen { is_whole: access.sees_all(), places, comments })
}

/// What a judge wrote on a sheet, with the place of what it is about.
fn remarks_of(sheet: &Assignment, program: &Program) -> Vec<(usize, Remark)> {
    let whole = sheet.comment.iter().map(|comment| (0, Remark { criterion: None, comment: comment.comment.clone() }));
    let criteria = criteria(program, sheet.score_set);
    let of_criteria = (1..).zip(criteria).filter_map(|(at, criterion)| {
        let score = sheet.scores.iter().find(|score| score.criterion == criterion.slug)?;
        let comment = score.comment.as_ref()?.comment.clone();
        Some((at, Remark { criterion: Some(criterion.name.clone()), comment }))
    });
    whole.chain(of_criteria).collect()
}

/// Remarks about one thing come by their texts, so that their order says nothing of who wrote them.
fn in_order(mut remarks: Vec<(usize, Remark)>) -> Vec<Remark> {
    remarks.sort_by(|(at, one), (other_at, other)| (at, &one.comment).cmp(&(other_at, &other.comment)));
    remarks.into_iter().map(|(_, remark)| remark).collect()
}

/// A page of publications, for who sees everything or as the time is.
struct Published {
    sees_all: bool,
    now: Timestamp,
}

impl Paged for Published {
    fn ask(&self, mut request: Request) -> Request {
        if !self.sees_all {
            request.asks.push(listed(self.now));
        }
        request
    }

    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        Ok(renderer.item(&document_of(texts, self.sees_all)?, None)?)
    }
}

async fn show_all(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let published = Published { sees_all: caller.access().sees_all(), now: caller.now() };
    list::page(&caller, raw.as_deref(), (&LIST, &query), published).await
}
