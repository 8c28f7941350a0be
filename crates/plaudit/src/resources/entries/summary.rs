//! How many entries there are.

use std::collections::BTreeMap;

use crate::http::{self, ApiError, Caller, RawQuery, Reply, entity_tag};
use crate::lists::ENTRIES;
use crate::lists::page::{Filter, ListQuery, ListSpec, Narrow};
use crate::program::Program;
use crate::records::entries::Status;
use kernel::document::{self, List, Object};
use kernel::kind::Kind;
use kernel::text::{Slug, Translated, folded};

const FILTERS: &[Filter] = &[Filter::season("The season of the entries, or `all`").by(Narrow::Season("season"))];
pub(super) const SPEC: ListSpec =
    ListSpec { always: &[("deleted", "0"), ("archived", "0")], ..ListSpec::of_filters(FILTERS) };

/// How many entries each chapter, category and status has, those in the trash and archived ones left out.
pub(super) async fn summary(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    let program = caller.program();
    let active = program.active_season().map(|season| season.slug);
    let season = query.slug("season").or(active).filter(|_| !query.is_all("season"));
    let asks = SPEC.asks(&query, program);
    let counts = http::list::count(&caller, ENTRIES, &asks, &["chapter", "category", "status"]).await?;
    let counts: Vec<_> = counts
        .iter()
        .filter_map(|(values, count)| {
            let [chapter, category, status] = values.as_slice() else { return None };
            let status = Status::CHOICES.iter().find(|(name, _)| name == status)?.1;
            Some((Slug::parse(chapter)?, Slug::parse(category)?, status, i64::try_from(*count).unwrap_or(i64::MAX)))
        })
        .collect();
    let document = write(program, season, &counts);
    let depends = format!("{}\n{}\n{document}", program.version, caller.representation());
    Ok(Reply::Body { content: caller.renderer().record(&document, None)?, etag: entity_tag(depends) })
}

/// Counts by status.
type Statuses = BTreeMap<Status, i64>;

fn write(program: &Program, season: Option<Slug>, counts: &[(Slug, Slug, Status, i64)]) -> String {
    let (mut all, mut chapters, mut categories) = (Statuses::new(), BTreeMap::new(), BTreeMap::new());
    for (chapter, category, status, count) in counts {
        *all.entry(*status).or_default() += count;
        *chapters.entry(*chapter).or_insert_with(Statuses::new).entry(*status).or_default() += count;
        *categories.entry(*category).or_insert_with(Statuses::new).entry(*status).or_default() += count;
    }
    let chapter = |slug: Slug| program.chapters.any(slug).map(|chapter| &chapter.name);
    let category = |slug: Slug| program.categories.any(slug).map(|category| &category.name);
    document::object(|object| {
        // A season that there is not has no entries, and no reference.
        let known = season.filter(|season| program.seasons.any(*season).is_some());
        object.optional_reference("season", Kind::Season, known);
        write_counts(object, &all);
        let chapters = by_name(program, chapters, chapter);
        object.list("chapters", |list| write_groups(list, ("chapter", Kind::Chapter), &chapters));
        let categories = by_name(program, categories, category);
        object.list("categories", |list| write_groups(list, ("category", Kind::Category), &categories));
    })
}

/// The groups in the order of their names, as the list of entries has them.
fn by_name<'p>(
    program: &Program,
    groups: BTreeMap<Slug, Statuses>,
    name: impl Fn(Slug) -> Option<&'p Translated>,
) -> Vec<(Slug, Statuses)> {
    let language = program.account.default_language;
    let mut groups: Vec<(Slug, Statuses)> = groups.into_iter().collect();
    groups.sort_by_cached_key(|(slug, _)| (name(*slug).map(|name| folded(name.in_locale(language))), *slug));
    groups
}

fn write_groups(list: &mut List<'_>, (member, kind): (&str, Kind), groups: &[(Slug, Statuses)]) {
    for (slug, statuses) in groups {
        list.object(|object| {
            object.reference(member, kind, *slug);
            write_counts(object, statuses);
        });
    }
}

/// The sum, and the count of every status.
fn write_counts(object: &mut Object<'_>, statuses: &Statuses) {
    object.integer("total", statuses.values().sum());
    object.object("statuses", |object| {
        for (name, status) in Status::CHOICES {
            object.integer(name, statuses.get(status).copied().unwrap_or(0));
        }
    });
}
