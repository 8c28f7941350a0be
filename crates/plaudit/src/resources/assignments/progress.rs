//! How far the judges of a score set are.
//!
//! - `total` counts the assignments of judges that hold, stray ones and those of roles left out; recused ones stand apart.
//! - Managers of chapters are told of the entries of these alone, lead judges of all entries of the score sets that they judge; to
//!   others a score set is as one without assignments.
//! - An entry is short of judges where fewer than `min_judges` of the score set are assigned who neither abstained nor
//!   have a conflict of interest. Entries to which nobody ever was assigned are not known here.

use std::collections::BTreeMap;

use super::leads;
use crate::http::{ApiError, Caller, RawQuery, Reply, entity_tag};
use crate::lists::page::{Filter, FilterKind, ListQuery, ListSpec};
use crate::records::assignments::store::{self, Counted, Short};
use crate::records::assignments::{Method, Status};
use db::Source;
use kernel::document::{self, List, Object};
use kernel::kind::Kind;
use kernel::text::Slug;

const FILTERS: &[Filter] = &[Filter::new("score_set", FilterKind::Slug, "The score set").required()];
pub(super) const SPEC: ListSpec = ListSpec::of_filters(FILTERS);

/// What assignments of a group come to.
#[derive(Clone, Copy, Default)]
struct Counts {
    total: i64,
    complete: i64,
    in_progress: i64,
    abstained: i64,
    recused: i64,
}

impl Counts {
    fn add(&mut self, counted: &Counted) {
        if counted.method == Method::Recused.name() {
            self.recused += counted.count;
            return;
        }
        self.total += counted.count;
        let of_status = match Status::named(&counted.status) {
            Some(Status::Complete) => &mut self.complete,
            Some(Status::InProgress) => &mut self.in_progress,
            Some(Status::Abstained) => &mut self.abstained,
            Some(Status::None) | None => return,
        };
        *of_status += counted.count;
    }

    fn write(self, object: &mut Object<'_>) {
        object.integer("total", self.total);
        object.integer("complete", self.complete);
        object.integer("in_progress", self.in_progress);
        object.integer("abstained", self.abstained);
        object.integer("recused", self.recused);
    }
}

/// How far judges and categories are, and which entries are short of judges.
pub(super) async fn progress(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    caller.permit()?;
    let slug = query.slug("score_set").ok_or(ApiError::NotFound)?;
    let program = caller.program();
    let needed = program.score_sets.live(slug).ok_or(ApiError::NotFound)?.min_judges;
    let access = caller.access();
    let mut tx = caller.app().db.snapshot().await?;
    let sees_all = access.sees_all() || leads(access, program, Source::Snapshot(&mut tx), slug).await?;
    if !sees_all && access.chapters().is_empty() {
        return Err(ApiError::NotFound);
    }
    let chapters = (!sees_all).then(|| access.chapters());
    let read = store::progress(&mut tx, caller.account(), (slug, needed), chapters).await?;
    tx.commit().await?;
    let (_, counted, short) = read.filter(|(version, ..)| *version == program.version).ok_or(ApiError::Stale)?;
    let document = write(&counted, &short);
    let depends = format!("{}\n{}\n{document}", program.version, caller.representation());
    Ok(Reply::Body { content: caller.renderer().record(&document, None)?, etag: entity_tag(depends) })
}

fn write(counted: &[Counted], short: &[Short]) -> String {
    let mut judges: BTreeMap<Slug, (&str, Counts)> = BTreeMap::new();
    let mut categories: BTreeMap<Slug, Counts> = BTreeMap::new();
    for found in counted {
        judges.entry(found.judge).or_insert((&found.name, Counts::default())).1.add(found);
        categories.entry(found.category).or_default().add(found);
    }
    document::object(|object| {
        object.list("by_judge", |list| {
            for (judge, (name, counts)) in judges {
                list.object(|object| {
                    object.object("judge", |object| {
                        object.named(Kind::User, judge, ("name", name));
                    });
                    counts.write(object);
                });
            }
        });
        object.list("by_category", |list| {
            for (category, counts) in categories {
                list.object(|object| {
                    object.reference("category", Kind::Category, category);
                    counts.write(object);
                });
            }
        });
        object.list("short_of_judges", |list| short.iter().for_each(|entry| write_entry(entry, list)));
    })
}

fn write_entry(entry: &Short, list: &mut List<'_>) {
    list.object(|object| {
        object.named(Kind::Entry, entry.slug, ("title", &entry.title));
    });
}
