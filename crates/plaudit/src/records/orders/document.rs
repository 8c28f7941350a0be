//! The document of an order, which is shown and read back, and the program-file form.
//!
//! What is never shown is hidden in the document: whether the order is a test or in the trash, the note, and the time of
//! the last change.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::RecordMembers as _;
use crate::records::orders::record::{Catalogue, Item, Order, TaxDetails};
use crate::records::orders::rules;
use kernel::document::{self, Object};
use kernel::input::Members;
use kernel::json::parse_object;
use kernel::kind::Kind;
use kernel::text::{Currency, Money, Slug, Timestamp, write_json_string};

/// What an order shows of other records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedData {
    /// The tax that the order names.
    pub tax: Option<TaxDetails>,
    /// The titles of the entries that the items name.
    pub titles: BTreeMap<Slug, String>,
}

impl Order {
    /// The entries that its lines name, each with the price, every pair once.
    pub fn entries(&self) -> BTreeSet<(Slug, Option<Slug>)> {
        self.items.iter().filter_map(|item| Some((item.entry?, item.price))).collect()
    }
}

/// The document of an order in which an entry has another title.
pub(super) fn retitled(doc: &str, entry: Slug, title: &str) -> String {
    let link = document::object(|object| object.link("link", Kind::Entry, entry.as_str()));
    // The link is a slot, which no text of people can look like; the title follows it.
    let before = format!("{},\"title\":", link.trim_matches(['{', '}']));
    let mut made = Vec::with_capacity(doc.len() + title.len());
    let mut rest = doc;
    while let Some(at) = rest.find(&before) {
        let (kept, after) = rest.split_at(at + before.len());
        made.extend_from_slice(kept.as_bytes());
        write_json_string(title, &mut made);
        rest = &after[string_length(after)..];
    }
    made.extend_from_slice(rest.as_bytes());
    // Only whole strings were written, so that the lossy way is never taken.
    String::from_utf8(made).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The length of the JSON string with which a text begins.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// A stored order states everything, so that nothing has to be looked up.
struct Nothing;

impl Catalogue for Nothing {
    fn price(&self, _: Slug, _: Currency, _: Timestamp) -> Option<Money> {
        None
    }

    fn tax(&self, _: Slug) -> Option<TaxDetails> {
        None
    }
}

/// Reads the document.
pub(super) fn read(doc: &str) -> Result<Order, String> {
    let doc = document::revealed(doc);
    let Ok(object) = parse_object(doc.as_bytes()) else {
        return Err("the document of an order is no JSON object".to_owned());
    };
    let mut members = Members::open(&object);
    let slug = members.required("slug", kernel::input::slug);
    let epoch = Timestamp::from_microseconds(0);
    let order = slug.and_then(|slug| Order::read(&mut members, slug, &Nothing, epoch));
    members.finish().or(order).map_err(|violations| format!("{violations:?}"))
}

/// The program-file form without its kind.
pub(super) fn exported(order: &Order) -> String {
    document::object(|object| {
        object.slug("slug", order.slug);
        write_head(object, order);
        object.slug("season", order.season);
        object.slug("user", order.user);
        write_billing_and_amounts(object, order);
        object.optional_slug("tax_rate_details", order.tax_rate_details);
        order.payment.write(object);
        object.list("items", |list| {
            for item in &order.items {
                list.object(|object| {
                    object.money("amount", item.amount);
                    object.text("description", &item.description);
                    object.money("discount", item.discount);
                    object.optional_slug("entry", item.entry);
                    object.text("item_type", &item.item_type);
                    object.text("name", &item.name);
                    object.optional_slug("price", item.price);
                    object.integer("quantity", item.quantity);
                });
            }
        });
        object.flag("test", order.test);
        object.flag("deleted", order.deleted);
        object.text("note", &order.note);
        object.time("updated", order.updated);
    })
}

/// The order as it is shown (specification, section 2.7), and what is hidden of it.
pub fn shown(order: &Order, related: &RelatedData) -> String {
    document::object(|object| {
        object.slug("slug", order.slug);
        write_head(object, order);
        object.reference("season", Kind::Season, order.season);
        object.purchaser("user", order.user);
        write_billing_and_amounts(object, order);
        match (order.tax_rate_details, &related.tax) {
            (Some(slug), Some(tax)) => object.object("tax_rate_details", |object| write_tax(object, slug, tax)),
            _ => object.null("tax_rate_details"),
        }
        order.payment.write(object);
        object.text("items", &rules::items_html(&order.items));
        object.list("items_array", |list| {
            for item in &order.items {
                list.object(|object| write_item(object, item, &related.titles));
            }
        });
        object.hidden(|object| {
            for (name, _) in [("test", order.test), ("deleted", order.deleted)].into_iter().filter(|(_, is)| *is) {
                object.flag(name, true);
            }
            if !order.note.is_empty() {
                object.text("note", &order.note);
            }
            object.time("updated", order.updated);
        });
    })
}

fn write_head(object: &mut Object<'_>, order: &Order) {
    object.text("invoice_number", &order.invoice_number);
    object.time("created_at", order.created_at);
    object.optional_time("transaction_date", order.transaction_date);
}

fn write_billing_and_amounts(object: &mut Object<'_>, order: &Order) {
    order.billing.write(object);
    object.text("currency", order.currency.code());
    object.text("discount_code", &order.discount_code);
    object.money("discount", order.totals.discount);
    object.money("subtotal", order.totals.subtotal);
    object.money("tax", order.totals.tax);
    object.rate("tax_rate", order.tax_rate);
    object.money("processing_fee", order.totals.processing_fee);
    object.rate("processing_fee_rate", order.processing_fee_rate);
    object.money("total", order.totals.total);
    object.text("tax_term", &order.tax_term);
}

fn write_tax(object: &mut Object<'_>, slug: Slug, tax: &TaxDetails) {
    object.slug("slug", slug);
    object.link("link", Kind::Tax, slug.as_str());
    object.optional_text("name", tax.name.as_deref());
    object.text("term", &tax.term);
    object.rate("rate", tax.rate);
    object.text("country", &tax.country);
    object.optional_text("region", tax.region.as_deref());
}

fn write_item(object: &mut Object<'_>, item: &Item, titles: &BTreeMap<Slug, String>) {
    object.text("amount", &item.amount.formatted());
    object.text("description", &item.description);
    object.text("discount", &item.discount.formatted());
    match item.entry {
        Some(entry) => object.object("entry", |object| {
            object.named(Kind::Entry, entry, ("title", titles.get(&entry).map_or("", String::as_str)));
        }),
        None => object.null("entry"),
    }
    object.text("item_type", &item.item_type);
    object.text("name", &item.name);
    object.optional_reference("price", Kind::Price, item.price);
    object.integer("quantity", item.quantity);
}
