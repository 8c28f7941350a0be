//! What an order of entries comes to, by the set-up of the account. Pure.
//!
//! - Without a currency the order is in that of the account, or else in the first one, by its code, that prices of the season have.
//! - Taxes are those of the buyer's country and state. A buyer who names no country is taxed as one of the seller's country.
//! - Who has the number of a member is one. The processing fee is taxed as what is sold; its fixed part is in the account's
//!   currency alone.
//! - A line is called by its entry, and described by its price.

use crate::program::Program;
use crate::program::discounts::{self, Discount};
use crate::program::prices::{MemberStatus, Price, PriceType};
use crate::records::entries::Entry;
use crate::records::entries::rules::tags;
use crate::records::orders::{
    AppliedTax, Calculation, ENTRANT, ENTRY, Item, LineParts, Order, Payment, TEXT_LENGTH, TaxTreatment, Totals, Wanted,
};
use kernel::input::Violations;
use kernel::text::{Currency, LocalTime, Money, Rate, Slug, Timestamp};
use pricing::{
    Conditions, Fee, Granted, Members, PriceAmount, PriceKind, PricingError, Quote, Reduction, TaxRules, Terms, Uses,
};

/// What the calculation knows of who orders.
#[derive(Clone, Debug)]
pub(super) struct Buyer {
    /// The user.
    pub user: Slug,
    /// The number by which the user is a member; empty for none.
    pub member_number: String,
    /// Whether the user is charged no taxes.
    pub is_tax_exempt: bool,
    /// Whether the user has paid, or is to pay, for entering the season.
    pub is_entrant: bool,
    /// In how many orders the discount was used.
    pub uses: Uses,
}

/// The prices of a season, with their amounts as they begin to hold.
pub(super) struct Prices<'p>(Vec<(&'p Price, Vec<PriceAmount>)>);

impl<'p> Prices<'p> {
    /// Those of the season that are not in the trash.
    pub(super) fn of(program: &'p Program, season: Slug) -> Self {
        let zone = program.account.zone();
        let moment = |from: LocalTime| from.earliest(&zone);
        let prices = program.prices.all_live().filter(|price| price.season == season);
        let amounts = |price: &Price| {
            let amounts = price.amounts.iter();
            amounts.map(|amount| PriceAmount { money: amount.money, from: amount.from.map(moment) }).collect()
        };
        Self(prices.map(|price| (price, amounts(price))).collect())
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The currency of orders that name none.
    pub(super) fn default_currency(&self, program: &Program) -> Option<Currency> {
        program.account.currency.or_else(|| self.currency())
    }

    /// Whether one is for people who enter.
    pub(super) fn has_entrant_price(&self) -> bool {
        self.0.iter().any(|(price, _)| price.kind == PriceType::Entrant)
    }

    /// The first currency, by its code.
    fn currency(&self) -> Option<Currency> {
        let amounts = self.0.iter().flat_map(|(_, amounts)| amounts);
        amounts.map(|amount| amount.money.currency()).min_by_key(|currency| currency.code())
    }

    /// Whether the same price is for an entry before and after a move, whoever the entrant is.
    pub(super) fn are_same_for(&self, program: &Program, before: &Entry, after: &Entry, now: Timestamp) -> bool {
        let Some(currency) = self.default_currency(program) else { return true };
        [false, true].into_iter().all(|is_member| {
            let conditions = Conditions { currency, now, is_member, has_paid_as_entrant: true };
            let of = |entry: &Entry| Some(self.item(entry, &conditions).ok()?.map(|item| item.price));
            of(before).is_some_and(|price| of(after) == Some(price))
        })
    }

    /// What bills an entry itself, whatever its tags cost.
    pub(super) fn item(&self, entry: &Entry, conditions: &Conditions) -> Result<Option<pricing::Item>, PricingError> {
        let untagged = Entry { tags: String::new(), ..entry.clone() };
        let items = self.items(&[&untagged], conditions)?;
        Ok(items.into_iter().find(|item| item.kind == PriceKind::Entry))
    }

    /// The items of an order for these entries.
    pub(super) fn items(
        &self,
        entries: &[&Entry],
        conditions: &Conditions,
    ) -> Result<Vec<pricing::Item>, PricingError> {
        let prices: Vec<pricing::Price<'_>> = self
            .0
            .iter()
            .map(|(price, amounts)| pricing::Price {
                slug: price.slug,
                kind: match price.kind {
                    PriceType::Entry => PriceKind::Entry,
                    PriceType::Entrant => PriceKind::Entrant,
                    PriceType::Tag => PriceKind::Tag,
                    PriceType::Ticket => PriceKind::Ticket,
                },
                tag: price.tag.as_deref(),
                categories: &price.categories,
                chapters: &price.chapters,
                members: match price.member_status {
                    MemberStatus::All => Members::All,
                    MemberStatus::Only => Members::Only,
                    MemberStatus::None => Members::None,
                },
                amounts,
            })
            .collect();
        let tags: Vec<Vec<String>> =
            entries.iter().map(|entry| tags::split(&entry.tags).map(str::to_owned).collect()).collect();
        let entries: Vec<pricing::Entry<'_>> = entries
            .iter()
            .zip(&tags)
            .map(|(entry, tags)| pricing::Entry {
                slug: entry.slug,
                category: entry.category,
                chapter: entry.chapter,
                tags,
            })
            .collect();
        pricing::items(&prices, &entries, conditions)
    }
}

/// The order of these entries, which are of one season and of one entrant, without a slug of its own and a number. An order
/// of which no price applies has no lines. `violations` are what is wrong with the request already.
pub(super) fn order(
    program: &Program,
    wanted: &Wanted,
    entries: &[&Entry],
    (buyer, slug): (&Buyer, Slug),
    (now, mut violations): (Timestamp, Violations),
) -> Result<Order, Violations> {
    let season = entries.first().map_or(slug, |entry| entry.season);
    let prices = Prices::of(program, season);
    let Some(currency) = wanted.currency.or_else(|| prices.default_currency(program)) else {
        violations.add("currency", "is required: neither the account nor a price of the season has one");
        return Err(violations);
    };
    let is_member = !buyer.member_number.is_empty();
    let conditions = Conditions { currency, now, is_member, has_paid_as_entrant: buyer.is_entrant };
    let found = discount(program, season, &wanted.discount_code);
    if found.is_none() && !wanted.discount_code.is_empty() {
        violations.add("discount_code", "is no discount code of the season");
    }
    let amounts = found.map(amounts_of).unwrap_or_default();
    let granted = found.and_then(|found| match granted(found, &amounts, (currency, now, buyer.uses), program) {
        Ok(granted) => Some(granted),
        Err(refused) => {
            violations.add("discount_code", refused.to_string());
            None
        }
    });
    let items = match prices.items(entries, &conditions) {
        Ok(items) => items,
        Err(error) => {
            violations.add(member_of(&error), error.to_string());
            return Err(violations);
        }
    };
    violations.or(Some(()))?;
    let terms = terms(program, (currency, granted), wanted, buyer.is_tax_exempt);
    let quote = pricing::quote(&items, &terms).map_err(|error| fault(&error))?;
    let named = |item: &pricing::Item| name(program, item, entries);
    let mut order = Order {
        user: buyer.user,
        season,
        note: wanted.note.clone(),
        test: wanted.test,
        discount_code: found.map(|found| found.code.clone()).unwrap_or_default(),
        processing_fee_rate: terms.fee.rate,
        ..of_quote(slug, &quote, named, now)
    };
    order.billing = wanted.billing.clone();
    order.billing.member_number.clone_from(&buyer.member_number);
    order.update_payment_status().map_err(|_| fault(&PricingError::Overflow))?;
    Ok(order)
}

/// The live discount of a code; none where it is empty.
pub(super) fn discount<'p>(program: &'p Program, season: Slug, code: &str) -> Option<&'p Discount> {
    if code.is_empty() { None } else { discounts::rules::find(program, season, code).next() }
}

fn amounts_of(discount: &Discount) -> Vec<Money> {
    match &discount.reduction {
        discounts::Reduction::Percent(_) => Vec::new(),
        discounts::Reduction::Amounts(amounts) => amounts.clone(),
    }
}

fn granted<'d>(
    discount: &'d Discount,
    amounts: &'d [Money],
    (currency, now, uses): (Currency, Timestamp, Uses),
    program: &Program,
) -> Result<Granted<'d>, pricing::Refused> {
    let zone = program.account.zone();
    let moment = |time: LocalTime| time.earliest(&zone);
    let reduction = match discount.reduction {
        discounts::Reduction::Percent(percent) => Reduction::Share(percent),
        discounts::Reduction::Amounts(_) => Reduction::Amounts(amounts),
    };
    let discount = pricing::Discount {
        reduction,
        prices: &discount.prices,
        from: discount.start_date.map(moment),
        until: discount.end_date.map(moment),
        limit: discount.limit,
        limit_per_user: discount.limit_per_user,
    };
    discount.granted(currency, now, uses)
}

/// On what terms an order is made.
fn terms<'a>(
    program: &'a Program,
    (currency, discount): (Currency, Option<Granted<'a>>),
    wanted: &Wanted,
    is_exempt: bool,
) -> Terms<'a> {
    let account = &program.account;
    let taxes: Vec<pricing::Tax<'a>> = program
        .taxes
        .all_live()
        .map(|tax| pricing::Tax {
            slug: tax.slug,
            country: &tax.country,
            region: tax.region.as_deref(),
            term: if tax.term.is_empty() { tax.name.as_deref().unwrap_or_default() } else { &tax.term },
            rate: tax.rate,
        })
        .collect();
    let rules = TaxRules { inclusive: account.tax_rules.inclusive, reverse_charge: &account.tax_rules.reverse_charge };
    let billing = &wanted.billing;
    let of_seller = if billing.country.is_empty() { account.seller.country() } else { None };
    let buyer = pricing::Buyer {
        country: of_seller.as_deref().unwrap_or(&billing.country),
        region: &billing.state,
        vat_number: &billing.vat_number,
        is_exempt,
    };
    let fixed = account.processing_fee.fixed_in(currency, account.currency).map_or(0, Money::minor);
    Terms {
        currency,
        discount,
        fee: Fee { rate: account.processing_fee.rate, fixed, is_taxed: true },
        taxation: pricing::taxation(&taxes, &rules, &buyer),
    }
}

/// What a line is called, described and of which type.
fn name(program: &Program, item: &pricing::Item, entries: &[&Entry]) -> (String, String, &'static str) {
    let price = program.prices.any(item.price);
    let locale = program.account.default_language;
    let title = price.map(|price| price.title.in_locale(locale).to_owned()).unwrap_or_default();
    let entry = entries.iter().find(|entry| Some(entry.slug) == item.entry);
    let of_entry = entry.map(|entry| entry.title.clone());
    let kind = match item.kind {
        PriceKind::Entry => ENTRY,
        PriceKind::Entrant => ENTRANT,
        PriceKind::Tag => "Tag",
        PriceKind::Ticket => "Ticket",
    };
    let tag = price.and_then(|price| price.tag.as_deref());
    let name = match (of_entry, tag) {
        (Some(entry), Some(tag)) => format!("{entry} ({tag})"),
        (Some(entry), None) => entry,
        (None, _) => title.clone(),
    };
    (name, title, kind)
}

/// The order of a quote; whose it is and of which season is for the caller to say.
pub(super) fn of_quote(
    slug: Slug,
    quote: &Quote<'_>,
    named: impl Fn(&pricing::Item) -> (String, String, &'static str),
    now: Timestamp,
) -> Order {
    let money = |minor| Money::new(minor, quote.currency);
    let taxation = &quote.taxation;
    let treatment = TaxTreatment::from(taxation.treatment);
    let items = quote.lines.iter().map(|line| {
        let (name, description, kind) = named(&line.item);
        Item {
            amount: money(line.amounts.base),
            description,
            discount: money(line.amounts.discount),
            entry: line.item.entry,
            item_type: kind.to_owned(),
            name,
            price: Some(line.item.price),
            quantity: i64::from(line.item.quantity),
        }
    });
    let lines = quote.lines.iter().map(|line| LineParts {
        listed: line.listed,
        reduction: line.reduction,
        price: None,
        fee: line.amounts.fee,
        taxable: line.amounts.taxable,
        taxes: line.amounts.taxes.clone(),
    });
    let taxes: Vec<AppliedTax> = taxation
        .taxes
        .iter()
        .map(|tax| AppliedTax { tax: Some(tax.slug), term: tax.term.to_owned(), rate: tax.rate })
        .collect();
    let rates: i64 = taxes.iter().map(|tax| i64::from(tax.rate.ten_thousandths())).sum();
    let rates = if treatment == TaxTreatment::Charged { rates } else { 0 };
    let terms: Vec<&str> = taxes.iter().map(|tax| tax.term.as_str()).collect();
    let sums = &quote.sums;
    Order {
        slug,
        invoice_number: String::new(),
        created_at: now,
        transaction_date: None,
        season: slug,
        user: slug,
        billing: crate::records::orders::Billing::default(),
        currency: quote.currency,
        discount_code: String::new(),
        totals: Totals {
            discount: money(sums.discount),
            subtotal: money(sums.base),
            tax: money(sums.taxes.iter().copied().fold(0, i64::saturating_add)),
            processing_fee: money(sums.fee),
            total: money(sums.total),
        },
        tax_rate: Rate::from_ten_thousandths(rates).unwrap_or_default(),
        processing_fee_rate: Rate::default(),
        // Each tax has its own term whole.
        tax_term: terms.join(" + ").chars().take(TEXT_LENGTH).collect(),
        tax_rate_details: if let [tax] = taxes.as_slice() { tax.tax } else { None },
        payment: Payment::default(),
        items: items.collect(),
        calculation: Calculation { taxes, inclusive: taxation.inclusive, treatment, lines: lines.collect() },
        credited: Vec::new(),
        payments: Vec::new(),
        credits: None,
        adjusts: None,
        test: false,
        deleted: false,
        note: String::new(),
        updated: now,
    }
}

/// What an error of pricing is about.
fn member_of(error: &PricingError) -> &'static str {
    match error {
        PricingError::NotPayable { .. } => "currency",
        _ => "entries",
    }
}

/// An error of pricing as the fault of a body.
pub(super) fn fault(error: &PricingError) -> Violations {
    fault_of(member_of(error), error)
}

/// An error as the fault of a member.
pub(super) fn fault_of(member: &str, error: &dyn std::fmt::Display) -> Violations {
    let mut violations = Violations::default();
    violations.add(member, error.to_string());
    violations
}
