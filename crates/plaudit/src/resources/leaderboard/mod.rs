//! Leaderboards: the entries of a score set with what their sheets come to, and their places.

mod advance;
mod analysis;
mod decisions;
mod publications;

use std::cmp::Reverse;
use std::collections::HashMap;

use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::OpenApiRouter;

use crate::http::list::{self, Paged};
use crate::http::{ApiError, Caller, RawQuery, Reply};
use crate::lists::page::{Direction, ListQuery, Order};
use crate::program::Program;
use crate::program::score_sets::{self, Mode, ScoreSet};
use crate::records::casting_votes::CastingVote;
use crate::records::lots::Lot;
use crate::records::standings::Totals;
use crate::records::standings::board::{Decided, Standing};
use crate::records::standings::item::{self, Place};
use crate::records::standings::list::{LIST, RANK, SCORE, selected};
use crate::records::standings::store;
use crate::render::Renderer;
use crate::resources::operation::{Takes, operation};
use crate::services::App;
use crate::views::{Group, MOST_TIED, Places, Plan, Request, Wanted};
use db::{AccountId, Source};
use kernel::document;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of leaderboards.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(operation(
            (HttpMethod::Get, "/leaderboard", "GetLeaderboardCollectionV23", "Leaderboards"),
            "A page of the entries of a score set, with their scores and places. `score_set` is required. A score set of the mode \
             gallery has no leaderboard.",
            Takes::Query(LIST.spec.parameters()),
            show,
        ))
        .routes(operation(
            (HttpMethod::Get, "/leaderboard/analysis", "GetLeaderboardAnalysisV23", "Leaderboards"),
            "How severe the judges of a score set of points are, what scores and places are without that, how sure they are, how \
             far judges agree, and without whom the first place would be another's.",
            Takes::Query(analysis::SPEC.parameters()),
            analysis::show,
        ))
        .routes(operation(
            (HttpMethod::Post, "/leaderboard/advance", "PostLeaderboardAdvanceV23", "Leaderboards"),
            "Tags who goes on: so many places, a share of the entries, or all that reach a score, of the whole board or of each \
             category or chapter. Entries that are tied across the line are named in any case.",
            Takes::Body("Advance"),
            advance::advance,
        ))
        .routes(operation(
            (HttpMethod::Get, "/leaderboard/casting-vote", "GetLeaderboardCastingVoteV23", "Leaderboards"),
            "The casting vote of a score set.",
            Takes::Query(decisions::SPEC.parameters()),
            decisions::show::<CastingVote>,
        ))
        .routes(operation(
            (HttpMethod::Put, "/leaderboard/casting-vote", "PutLeaderboardCastingVoteV23", "Leaderboards"),
            "Decides ties of a score set by a casting vote, which takes the place of the one before.",
            Takes::Body("CreateCastingVote"),
            decisions::vote,
        ))
        .routes(operation(
            (HttpMethod::Delete, "/leaderboard/casting-vote", "DeleteLeaderboardCastingVoteV23", "Leaderboards"),
            "Takes the casting vote of a score set back.",
            Takes::Query(decisions::SPEC.parameters()),
            decisions::take_back,
        ))
        .routes(operation(
            (HttpMethod::Get, "/leaderboard/lot", "GetLeaderboardLotV23", "Leaderboards"),
            "The lot of a score set, by which anybody can draw its entries again (RFC 3797, with SHA-256).",
            Takes::Query(decisions::SPEC.parameters()),
            decisions::show::<Lot>,
        ))
        .routes(operation(
            (HttpMethod::Put, "/leaderboard/lot", "PutLeaderboardLotV23", "Leaderboards"),
            "Draws the entries on the leaderboard of a score set by published numbers. It takes the place of the lot before.",
            Takes::Body("CreateLot"),
            decisions::draw,
        ))
        .merge(publications::routes())
}

async fn show(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    caller.permit()?;
    let slug = query.slug("score_set").ok_or(ApiError::NotFound)?;
    let score_set = asked_for(slug, caller.program())?;
    let board = Board {
        program: caller.program(),
        score_set,
        scale: item::Scale::of(caller.program(), score_set),
        query: &query,
        decided: Decided::default(),
        placed: HashMap::new(),
    };
    list::page(&caller, raw.as_deref(), (&LIST, &query), board).await
}

/// A score set that has a leaderboard.
fn asked_for(slug: Slug, program: &Program) -> Result<&ScoreSet, ApiError> {
    let score_set = program.score_sets.live(slug).ok_or(ApiError::NotFound)?;
    if score_set.mode() == Mode::Gallery {
        return Err(ApiError::State("A score set of the mode gallery has no leaderboard.".to_owned()));
    }
    Ok(score_set)
}

/// A page of a leaderboard.
struct Board<'q> {
    program: &'q Program,
    score_set: &'q ScoreSet,
    scale: item::Scale<'q>,
    query: &'q ListQuery,
    decided: Decided,
    /// By the name of the standing.
    placed: HashMap<String, Place>,
}

impl Board<'_> {
    fn is_by(&self, order: &'static str) -> bool {
        self.query.order == Order::Named(order)
    }

    /// Finds the places of a group of equal scores, and puts its records on the page into their order.
    async fn settle(
        &mut self,
        source: &mut Source<'_>,
        account: AccountId,
        (group, before): (&Group, u64),
        wanted: &mut [Wanted],
    ) -> Result<(), ApiError> {
        let entries: Vec<Slug> = group.members.iter().filter_map(|member| entry_of(&member.name)).collect();
        let of = (self.score_set, &self.decided);
        let standings = store::places(source, account, self.program, of, &entries).await?;
        self.reorder(group, &standings, wanted);
        for Standing { entry, place, steps } in standings {
            if let Some(member) = group.members.get(entry) {
                self.placed.insert(member.name.clone(), Place { rank: place.map(|place| before + place), steps });
            }
        }
        Ok(())
    }

    /// The records of a group that are on the page are its first, second and so on by name: they give way to its first, second and so on
    /// by place.
    fn reorder(&self, group: &Group, standings: &[Standing], wanted: &mut [Wanted]) {
        let is_best_first = self.is_by(RANK) == (self.query.direction == Direction::Ascending);
        if !(self.is_by(RANK) || self.is_by(SCORE)) || self.query.slug("entry").is_some() {
            return;
        }
        let mut ordered: Vec<&Standing> = standings.iter().collect();
        if !is_best_first {
            // Those of one place stay in the order of their slugs.
            ordered.sort_by_key(|standing| Reverse(standing.place.unwrap_or(u64::MAX)));
        }
        for shown in wanted.iter_mut() {
            let Ok(at) = group.members.binary_search_by(|member| member.name.cmp(&shown.name)) else { continue };
            let member = ordered.get(at).and_then(|standing| group.members.get(standing.entry));
            if let Some(member) = member {
                *shown = member.clone();
            }
        }
    }
}

impl Paged for Board<'_> {
    fn ask(&self, mut request: Request) -> Request {
        let column = (self.score_set.mode() != Mode::TopPick).then_some("score");
        let counts_places = self.score_set.places == score_sets::Places::Dense;
        request.places = Some(Places { asks: selected(self.query, self.program), column, counts_places });
        if self.is_by(RANK) {
            // The best has the largest score.
            request.start.direction = match request.start.direction {
                Direction::Ascending => Direction::Descending,
                Direction::Descending => Direction::Ascending,
            };
        }
        request
    }

    async fn prepare(&mut self, source: &mut Source<'_>, account: AccountId, plan: &mut Plan) -> Result<(), ApiError> {
        self.placed.clear();
        let groups = std::mem::take(&mut plan.groups);
        if groups.iter().any(|group| group.members.len() > 1 || !group.tied_above.is_empty()) {
            let (slug, context) = (self.score_set.slug, &self.program.context);
            self.decided = store::decided(source, account, slug, context).await?;
        }
        let tied: Vec<Vec<Slug>> =
            groups.iter().flat_map(|group| &group.tied_above).map(|names| entries_of(names)).collect();
        let of = (self.score_set, &self.decided);
        let mut told_apart = store::count_places(source, account, self.program, of, &tied).await?.into_iter();
        let mut places_more = 0;
        for group in &groups {
            // A value that several have is as many places as its records were told apart into.
            places_more += told_apart.by_ref().take(group.tied_above.len()).map(|places| places - 1).sum::<u64>();
            let before = match self.score_set.places {
                score_sets::Places::Dense => group.values_above + places_more,
                score_sets::Places::Competition | score_sets::Places::Modified => group.above,
            };
            if group.members.is_empty() {
                // More than can be told apart share one place.
                let rank = match self.score_set.places {
                    score_sets::Places::Competition | score_sets::Places::Dense => before + 1,
                    score_sets::Places::Modified => before + group.size,
                };
                let of_group = plan.wanted.iter().filter(|wanted| wanted.held.first() == Some(&group.key));
                let place = Place { rank: Some(rank), steps: Vec::new() };
                self.placed.extend(of_group.map(|wanted| (wanted.name.clone(), place.clone())));
            } else {
                self.settle(source, account, (group, before), &mut plan.wanted).await?;
            }
        }
        Ok(())
    }

    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        let [_, name, totals, entry] = texts else {
            return Err(ApiError::Internal("a standing was read without its columns".to_owned()));
        };
        let place = self.placed.get(*name).cloned().unwrap_or_default();
        let totals: Totals = serde_json::from_str(totals).map_err(|error| ApiError::Internal(error.to_string()))?;
        let of = (self.score_set, &self.scale);
        Ok(renderer.item(&item::document(self.program, of, (entry, &totals), &place)?, None)?)
    }

    fn more(&self) -> String {
        let score_set = self.score_set;
        document::object(|object| {
            object.object("score_set", |object| {
                object.slug("slug", score_set.slug);
                object.translated("name", &score_set.name);
                object.text("mode", score_set.mode().name());
                object.slug("form", score_set.form);
            });
            object.reference("season", Kind::Season, score_set.season);
        })
    }
}

/// The entries of standings.
fn entries_of(names: &[String]) -> Vec<Slug> {
    names.iter().filter_map(|name| entry_of(name)).collect()
}

/// The entry of a standing, whose name begins with its slug.
fn entry_of(name: &str) -> Option<Slug> {
    name.get(..8).and_then(Slug::parse)
}

/// No more are told one by one than are compared head to head.
const _: () = assert!(MOST_TIED <= scoring::places::MAX_HEAD_TO_HEAD);
