//! The list of assignments.

use super::of_other;
use crate::http::list::Paged;
use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::ListQuery;
use crate::records::assignments::store::{self, Own};
use crate::records::assignments::{AssignmentSlug, LIST, Sheet, Shown};
use crate::render::Renderer;
use crate::views::Plan;
use db::{AccountId, Source};
use kernel::text::Slug;

/// A page of assignments.
pub(super) async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let page = Assignments { caller: &caller, own: Vec::new() };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), page).await
}

/// A page of assignments.
struct Assignments<'q> {
    caller: &'q Caller,
    /// Those of the caller to the entries of the page.
    own: Vec<Own>,
}

impl Paged for Assignments<'_> {
    async fn prepare(&mut self, source: &mut Source<'_>, account: AccountId, plan: &mut Plan) -> Result<(), ApiError> {
        let Some(judge) = self.caller.access().judging() else { return Ok(()) };
        let slugs = plan.wanted.iter().filter_map(|wanted| AssignmentSlug::parse(&wanted.name));
        let mut entries: Vec<Slug> = slugs.map(|slug| slug.entry()).collect();
        entries.sort_unstable();
        entries.dedup();
        self.own = store::judged(source, account, judge, &entries).await?;
        Ok(())
    }

    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        let (program, access) = (self.caller.program(), self.caller.access());
        let shown = Shown::read(program, texts)?;
        let sheet = if access.assignment(shown.chapter, shown.assignment.judge) {
            Sheet::WHOLE
        } else {
            // What the page was planned by has changed since.
            of_other(program, &self.own, &shown.assignment).ok_or(ApiError::Stale)?
        };
        Ok(renderer.item(&shown.seen(program, sheet), None)?)
    }
}
