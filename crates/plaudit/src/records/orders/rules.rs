//! Pure rules of orders: what their amounts are, and how they are listed.

use crate::records::orders::record::Item;
use kernel::input::Violations;
use kernel::text::{Currency, Money, MoneyError, Rate};

/// The amounts of an order. The total is always `subtotal - discount + tax + processing_fee`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// What the items take off.
    pub discount: Money,
    /// What the items cost.
    pub subtotal: Money,
    /// The tax.
    pub tax: Money,
    /// The processing fee.
    pub processing_fee: Money,
    /// What has to be paid.
    pub total: Money,
}

/// The amounts that a record states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `discount`.
    pub discount: Option<Money>,
    /// `subtotal`.
    pub subtotal: Option<Money>,
    /// `tax`.
    pub tax: Option<Money>,
    /// `processing_fee`.
    pub processing_fee: Option<Money>,
    /// `total`.
    pub total: Option<Money>,
}

/// The amounts of an order, from its items and from what it states; `rates` are those of the tax and of the fee.
///
/// Where there are items, subtotal and discount are their sums. Without them what is stated stands, and a subtotal that
/// is left out is what makes the total right. A tax or fee that is left out is its rate of what remains after the
/// discount. A statement that contradicts is a violation.
pub fn totals(items: &[Item], given: &Given, rates: (Rate, Rate), currency: Currency) -> Result<Totals, Violations> {
    let mut violations = Violations::default();
    let computed = compute(items, given, rates, currency).map_err(|error| {
        let mut violations = Violations::default();
        violations.add("total", error.to_string());
        violations
    })?;
    let stated = [
        ("discount", given.discount, computed.discount),
        ("subtotal", given.subtotal, computed.subtotal),
        ("total", given.total, computed.total),
    ];
    for (name, stated, computed) in stated {
        if let Some(stated) = stated.filter(|stated| *stated != computed) {
            let source = if items.is_empty() { "the other amounts" } else { "the items" };
            violations.add(name, format!("is {}, but {source} give {}", stated.to_decimal(), computed.to_decimal()));
        }
    }
    violations.or(Some(computed))
}

fn compute(
    items: &[Item],
    given: &Given,
    (tax_rate, fee_rate): (Rate, Rate),
    currency: Currency,
) -> Result<Totals, MoneyError> {
    let zero = Money::zero(currency);
    let sum = |part: fn(&Item) -> Money| items.iter().try_fold(zero, |sum, item| sum.checked_add(part(item)));
    let (subtotal, discount) = if items.is_empty() {
        let discount = given.discount.unwrap_or(zero);
        let subtotal = match (given.subtotal, given.total) {
            (Some(subtotal), _) => subtotal,
            (None, Some(total)) => {
                let tax = given.tax.unwrap_or(zero);
                let fee = given.processing_fee.unwrap_or(zero);
                // With the subtotal unknown a rate tells nothing, so a tax or fee that is left out is nothing.
                let totals = Totals {
                    discount,
                    subtotal: total.checked_sub(tax)?.checked_sub(fee)?.checked_add(discount)?,
                    tax,
                    processing_fee: fee,
                    total,
                };
                return Ok(totals);
            }
            (None, None) => zero,
        };
        (subtotal, discount)
    } else {
        (sum(|item| item.amount)?, sum(|item| item.discount)?)
    };
    let remaining = subtotal.checked_sub(discount)?;
    let tax = given.tax.unwrap_or_else(|| tax_rate.of(remaining));
    let processing_fee = given.processing_fee.unwrap_or_else(|| fee_rate.of(remaining));
    let total = remaining.checked_add(tax)?.checked_add(processing_fee)?;
    Ok(Totals { discount, subtotal, tax, processing_fee, total })
}

/// The items as an HTML list.
pub fn items_html(items: &[Item]) -> String {
    let mut html = String::from("<ul>");
    for item in items {
        html.push_str("<li>");
        if item.quantity > 1 {
            html.push_str(itoa::Buffer::new().format(item.quantity));
            html.push_str(" x ");
        }
        escape(if item.name.is_empty() { &item.description } else { &item.name }, &mut html);
        html.push_str(" (");
        html.push_str(&item.amount.formatted());
        html.push_str(")</li>");
    }
    html.push_str("</ul>");
    html
}

fn escape(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

/// A series of numbers of orders, each without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Series {
    /// Invoices: plain numbers.
    Invoices,
    /// Credit notes: CN-1, CN-2 and so on.
    CreditNotes,
    /// What is made to try things out: TEST-1, TEST-2 and so on.
    Tests,
}

impl Series {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Invoices => "",
            Self::CreditNotes => "CN-",
            Self::Tests => "TEST-",
        }
    }

    /// A number of it.
    pub fn number(self, value: u64) -> String {
        format!("{}{value}", self.prefix())
    }

    /// The series that a number is of, and its value.
    pub fn of_number(number: &str) -> Option<(Self, u64)> {
        let key = invoice_key(number);
        let is_of = |series: &Self| {
            let (from, to) = series.keys();
            (from..to).contains(&key)
        };
        let series = [Self::Invoices, Self::CreditNotes, Self::Tests].into_iter().find(is_of)?;
        Some((series, invoice_value(&key)?))
    }

    /// The sort keys of its numbers: from the first one to before the second one.
    pub(super) fn keys(self) -> (String, String) {
        match self {
            // A number of more than 18 digits is not counted on.
            Self::Invoices => ("00".to_owned(), "19".to_owned()),
            Self::CreditNotes | Self::Tests => (format!("|{}00", self.prefix()), format!("|{}19", self.prefix())),
        }
    }
}

/// The sort key of an invoice number: numbers by their value, then numbers after a prefix and a hyphen by prefix and value, and
/// everything else after them as text.
///
/// No two invoice numbers have the same key, so that uniqueness of keys is uniqueness of invoice numbers.
pub fn invoice_key(invoice_number: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = invoice_number.trim_start_matches('0');
    // Longer numbers are larger; what is equal but for zeros in front is ordered by their number.
    if is_number(invoice_number) && digits.len() <= 99 {
        return format!("{:02}{digits}.{:02}", digits.len(), invoice_number.len() - digits.len());
    }
    match invoice_number.rsplit_once('-') {
        Some((prefix, digits)) if is_number(digits) && !digits.starts_with('0') && digits.len() <= 99 => {
            format!("|{prefix}-{:02}{digits}", digits.len())
        }
        _ => format!("~{invoice_number}"),
    }
}

/// The value of the number of a series whose sort key this is.
pub(super) fn invoice_value(key: &str) -> Option<u64> {
    let digits = match key.strip_prefix('|') {
        Some(key) => key.rsplit_once('-')?.1.get(2..)?,
        None => key.get(2..)?.split_once('.')?.0,
    };
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}
