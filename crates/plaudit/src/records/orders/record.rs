//! An order and its items, and the reading of their program-file form.

use crate::program::{Context, Record, RecordMembers as _, choices};
use crate::records::orders::calculation::{self, Calculation};
use crate::records::orders::payments::{self, Transaction};
use crate::records::orders::rules::{self, Given, Series, Totals};
use kernel::document::{MARKER, Slot};
use kernel::input::{self, Members};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Currency, Locale, Money, Rate, Slug, Timestamp};
use pricing::CreditLine;

/// The most characters of an ordinary text.
pub(crate) const TEXT_LENGTH: usize = 255;
/// The most characters of comments, notes and descriptions.
pub(super) const LONG_TEXT_LENGTH: usize = 65_536;
/// The most characters of an invoice number.
const INVOICE_NUMBER_LENGTH: usize = 64;
/// The most items of an order.
pub(super) const ITEMS: usize = 100_000;
/// The largest quantity of an item.
const QUANTITY: i64 = 1_000_000;

choices! {
    /// Whether an order has been paid.
    pub enum PaymentStatus {
        /// It has.
        Paid "paid",
        /// Not yet.
        AwaitingPayment "awaiting_payment",
    }
}

/// Whom an order is billed to; every member may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Record)]
#[record(changes = BillingChanges)]
pub struct Billing {
    /// The company that is billed.
    #[member(Text(TEXT_LENGTH), creatable, updatable)]
    pub company: String,
    /// The street of the address.
    #[member(Text(1_000), creatable, updatable)]
    pub address: String,
    /// The city of the address.
    #[member(Text(TEXT_LENGTH), creatable, updatable)]
    pub city: String,
    /// The region of the address.
    #[member(Text(TEXT_LENGTH))]
    pub region: String,
    /// The state of the address.
    #[member(Text(TEXT_LENGTH), creatable, updatable)]
    pub state: String,
    /// The postcode of the address.
    #[member(Text(TEXT_LENGTH), creatable, updatable)]
    pub postcode: String,
    /// The country of the address.
    #[member(Text(TEXT_LENGTH), creatable, updatable)]
    pub country: String,
    /// The number of a member.
    #[member(Text(TEXT_LENGTH))]
    pub member_number: String,
    /// The number for value-added tax.
    #[member(Text(TEXT_LENGTH), creatable)]
    pub vat_number: String,
    /// Comments.
    #[member(Text(LONG_TEXT_LENGTH))]
    pub comments: String,
    /// The address from which it was made.
    #[member(Text(TEXT_LENGTH))]
    pub ip_address: String,
}

/// How an order is paid, and where that stands.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
pub struct Payment {
    /// How it is paid.
    #[member(Text(TEXT_LENGTH))]
    pub payment_method: String,
    /// Whether it is paid.
    #[member(default = PaymentStatus::AwaitingPayment, updatable)]
    pub payment_status: PaymentStatus,
    /// Where its electronic invoice is.
    #[member(Text(TEXT_LENGTH))]
    pub e_invoice_status: String,
    /// Who took the payment.
    #[member(Text(TEXT_LENGTH))]
    pub transaction_provider: String,
    /// What the provider calls the payment.
    #[member(Text(TEXT_LENGTH))]
    pub transaction_reference: String,
    /// What the provider says of the payment.
    #[member(Text(TEXT_LENGTH))]
    pub transaction_status: String,
}

impl Default for Payment {
    /// That of a new order.
    fn default() -> Self {
        let nothing = String::new;
        Self {
            payment_method: nothing(),
            payment_status: PaymentStatus::AwaitingPayment,
            e_invoice_status: "none".to_owned(),
            transaction_provider: nothing(),
            transaction_reference: nothing(),
            transaction_status: nothing(),
        }
    }
}

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What the whole quantity costs, before the discount.
    pub amount: Money,
    /// Its description.
    pub description: String,
    /// What is taken off the amount.
    pub discount: Money,
    /// The entry that is paid for.
    pub entry: Option<Slug>,
    /// Entry, Entrant, Tag or Ticket, as a rule.
    pub item_type: String,
    /// Its name.
    pub name: String,
    /// The price that it was sold at.
    pub price: Option<Slug>,
    /// How many.
    pub quantity: i64,
}

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its slug.
    pub slug: Slug,
    /// Its invoice number; empty until it has been given one.
    pub invoice_number: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was paid.
    pub transaction_date: Option<Timestamp>,
    /// The season that it belongs to.
    pub season: Slug,
    /// Who ordered.
    pub user: Slug,
    /// Whom it is billed to.
    pub billing: Billing,
    /// The currency of all of its amounts.
    pub currency: Currency,
    /// The discount code that was used.
    pub discount_code: String,
    /// Its amounts.
    pub totals: Totals,
    /// The tax, in per cent.
    pub tax_rate: Rate,
    /// The processing fee, in per cent.
    pub processing_fee_rate: Rate,
    /// What the tax is called.
    pub tax_term: String,
    /// The tax that was applied.
    pub tax_rate_details: Option<Slug>,
    /// How it is paid.
    pub payment: Payment,
    /// Its lines.
    pub items: Vec<Item>,
    /// How its amounts come about.
    pub calculation: Calculation,
    /// What its credit notes take from its lines, in sums.
    pub credited: Vec<CreditLine>,
    /// What was paid, and what is to be, in the order in which it was stated.
    pub payments: Vec<Transaction>,
    /// The order whose invoice it credits, for a credit note.
    pub credits: Option<Slug>,
    /// The order whose lines it changes: it has the difference that a change of category makes.
    pub adjusts: Option<Slug>,
    /// Whether it was made to try things out.
    pub test: bool,
    /// Whether it is in the trash.
    pub deleted: bool,
    /// A note of the managers; never shown.
    pub note: String,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// A tax as an order shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxDetails {
    /// The tax.
    pub slug: Slug,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it is called on invoices.
    pub term: String,
    /// The rate, in per cent.
    pub rate: Rate,
    /// The country, ISO 3166-1 alpha-2.
    pub country: String,
    /// The region, if it is not the whole country's.
    pub region: Option<String>,
}

/// What reading an order looks up in the account's set-up.
pub trait Catalogue {
    /// What one piece costs at a price in a currency at a moment.
    fn price(&self, price: Slug, currency: Currency, at: Timestamp) -> Option<Money>;

    /// A tax.
    fn tax(&self, tax: Slug) -> Option<TaxDetails>;
}

impl Order {
    /// Reads the program-file form, in which references are bare slugs; those of the read form, objects with a `slug`,
    /// are good as well, and so are `items_array` in place of `items` and the HTML text in `items`. The members `kind`
    /// and `slug` have been read. What is wrong is left in `members`.
    ///
    /// An amount that follows from others may be left out; one that is given and contradicts them is a fault. Whether
    /// what it refers to exists is for the caller to look up: [`Order::references`].
    pub fn read(members: &mut Members<'_>, slug: Slug, catalogue: &impl Catalogue, now: Timestamp) -> Option<Self> {
        // Languages play no part in these.
        let context = Context { languages: Vec::new(), default_language: Locale::EnGb, now };
        let invoice_number = members.optional("invoice_number", input::text(INVOICE_NUMBER_LENGTH));
        let created_at = members.optional("created_at", input::time).unwrap_or(now);
        let transaction_date = members.nullable("transaction_date", input::time).flatten();
        let season = members.required("season", reference);
        let user = members.required("user", reference);
        let billing = Billing::read(members, slug, &context);
        let currency = members.required("currency", currency);
        let tax_rate_details = members.nullable("tax_rate_details", reference).flatten();
        let tax = tax_rate_details.and_then(|tax| catalogue.tax(tax));
        let tax_rate = members.optional("tax_rate", rate).or(tax.as_ref().map(|tax| tax.rate)).unwrap_or_default();
        let processing_fee_rate = members.optional("processing_fee_rate", rate).unwrap_or_default();
        let tax_term = members.optional("tax_term", input::text(TEXT_LENGTH));
        let amounts = match currency {
            Some(currency) => read_amounts(members, (currency, created_at), (tax_rate, processing_fee_rate), catalogue),
            None => pass_over_amounts(members),
        };
        let discount_code = members.optional("discount_code", input::text(TEXT_LENGTH));
        let states_status = members.has("payment_status");
        let payment = Payment::read(members, slug, &context);
        let payments = payments::read(members, currency);
        let credits = members.nullable("credits", reference).flatten();
        let adjusts = members.nullable("adjusts", reference).flatten();
        let is_test = members.optional("test", input::flag);
        let deleted = members.optional("deleted", input::flag);
        let note = members.optional("note", note);
        let updated = members.optional("updated", input::time);
        let tax_term = tax_term.unwrap_or_else(|| tax.map(|tax| tax.term).unwrap_or_default());
        let of_tax = (tax_rate_details, tax_term.as_str(), tax_rate);
        let calculation = match (&amounts, currency) {
            (Some((items, totals)), Some(currency)) => calculation::read(members, (items, totals, currency), of_tax),
            _ => None,
        };
        let credited = match (&calculation, currency) {
            (Some(calculation), Some(currency)) => calculation::read_credited(members, currency, calculation),
            _ => None,
        };
        if calculation.is_none() || credited.is_none() {
            // What cannot be judged is not told to be unknown.
            let _ = (members.get("calculation"), members.get("credited"));
        }
        let mut order = Self {
            slug,
            invoice_number: invoice_number.unwrap_or_default(),
            created_at,
            transaction_date,
            season: season?,
            user: user?,
            billing: billing?,
            currency: currency?,
            discount_code: discount_code.unwrap_or_default(),
            tax_rate,
            processing_fee_rate,
            tax_term,
            tax_rate_details,
            payment: payment?,
            payments: payments?,
            calculation: calculation?,
            credited: credited?,
            credits,
            adjusts,
            test: is_test.unwrap_or_default(),
            deleted: deleted.unwrap_or_default(),
            note: note.unwrap_or_default(),
            updated: updated.unwrap_or(now),
            totals: amounts.as_ref()?.1,
            items: amounts?.0,
        };
        if !states_status && let Err(error) = order.update_payment_status() {
            members.fault("payments", error.to_string());
        }
        Some(order)
    }

    /// The series that its number is of.
    pub fn series(&self) -> Series {
        match (self.test, self.credits) {
            (true, _) => Series::Tests,
            (false, Some(_)) => Series::CreditNotes,
            (false, None) => Series::Invoices,
        }
    }

    /// Every slug that the order refers to, with the member that does and the kind it must have.
    pub fn references(&self) -> Vec<(String, Kind, Slug)> {
        let mut references =
            vec![("season".to_owned(), Kind::Season, self.season), ("user".to_owned(), Kind::User, self.user)];
        references.extend(self.credits.map(|order| ("credits".to_owned(), Kind::Order, order)));
        references.extend(self.adjusts.map(|order| ("adjusts".to_owned(), Kind::Order, order)));
        references.extend(self.tax_rate_details.map(|tax| ("tax_rate_details".to_owned(), Kind::Tax, tax)));
        for (number, item) in (1..).zip(&self.items) {
            references.extend(item.entry.map(|entry| (format!("items.{number}.entry"), Kind::Entry, entry)));
            references.extend(item.price.map(|price| (format!("items.{number}.price"), Kind::Price, price)));
        }
        references
    }
}

/// Reads the items and the amounts, and holds them against each other.
fn read_amounts(
    members: &mut Members<'_>,
    (currency, at): (Currency, Timestamp),
    rates: (Rate, Rate),
    catalogue: &impl Catalogue,
) -> Option<(Vec<Item>, Totals)> {
    let listed = matches!(members.get("items"), Some(Json::Array(_)));
    if listed && members.get("items_array").is_some() {
        members.fault("items", "and items_array are the same list, of which one is enough");
    }
    let name = if listed { "items" } else { "items_array" };
    let items = if members.has(name) {
        let items = members.objects(name, ITEMS, |members| read_item(members, (currency, at), catalogue))?;
        items.into_iter().collect::<Option<_>>()
    } else {
        Some(Vec::new())
    };
    let mut amount = |name| members.optional(name, money(currency));
    let given = Given {
        discount: amount("discount"),
        subtotal: amount("subtotal"),
        tax: amount("tax"),
        processing_fee: amount("processing_fee"),
        total: amount("total"),
    };
    let items: Vec<Item> = items?;
    if !listed && let Some(html) = members.optional("items", input::text(usize::MAX)) {
        let computed = rules::items_html(&items);
        if html != computed {
            members.fault("items", format!("is computed and must be {computed} or left out"));
        }
    }
    match rules::totals(&items, &given, rates, currency) {
        Ok(totals) => Some((items, totals)),
        Err(violations) => {
            for (name, message) in violations.iter() {
                members.fault(name, message);
            }
            None
        }
    }
}

/// Marks the amounts as read where without a currency nothing can be told of them.
fn pass_over_amounts<T>(members: &mut Members<'_>) -> Option<T> {
    for name in ["items", "items_array", "discount", "subtotal", "tax", "processing_fee", "total"] {
        let _ = members.get(name);
    }
    None
}

fn read_item(
    members: &mut Members<'_>,
    (currency, at): (Currency, Timestamp),
    catalogue: &impl Catalogue,
) -> Option<Item> {
    let entry = members.nullable("entry", reference);
    let price = members.nullable("price", reference).flatten();
    let quantity = members.optional("quantity", input::integer(1..=QUANTITY)).unwrap_or(1);
    let amount = match (members.has("amount"), price) {
        (true, _) => members.optional("amount", money(currency)),
        (false, None) => {
            members.fault("amount", "is required where there is no price");
            None
        }
        (false, Some(price)) => {
            let amount = catalogue.price(price, currency, at).and_then(|amount| amount.checked_mul(quantity).ok());
            if amount.is_none() {
                members.fault("amount", format!("is required, because the price {price} gives none in {currency}"));
            }
            amount
        }
    };
    let discount = members.optional("discount", money(currency)).unwrap_or_else(|| Money::zero(currency));
    let description = members.optional("description", input::text(LONG_TEXT_LENGTH)).unwrap_or_default();
    let kind = if members.has("item_type") { "item_type" } else { "type" };
    let kind = members.optional(kind, input::text(TEXT_LENGTH));
    let name = members.optional("name", input::text(1_000)).unwrap_or_default();
    Some(Item {
        amount: amount?,
        description,
        discount,
        entry: entry.flatten(),
        item_type: kind.unwrap_or_default(),
        name,
        price,
        quantity,
    })
}

/// A bare slug, an object with a slug, or the slot of a stored document.
pub(super) fn reference(json: &Json) -> Result<Slug, String> {
    if let Some(slot) = json.as_str().and_then(|text| text.strip_prefix(MARKER)) {
        let slug = match Slot::of_string(slot) {
            Some(Slot::Reference(_, slug) | Slot::Person { slug, .. }) => Slug::parse(slug),
            _ => None,
        };
        return slug.ok_or_else(|| "must be a slug of 8 ASCII letters".to_owned());
    }
    input::slug(json.get("slug").unwrap_or(json))
}

/// A note has a column of its own, in which PostgreSQL takes no NUL.
pub(super) fn note(json: &Json) -> Result<String, String> {
    match input::text(LONG_TEXT_LENGTH)(json)? {
        note if note.contains('\0') => Err("must not contain the character U+0000".to_owned()),
        note => Ok(note),
    }
}

fn currency(json: &Json) -> Result<Currency, String> {
    json.as_str()
        .and_then(Currency::parse)
        .ok_or_else(|| "must be the ISO 4217 code of a currency, such as USD".to_owned())
}

pub(super) fn rate(json: &Json) -> Result<Rate, String> {
    let rate = json.as_number().or(json.as_str()).and_then(Rate::parse);
    rate.ok_or_else(|| "must be a number from 0 to 100 with at most 4 decimals".to_owned())
}

/// An amount: a number, its text, or the text with the currency before it, which the slot of a stored document has.
pub(super) fn money(currency: Currency) -> impl Fn(&Json) -> Result<Money, String> {
    move |json| {
        let read = match json {
            Json::Number(text) => Money::parse(text, currency),
            Json::String(text) => match text.strip_prefix(MARKER).and_then(Slot::of_string) {
                Some(Slot::Money(text)) => Money::parse_formatted(text, currency),
                _ => Money::parse_formatted(text, currency),
            },
            _ => return Err("must be an amount of money".to_owned()),
        };
        read.map_err(|error| error.to_string())
    }
}
