//! The statements that list entries.

use std::fmt::Write as _;

use super::Page;
use crate::db::{AccountId, Engine, Value};
use crate::entries::plan::{Listing, Part, Totals};
use crate::entries::selection::{Column, Grouping, Selection};
use crate::http::page::anchors::Key;
use crate::text::Slug;

/// The most index ranges that a page merges. Beyond them, in an account of very many seasons, its entries are sorted.
const RANGES: usize = 200;
impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Recency => "recency",
            Self::LocalId => "local_id",
            Self::Title => "title_key",
            Self::Applicant => "entrant_key",
        }
    }

    /// The index that sorts a season by the column.
    fn index(self) -> &'static str {
        match self {
            Self::Recency => "entries_sorted_by_updated",
            Self::LocalId => "entries_sorted_by_local_id",
            Self::Title => "entries_sorted_by_title",
            Self::Applicant => "entries_sorted_by_applicant",
        }
    }
}

impl Grouping {
    /// The column that tells the groups apart; with one group the seasons, which are ranges of the index.
    fn column(self) -> &'static str {
        match self {
            Self::None => "season",
            Self::Category | Self::Parent => "category",
            Self::Chapter => "chapter",
        }
    }
}

/// A statement that is being written.
pub(super) struct Statement {
    /// Its text.
    pub(super) sql: String,
    /// The values of its parameters.
    pub(super) values: Vec<Value<'static>>,
    engine: Engine,
}

/// The conditions of a selection, each with `AND` before it.
struct Conditions {
    /// On a row of `entry_counts`.
    chosen: String,
    /// On a row of `entries`, called `e`, beside those on its segment.
    searched: String,
}

impl Statement {
    pub(super) fn new(account: AccountId, engine: Engine) -> Self {
        Self { sql: String::with_capacity(2048), values: vec![account.into()], engine }
    }

    fn value(&mut self, value: impl Into<Value<'static>>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    /// Names the index to be used. SQLite keeps no statistics that would tell it; PostgreSQL has no such words.
    fn by(&self, index: &str) -> String {
        match self.engine {
            Engine::Sqlite => format!(" INDEXED BY {index}"),
            Engine::Postgres => String::new(),
        }
    }

    fn conditions(&mut self, selection: &Selection) -> Conditions {
        // A segment without entries chooses nothing.
        let mut chosen = String::from(if selection.is_empty { " AND 1 = 0" } else { " AND total > 0" });
        let columns: [(&str, Option<Value<'static>>); 9] = [
            ("season", selection.season.map(Into::into)),
            ("category", selection.category.map(Into::into)),
            ("chapter", selection.chapter.map(Into::into)),
            ("form", selection.form.map(Into::into)),
            ("status", selection.status.map(|status| status.name().into())),
            ("moderation", selection.moderation.map(|moderation| moderation.name().into())),
            ("payment", selection.payment.map(|payment| payment.name().into())),
            ("review", selection.review.clone().map(Into::into)),
            ("archived", selection.archived.map(Into::into)),
        ];
        for (column, value) in columns {
            if let Some(value) = value {
                let place = self.value(value);
                let _ = write!(chosen, " AND {column} = ${place}");
            }
        }
        if let Some(deleted) = selection.deleted {
            let place = self.value(deleted);
            let _ = write!(chosen, " AND deleted = ${place}");
        }
        Conditions { chosen, searched: self.searched(selection) }
    }

    fn searched(&mut self, selection: &Selection) -> String {
        let mut searched = String::new();
        if let Some(entrant) = selection.entrant {
            let place = self.value(entrant);
            let _ = write!(searched, " AND e.entrant = ${place}");
        }
        if let Some(tag) = &selection.tag {
            let place = self.value(tag.clone());
            let _ = write!(
                searched,
                " AND EXISTS (SELECT 1 FROM entry_tags t WHERE t.account = $1 AND t.tag = ${place} AND t.slug = e.slug)"
            );
        }
        if let Some(price) = selection.price {
            let place = self.value(price);
            let _ = write!(
                searched,
                " AND EXISTS (SELECT 1 FROM order_entries o WHERE o.account = $1 AND o.price = ${place} \
                 AND o.entry = e.slug AND o.deleted = 0)"
            );
        }
        if let Some(title) = &selection.title {
            // Taking the text out makes another title of one that has it.
            let place = self.value(title.clone());
            let _ = write!(searched, " AND replace(e.title_key, ${place}, '') <> e.title_key");
        }
        if let Some((from, until)) = selection.recency {
            let (from, until) = (self.value(from), self.value(until));
            let _ = write!(searched, " AND e.recency >= ${from} AND e.recency <= ${until}");
        }
        searched
    }

    /// Passes over what is of another segment; `is_of_season` where the rows are of the selection's season already. In
    /// this form PostgreSQL keeps to the order of the index, and makes no join of it.
    fn of_segments(&mut self, selection: &Selection, is_of_season: bool) -> String {
        if let Some((mask, flags)) = selection.flags().filter(|_| is_of_season || selection.season.is_none()) {
            let flagged = if mask == 0 { String::new() } else { format!(" AND (e.segment & {mask}) = {flags}") };
            return flagged + &self.searched(selection);
        }
        let Conditions { chosen, searched } = self.conditions(selection);
        format!(
            " AND CASE WHEN e.segment IN (SELECT segment FROM entry_counts WHERE account = $1{chosen}) THEN 1 ELSE 0 END \
             = 1{searched}"
        )
    }

    /// The entries of a selection, from where they are found at once: what stands behind `FROM` and `WHERE`.
    fn write_gathered(&mut self, selection: &Selection, seasons: &[Slug]) {
        // What finds the entries need not be asked of each of them.
        let mut rest = selection.clone();
        if rest.entrant.take().is_none() && rest.tag.take().is_none() {
            rest.price = None;
        }
        if let Some(entrant) = selection.entrant {
            let filter = self.of_segments(&rest, false);
            let (by, entrant) = (self.by("entries_of_entrant"), self.value(entrant));
            let _ = write!(self.sql, "entries e{by} WHERE e.account = $1 AND e.entrant = ${entrant}{filter}");
        } else if let Some(tag) = &selection.tag {
            let filter = self.of_segments(&rest, false);
            let tag = self.value(tag.clone());
            let _ = write!(
                self.sql,
                "entry_tags g CROSS JOIN entries e WHERE g.account = $1 AND g.tag = ${tag} AND e.account = $1 \
                 AND e.slug = g.slug{filter}"
            );
        } else if let Some(price) = selection.price {
            let filter = self.of_segments(&rest, false);
            let price = self.value(price);
            let _ = write!(
                self.sql,
                "(SELECT DISTINCT entry FROM order_entries WHERE account = $1 AND price = ${price} AND deleted = 0) AS g \
                 CROSS JOIN entries e WHERE e.account = $1 AND e.slug = g.entry{filter}"
            );
        } else if selection.is_counted() {
            let by = self.by("entries_of_segment");
            let Conditions { chosen, .. } = self.conditions(&rest);
            let chosen = format!("SELECT segment FROM entry_counts WHERE account = $1{chosen}");
            let chosen = match self.engine {
                Engine::Sqlite => format!("IN ({chosen})"),
                Engine::Postgres => format!("= ANY (ARRAY ({chosen}))"),
            };
            let _ = write!(self.sql, "entries e{by} WHERE e.account = $1 AND e.segment {chosen}");
        } else {
            let column = if selection.recency.is_some() { Column::Recency } else { Column::Title };
            let filter = self.of_segments(&rest, true);
            let by = self.by(column.index());
            let seasons = selection.season.as_ref().map_or(seasons, std::slice::from_ref);
            let list = self.list(seasons);
            let _ = write!(self.sql, "entries e{by} WHERE e.account = $1 AND e.season IN ({list}){filter}");
        }
    }

    /// Some slugs for `IN`, filled up to a power of two, so that there are few different statements.
    fn list(&mut self, slugs: &[Slug]) -> String {
        let count = slugs.len().max(1).next_power_of_two();
        let last = slugs.last().map_or_else(String::new, Slug::to_string);
        let texts = slugs.iter().map(Slug::to_string).chain(std::iter::repeat(last)).take(count);
        let places: Vec<String> = texts.map(|text| format!("${}", self.value(text))).collect();
        places.join(", ")
    }

    /// Where the account stands, and a row for each season or group that has entries.
    pub(super) fn write_totals(&mut self, listing: &Listing, seasons: &[Slug]) {
        let by = listing.sort.grouping.column();
        let _ = write!(self.sql, "SELECT a.version, a.sequence, c.part, c.total FROM accounts a LEFT JOIN (SELECT ");
        if listing.selection.is_counted() {
            let Conditions { chosen, .. } = self.conditions(&listing.selection);
            let _ = write!(
                self.sql,
                "{by} AS part, CAST(sum(total) AS BIGINT) AS total FROM entry_counts WHERE account = $1{chosen} \
                 GROUP BY {by}"
            );
        } else {
            let _ = write!(self.sql, "e.{by} AS part, count(*) AS total FROM ");
            self.write_gathered(&listing.selection, seasons);
            let _ = write!(self.sql, " GROUP BY e.{by}");
        }
        self.sql.push_str(") AS c ON a.id = $1 WHERE a.id = $1");
    }

    /// One row tells where the account stands, and the others are the entries, so that both are known to belong together.
    /// In SQLite an index has the number of its row, by which the documents are found at once.
    pub(super) fn write_page(&mut self, page: &Page<'_>) {
        let key = if page.listing.sort.column.is_text() { "''" } else { "CAST(0 AS BIGINT)" };
        let none = if page.is_detailed { ", '' AS detail" } else { "" };
        let _ = write!(
            self.sql,
            "SELECT version, sequence, CAST(-1 AS BIGINT) AS part, {key} AS key, '' AS slug, '' AS doc{none} \
             FROM accounts WHERE id = $1 UNION ALL \
             SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), page.part, page.key, page.slug"
        );
        let documents: &[&str] = if page.is_detailed { &["doc", "detail"] } else { &["doc"] };
        for column in documents {
            let _ = match self.engine {
                Engine::Sqlite => write!(self.sql, ", d.{column}"),
                Engine::Postgres => {
                    write!(self.sql, ", (SELECT d.{column} FROM entries d WHERE d.account = $1 AND d.slug = page.slug)")
                }
            };
        }
        self.sql.push_str(" FROM (");
        if page.is_gathered {
            self.write_narrow(page);
        } else {
            for (index, part) in page.parts.iter().enumerate() {
                if index > 0 {
                    self.sql.push_str(" UNION ALL ");
                }
                self.write_part(page, part);
            }
        }
        self.sql.push_str(") AS page");
        if self.engine == Engine::Sqlite {
            self.sql.push_str(" CROSS JOIN entries d WHERE d.rowid = page.held");
        }
    }

    /// The row of an entry, by which SQLite finds its documents.
    fn held(&self) -> (&'static str, &'static str) {
        match self.engine {
            Engine::Sqlite => (", e.rowid AS held", ", held"),
            Engine::Postgres => ("", ""),
        }
    }

    /// A page of a selection that is gathered whole: the number of its group, the key and the slug sort it.
    fn write_narrow(&mut self, page: &Page<'_>) {
        let Page { listing, totals, parts, seasons, limit, .. } = page;
        let ((read, held), name) = (self.held(), listing.sort.column.name());
        let direction = if listing.sort.is_reversed { " DESC" } else { "" };
        let groups = listing.groups.iter().enumerate().filter_map(|(number, group)| Some((number, (*group)?)));
        let groups: Vec<(usize, Slug)> = groups.filter(|(_, group)| totals.of(Some(*group)) > 0).collect();
        let number = if groups.is_empty() {
            "CAST(0 AS BIGINT)".to_owned()
        } else {
            let mut number = format!("CASE e.{}", listing.sort.grouping.column());
            for (index, group) in groups {
                let place = self.value(group);
                let _ = write!(number, " WHEN ${place} THEN CAST({index} AS BIGINT)");
            }
            let _ = write!(number, " ELSE CAST({} AS BIGINT) END", listing.groups.len());
            number
        };
        let _ = write!(
            self.sql,
            "SELECT part, key, slug{held} FROM (SELECT {number} AS part, e.{name} AS key, e.slug AS slug{read} FROM "
        );
        self.write_gathered(&listing.selection, seasons);
        self.sql.push_str(") AS gathered");
        let mut before = 0;
        match parts.first() {
            Some(Part { number, start: Some(start), .. }) => {
                let (key, slug) = (self.key(&start.place.key), self.value(start.place.slug));
                let comparison = if listing.sort.is_reversed { "<" } else { ">" };
                let _ = write!(
                    self.sql,
                    " WHERE (part > {number} OR (part = {number} AND (key, slug) {comparison} (${key}, ${slug})))"
                );
            }
            Some(part) => {
                before = part.offset;
                let _ = write!(self.sql, " WHERE part >= {}", part.number);
            }
            None => {}
        }
        let _ = write!(self.sql, " ORDER BY part, key{direction}, slug{direction}");
        let limit = self.value(i64::try_from(*limit).unwrap_or(i64::MAX));
        let offset = self.value(i64::try_from(before).unwrap_or(i64::MAX));
        let _ = write!(self.sql, " LIMIT ${limit} OFFSET ${offset}");
    }

    fn key(&mut self, key: &Key) -> usize {
        match key {
            Key::Integer(integer) => self.value(*integer),
            Key::Text(text) => self.value(text.to_string()),
        }
    }

    fn write_part(&mut self, page: &Page<'_>, part: &Part) {
        let number = self.value(i64::try_from(part.number).unwrap_or(i64::MAX));
        let (_, held) = self.held();
        let _ = write!(self.sql, "SELECT CAST(${number} AS BIGINT) AS part, key, slug{held} FROM (");
        // PostgreSQL merges index scans only where a literal tells it that few rows of each are wanted; SQLite does so
        // only where nothing does. Powers of two keep the number of different statements small.
        let most = part.limit.saturating_add(part.offset).min(1 << 62).next_power_of_two();
        let limit = if self.engine == Engine::Postgres { format!(" LIMIT {most}") } else { String::new() };
        let is_reversed = page.listing.sort.is_reversed;
        let read = self.held();
        self.write_ranges((page.listing, page.totals), part, (is_reversed, &limit), read.0);
        let direction = if is_reversed { " DESC" } else { "" };
        let limit = self.value(i64::try_from(part.limit).unwrap_or(i64::MAX));
        let _ = write!(self.sql, " ORDER BY key{direction}, slug{direction} LIMIT ${limit}");
        if part.offset > 0 {
            let offset = self.value(i64::try_from(part.offset).unwrap_or(i64::MAX));
            let _ = write!(self.sql, " OFFSET ${offset}");
        }
        self.sql.push_str(") AS ordered");
    }

    /// The entries of a part: one range of an index for its group or for each season, which both engines merge as they
    /// read. `read` is what is read of a row besides its key and slug.
    pub(super) fn write_ranges(
        &mut self,
        (listing, totals): (&Listing, &Totals),
        part: &Part,
        (is_reversed, limit): (bool, &str),
        read: &str,
    ) {
        let name = listing.sort.column.name();
        let direction = if is_reversed { " DESC" } else { "" };
        let is_of_season = part.group.is_none() && totals.by.len() <= RANGES;
        let filter = self.of_segments(&listing.selection, is_of_season);
        let bound = part.start.as_ref().map_or_else(String::new, |start| {
            let (key, slug) = (self.key(&start.place.key), self.value(start.place.slug));
            let comparison = match (is_reversed, start.is_included) {
                (false, true) => ">=",
                (false, false) => ">",
                (true, true) => "<=",
                (true, false) => "<",
            };
            format!(" AND (e.{name}, e.slug) {comparison} (${key}, ${slug})")
        });
        let held = if read.is_empty() { "" } else { ", held" };
        let (column, index, ranges) = match (listing.sort.grouping, part.group) {
            (Grouping::Chapter, Some(group)) => ("chapter", "entries_of_chapter", vec![group]),
            (_, Some(group)) => ("category", "entries_of_category", vec![group]),
            (_, None) => {
                let mut seasons: Vec<Slug> = totals.by.keys().copied().collect();
                seasons.sort();
                ("season", listing.sort.column.index(), seasons)
            }
        };
        let by = self.by(index);
        if ranges.len() > RANGES {
            let _ = write!(
                self.sql,
                "SELECT e.{name} AS key, e.slug AS slug{read} FROM entries e WHERE e.account = $1{bound}{filter}"
            );
            return;
        }
        for (number, range) in ranges.into_iter().enumerate() {
            if number > 0 {
                self.sql.push_str(" UNION ALL ");
            }
            let range = self.value(range);
            let _ = write!(
                self.sql,
                "SELECT key, slug{held} FROM (SELECT e.{name} AS key, e.slug AS slug{read} FROM entries e{by} \
                 WHERE e.account = $1 AND e.{column} = ${range}{bound}{filter} \
                 ORDER BY e.{name}{direction}, e.slug{direction}{limit}) AS range{number}"
            );
        }
    }
}
