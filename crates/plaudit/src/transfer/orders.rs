//! The orders of a file, with the items that stand on lines of their own. An entry that a file has keeps the payment status that it
//! states; otherwise it follows the orders.

use std::collections::{BTreeMap, HashMap};

use super::Error;
use super::import::{Import, Item, REMEMBERED};
use super::store::{self, Space, Unique};
use crate::order_flow;
use crate::program::Program;
use crate::records::orders::{self, Catalogue as _, Order, RelatedData, Series};
use crate::records::{self, entries};
use db::DbError;
use kernel::input::Members;
use kernel::json::{Json, parse_object};
use kernel::kind::Kind;
use kernel::text::Slug;

/// What the stage of orders knows.
struct Stage<'p> {
    program: &'p Program,
    /// Whether the account had orders before.
    may_exist: bool,
    /// The last number of each series that an order was given.
    last_numbers: HashMap<Series, u64>,
    titles: HashMap<Slug, String>,
}

impl Import<'_> {
    /// Adds records of a kind that stand on lines of their own to those that a member of their owner nests.
    pub(super) fn join_lines(&mut self, item: &mut Item, kind: Kind, member: &'static str) -> Result<(), Error> {
        if !self.reading.lines.contains(&kind) {
            return Ok(());
        }
        let lines = self.reading.names.lines_of(kind, &item.location.name)?;
        if lines.is_empty() {
            return Ok(());
        }
        let mut joined = match item.object.remove(member) {
            None => Vec::new(),
            Some(Json::Array(nested)) => nested,
            Some(_) => {
                self.faults.member(&item.location, member, "must be a list where some stand on lines of their own");
                return Ok(());
            }
        };
        joined.extend(lines.iter().filter_map(|line| Some(Json::Object(parse_object(line).ok()?.into_owned()))));
        item.object.set(member, Json::Array(joined));
        Ok(())
    }

    /// Checks and writes the orders, and makes those anew that show an entry whose title has changed.
    pub(super) async fn orders(&mut self, program: &Program) -> Result<(), Error> {
        let mut queue = self.begin(Kind::Order).await?;
        let mut stage =
            Stage { program, may_exist: queue.is_stored, last_numbers: HashMap::new(), titles: HashMap::new() };
        while let Some(batch) = self.batch(&mut queue).await? {
            for item in batch {
                self.order(&mut stage, item).await?;
            }
        }
        if self.faults.is_empty() {
            self.refresh_orders(&mut stage).await?;
            self.follow_orders(program).await?;
        }
        Ok(())
    }

    async fn order(&mut self, stage: &mut Stage<'_>, mut item: Item) -> Result<(), Error> {
        let Some(slug) = item.slug() else { return Ok(()) };
        item.object.set("deleted", Json::Bool(item.deleted));
        self.join_lines(&mut item, Kind::OrderItem, "items")?;
        self.join_lines(&mut item, Kind::Payment, "payments")?;
        let before = item.found.as_ref().map(orders::store::of_row).transpose()?;
        let states_update = item.object.get("updated").is_some();
        if let Some(before) = &before {
            keep(&mut item, before);
        }
        let reader = |members: &mut Members<'_>| Order::read(members, slug, stage.program, self.origin.at);
        let Some(mut order) = item.read(reader, &mut self.faults) else {
            return self.check_unread(&item, &orders::MEMBERS.concat(), stage.program).await;
        };
        if order.invoice_number.is_empty() {
            let series = order.series();
            let last = if let Some(last) = stage.last_numbers.get(&series) {
                *last
            } else {
                let in_file = self.reading.last_numbers.get(&series).copied().unwrap_or(0);
                orders::store::last_number(&mut self.tx, self.id, series).await?.max(in_file)
            };
            let next = last.saturating_add(1);
            order.invoice_number = series.number(next);
            stage.last_numbers.insert(series, next);
        }
        if !states_update && before.as_ref().is_some_and(|before| *before != order) {
            order.updated = self.origin.at;
        }
        self.check_references(&item.location, stage.program, order.references()).await?;
        let holder = if stage.may_exist {
            store::order_of_invoice(&mut self.tx, self.id, &orders::invoice_key(&order.invoice_number)).await?
        } else {
            None
        };
        let unique = (Space::Invoice, Unique::Invoice);
        let member = ("invoice_number", order.invoice_number.as_str());
        self.check_unique(&item.location, unique, member, holder).await?;
        if !self.faults.is_empty() {
            return Ok(());
        }
        for entry in order_flow::paid_otherwise(before.as_ref(), &order) {
            let (names, name) = (&mut self.reading.names, entry.as_str());
            if !names.has(Kind::Entry, name)? || names.line_of(Space::UnstatedPayment, name)?.is_some() {
                names.note(Space::Ordered, name)?;
            }
        }
        self.write_order(stage, &order, item.found.map(|found| found.doc)).await
    }

    /// Writes an order, unless its document is what is stored.
    async fn write_order(&mut self, stage: &mut Stage<'_>, order: &Order, stored: Option<String>) -> Result<(), Error> {
        let around = self.order_related_data(stage, order).await?;
        let doc = orders::shown(order, &around);
        if stored.as_ref() == Some(&doc) {
            return Ok(());
        }
        let revision = self.log(Kind::Order, order.slug.as_str(), doc.clone()).await?;
        orders::store::put(&mut self.tx, self.id, (order, &doc), revision, stored.is_none()).await?;
        Ok(())
    }

    async fn order_related_data(&mut self, stage: &mut Stage<'_>, order: &Order) -> Result<RelatedData, DbError> {
        let tax = order.tax_rate_details.and_then(|tax| stage.program.tax(tax));
        let mut around = RelatedData { tax, titles: BTreeMap::new() };
        for entry in order.items.iter().filter_map(|item| item.entry) {
            if let Some(title) = self.title(stage, entry).await? {
                around.titles.insert(entry, title);
            }
        }
        Ok(around)
    }

    async fn title(&mut self, stage: &mut Stage<'_>, entry: Slug) -> Result<Option<String>, DbError> {
        if let Some(title) = stage.titles.get(&entry) {
            return Ok(Some(title.clone()));
        }
        let found = entries::store::title(&mut self.tx, self.id, entry).await?;
        if let Some(title) = &found {
            if stage.titles.len() >= REMEMBERED {
                stage.titles.clear();
            }
            stage.titles.insert(entry, title.clone());
        }
        Ok(found)
    }

    /// Whether entries are paid follows the orders that were written.
    async fn follow_orders(&mut self, program: &Program) -> Result<(), Error> {
        let mut last = String::new();
        loop {
            let named = self.noted(Space::Ordered, None, &mut last).await?;
            if named.is_empty() {
                return Ok(());
            }
            let entries: Vec<Slug> = named.iter().filter_map(|entry| Slug::parse(entry)).collect();
            order_flow::refresh_payment_status(&mut self.tx, program, &self.origin, &entries, true).await?;
        }
    }

    /// Orders show the titles of entries. Where any of these has changed, all orders are gone through.
    async fn refresh_orders(&mut self, stage: &mut Stage<'_>) -> Result<(), Error> {
        if !stage.may_exist || !self.reading.names.any(Space::Retitled)? {
            return Ok(());
        }
        let mut last = String::new();
        while let Some(found) = records::store::next(&mut self.tx, self.id, Kind::Order, &mut last).await? {
            for (_, row) in found {
                let order = orders::store::of_row(&row)?;
                self.write_order(stage, &order, Some(row.doc)).await?;
            }
        }
        Ok(())
    }
}

/// What an order may leave out and the stored one has.
fn keep(item: &mut Item, before: &Order) {
    let invoice_number = item.object.get("invoice_number").and_then(Json::as_str).unwrap_or_default();
    if invoice_number.is_empty() {
        item.object.set("invoice_number", Json::String(before.invoice_number.clone().into()));
    }
    for (name, time) in [("created_at", before.created_at), ("updated", before.updated)] {
        if item.object.get(name).is_none() {
            item.object.set(name, Json::String(time.to_string().into()));
        }
    }
}
