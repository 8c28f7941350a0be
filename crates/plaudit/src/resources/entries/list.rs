//! The list of entries.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::access::Sight;
use crate::access::judged::Judged;
use crate::http::list::{Paged, person};
use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::ListQuery;
use crate::records::assignments;
use crate::records::entries::Entry;
use crate::records::entries::document::included;
use crate::records::entries::list::{DETAILED, PLAIN};
use crate::render::Renderer;
use crate::views::Plan;
use db::{AccountId, Source};
use kernel::text::Slug;

/// A page of entries.
pub(super) async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &PLAIN.spec)?;
    let members = query.words("include");
    let list = if members.is_empty() { &PLAIN } else { &DETAILED };
    let page = Entries { caller: &caller, members, judged: HashMap::new() };
    http::list::page(&caller, raw.as_deref(), (list, &query), page).await
}

/// A page of entries with some members of the second document.
struct Entries<'q> {
    caller: &'q Caller,
    members: &'q [&'static str],
    /// The score sets in which the caller judges the entries of the page.
    judged: HashMap<Slug, Vec<Slug>>,
}

impl Entries<'_> {
    /// What the caller sees of an entry, with the document in place of the first one where that is seen in part.
    fn sight<'d>(&self, document: &'d str) -> Result<(Sight, Cow<'d, str>), ApiError> {
        let access = self.caller.access();
        if access.sees_all() || self.members.is_empty() && access.judging().is_none() {
            return Ok((Sight::Whole, Cow::Borrowed(document)));
        }
        let entry = Entry::of_document(document).map_err(|error| ApiError::Internal(error.to_string()))?;
        let score_sets = self.judged.get(&entry.slug);
        let judged = score_sets.and_then(|score_sets| Judged::of(self.caller.program(), score_sets));
        // What the page was planned by has changed since.
        let sight = access.judged_entry(&entry, judged).ok_or(ApiError::Stale)?;
        Ok((sight, super::show::first(sight, &entry, document)))
    }
}

impl Paged for Entries<'_> {
    async fn prepare(&mut self, source: &mut Source<'_>, account: AccountId, plan: &mut Plan) -> Result<(), ApiError> {
        self.judged.clear();
        let Some(judge) = self.caller.access().judging() else { return Ok(()) };
        let entries: Vec<Slug> = plan.wanted.iter().filter_map(|wanted| Slug::parse(&wanted.name)).collect();
        for own in assignments::store::judged(source, account, judge, &entries).await? {
            self.judged.entry(own.entry).or_default().push(own.score_set);
        }
        Ok(())
    }

    fn show(&mut self, renderer: &mut Renderer, texts: &[&str]) -> Result<(), ApiError> {
        let (sight, document) = self.sight(texts[3])?;
        let detail = match sight {
            Sight::Judged(judged) => texts.get(4).and_then(|detail| included(detail, &judged.members(self.members))),
            _ => texts.get(4).and_then(|detail| included(detail, self.members)),
        };
        renderer.seen(sight).naming(person(texts[0], texts[1], texts[2])?).item(&document, detail.as_deref())?;
        Ok(())
    }
}
