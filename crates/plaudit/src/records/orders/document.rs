//! The document of an order, which is shown and read back, and the program-file form.
//!
//! What is never shown is hidden in the document: whether the order is a test or in the trash, the note, and the time of
//! the last change.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::RecordMembers as _;
use crate::records::orders::calculation::{self, Calculation, TaxTreatment};
use crate::records::orders::invoice::Form;
use crate::records::orders::payments;
use crate::records::orders::record::{Catalogue, Item, Order, TaxDetails};
use crate::records::orders::rules::{self, Totals};
use crate::records::orders::store::OfEntry;
use kernel::document::{self, Object};
use kernel::input::{self, Members};
use kernel::json::{Json, Object as JsonObject, parse_object};
use kernel::kind::Kind;
use kernel::text::{Currency, Money, Slug, Timestamp, write_json_string};
use pricing::Amounts;

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
        write_hidden(object, order, true);
    })
}

/// What is not shown on lists; what is nothing is left out, unless the form is whole.
fn write_hidden(object: &mut Object<'_>, order: &Order, is_whole: bool) {
    let of_tax = (order.tax_rate_details, order.tax_term.as_str(), order.tax_rate);
    if order.calculation != Calculation::derived(&order.items, &order.totals, of_tax) {
        order.calculation.write(object, order.currency);
    }
    if !order.credited.is_empty() {
        calculation::write_credited(&order.credited, object, order.currency);
    }
    if let Some(adjusted) = order.adjusts {
        object.slug("adjusts", adjusted);
    }
    if !order.payments.is_empty() {
        payments::write(&order.payments, object);
    }
    if let Some(credited) = order.credits {
        object.slug("credits", credited);
    }
    for (name, is) in [("test", order.test), ("deleted", order.deleted)].into_iter().filter(|(_, is)| is_whole || *is) {
        object.flag(name, is);
    }
    if is_whole || !order.note.is_empty() {
        object.text("note", &order.note);
    }
    object.time("updated", order.updated);
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
            write_hidden(object, order, false);
        });
    })
}

/// The order as a single read shows it, from the document that lists show.
pub(super) fn single(order: &Order, doc: &str) -> String {
    document::extended(doc, |object| {
        object.object("invoice", |object| {
            object.download("html", &Form::Html.token(order.slug));
            object.download("ubl", &Form::Ubl.token(order.slug));
        });
        payments::write(&order.payments, object);
        match order.credits {
            Some(slug) => object.object("credits", |object| {
                object.slug("slug", slug);
                object.link("link", Kind::Order, slug.as_str());
            }),
            None => object.null("credits"),
        }
    })
}

/// What an order would come to, line by line, each amount as a number and as people read it (contract, section 11).
pub fn quoted(order: &Order, titles: &BTreeMap<Slug, String>) -> String {
    let money = |minor| Money::new(minor, order.currency);
    let amounts = order.amounts();
    let is_reversed = order.calculation.treatment == TaxTreatment::ReverseCharge;
    document::object(|object| {
        object.text("currency", order.currency.code());
        object.text("discount_code", &order.discount_code);
        object.list("items", |list| {
            for (item, amounts) in order.items.iter().zip(&amounts) {
                list.object(|object| {
                    object.text("description", &item.description);
                    write_entry(object, item, titles);
                    object.text("item_type", &item.item_type);
                    object.text("name", &item.name);
                    object.optional_reference("price", Kind::Price, item.price);
                    object.integer("quantity", item.quantity);
                    let tax = amounts.taxes.iter().copied().fold(0, i64::saturating_add);
                    let parts = [
                        ("amount", amounts.base),
                        ("discount", amounts.discount),
                        ("processing_fee", amounts.fee),
                        ("tax", tax),
                        ("total", amounts.total),
                    ];
                    write_both(object, parts.map(|(name, minor)| (name, money(minor))));
                });
            }
        });
        object.list("taxes", |list| {
            for (index, tax) in order.calculation.taxes.iter().enumerate() {
                let sum = |part: &dyn Fn(&Amounts) -> i64| amounts.iter().map(part).fold(0, i64::saturating_add);
                let base = sum(&|amounts| amounts.taxable);
                let amount = sum(&|amounts| amounts.taxes.get(index).copied().unwrap_or_default());
                list.object(|object| {
                    object.text("term", &tax.term);
                    object.rate("rate", tax.rate);
                    object.flag("reverse_charge", is_reversed);
                    write_both(object, [("base", money(base)), ("amount", money(amount))]);
                });
            }
        });
        let Totals { discount, subtotal, tax, processing_fee, total } = order.totals;
        let sums = [
            ("subtotal", subtotal),
            ("discounts", discount),
            ("processing_fee", processing_fee),
            ("tax", tax),
            ("total", total),
        ];
        write_both(object, sums);
    })
}

/// Writes amounts, and how people read them.
fn write_both<const N: usize>(object: &mut Object<'_>, amounts: [(&str, Money); N]) {
    for (name, amount) in &amounts {
        object.money(name, *amount);
    }
    object.object("formatted", |object| {
        for (name, amount) in &amounts {
            object.formatted_money(name, *amount);
        }
    });
}

/// What the document of an order shows of other records.
pub(super) fn related(doc: &str) -> Result<RelatedData, String> {
    let object = parse_object(doc.as_bytes()).map_err(|error| error.to_string())?;
    let tax = object.get("tax_rate_details").and_then(Json::as_object).map(read_tax).transpose()?;
    let mut titles = BTreeMap::new();
    for item in object.get("items_array").and_then(Json::as_array).into_iter().flatten() {
        let Some(entry) = item.get("entry").and_then(Json::as_object) else { continue };
        let text = |name: &str| entry.get(name).and_then(Json::as_str);
        if let (Some(slug), Some(title)) = (text("slug").and_then(Slug::parse), text("title")) {
            titles.insert(slug, title.to_owned());
        }
    }
    Ok(RelatedData { tax, titles })
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

fn write_entry(object: &mut Object<'_>, item: &Item, titles: &BTreeMap<Slug, String>) {
    match item.entry {
        Some(entry) => object.object("entry", |object| {
            object.named(Kind::Entry, entry, ("title", titles.get(&entry).map_or("", String::as_str)));
        }),
        None => object.null("entry"),
    }
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

/// The members of a line as it is billed, in their order.
pub const ITEM_MEMBERS: [&str; 34] = [
    "address",
    "category",
    "chapter",
    "city",
    "company",
    "country",
    "created_at",
    "currency",
    "description",
    "discount",
    "discount_code",
    "entry_name",
    "entry_slug",
    "invoice_number",
    "ip_address",
    "member_number",
    "parent_category",
    "payment_method",
    "payment_status",
    "postcode",
    "price",
    "region",
    "season",
    "slug",
    "state",
    "subtotal",
    "tax_term",
    "transaction_date",
    "transaction_provider",
    "transaction_reference",
    "transaction_status",
    "type",
    "user",
    "vat_number",
];

/// A line of an order, of this number from 1, with what its order is billed with (contract, section 6).
pub fn item_document(order: &Order, (number, item): (usize, &Item), of_entry: Option<&OfEntry>) -> String {
    let (billing, payment) = (&order.billing, &order.payment);
    document::object(|object| {
        object.text("address", &billing.address);
        object.optional_reference("category", Kind::Category, of_entry.map(|entry| entry.category));
        object.optional_reference("chapter", Kind::Chapter, of_entry.map(|entry| entry.chapter));
        object.text("city", &billing.city);
        object.text("company", &billing.company);
        object.text("country", &billing.country);
        object.time("created_at", order.created_at);
        object.text("currency", order.currency.code());
        object.text("description", &item.description);
        object.money("discount", item.discount);
        object.text("discount_code", &order.discount_code);
        object.text("entry_name", of_entry.map_or("", |entry| &entry.title));
        object.optional_slug("entry_slug", item.entry);
        object.text("invoice_number", &order.invoice_number);
        object.text("ip_address", &billing.ip_address);
        object.text("member_number", &billing.member_number);
        match of_entry {
            Some(entry) => object.parent("parent_category", entry.category),
            None => object.null("parent_category"),
        }
        object.text("payment_method", &payment.payment_method);
        object.text("payment_status", payment.payment_status.name());
        object.text("postcode", &billing.postcode);
        object.optional_reference("price", Kind::Price, item.price);
        object.text("region", &billing.region);
        object.reference("season", Kind::Season, order.season);
        object.slug("slug", item_slug(order.slug, number));
        object.text("state", &billing.state);
        object.money("subtotal", item.amount);
        object.text("tax_term", &order.tax_term);
        object.optional_time("transaction_date", order.transaction_date);
        object.text("transaction_provider", &payment.transaction_provider);
        object.text("transaction_reference", &payment.transaction_reference);
        object.text("transaction_status", &payment.transaction_status);
        object.text("type", &item.item_type);
        object.purchaser("user", order.user);
        object.text("vat_number", &billing.vat_number);
    })
}

/// What a line is called: so many slugs behind that of its order, in the order of the alphabet. No two lines of an order have one.
pub(super) fn item_slug(order: Slug, number: usize) -> Slug {
    const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut carried = number;
    let mut letters: Vec<u8> = order.as_str().bytes().collect();
    for letter in letters.iter_mut().rev() {
        let at = LETTERS.iter().position(|other| other == letter).unwrap_or(0) + carried;
        (*letter, carried) = (LETTERS[at % LETTERS.len()], at / LETTERS.len());
    }
    std::str::from_utf8(&letters).ok().and_then(Slug::parse).unwrap_or(order)
}

fn read_tax(object: &JsonObject<'_>) -> Result<TaxDetails, String> {
    let mut members = Members::open(object);
    let tax = TaxDetails {
        slug: members.required("slug", input::slug).ok_or("a tax without a slug")?,
        name: members.nullable("name", input::text(usize::MAX)).flatten(),
        term: members.required("term", input::text(usize::MAX)).ok_or("a tax without a term")?,
        rate: members.required("rate", input::rate).ok_or("a tax without a rate")?,
        country: members.required("country", input::text(usize::MAX)).ok_or("a tax without a country")?,
        region: members.nullable("region", input::text(usize::MAX)).flatten(),
    };
    Ok(tax)
}

fn write_item(object: &mut Object<'_>, item: &Item, titles: &BTreeMap<Slug, String>) {
    object.formatted_money("amount", item.amount);
    object.text("description", &item.description);
    object.formatted_money("discount", item.discount);
    write_entry(object, item, titles);
    object.text("item_type", &item.item_type);
    object.text("name", &item.name);
    object.optional_reference("price", Kind::Price, item.price);
    object.integer("quantity", item.quantity);
}
