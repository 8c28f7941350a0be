//! Orders: what people pay for their entries.
//!
//! - An order belongs to a season, is a test or not, and is `paid` or `awaiting_payment`.
//! - Its amounts are exact: subtotal and discount are the sums of its items, and the total is always
//!   `subtotal - discount + tax + processing_fee`. What a record states and contradicts is a fault.
//! - Its payments and what it credits are shown by a single read ([`payments`]).
//! - Invoice numbers are unique in the account; those that the service gives count up without gaps.
//! - The list without `order` shows what was changed last first; `dir=asc` turns it around. A named `order` begins with
//!   the smallest value, and `dir=desc` turns it around. Ties go by slug, ascending in both directions.
//! - `order=invoice_number` sorts numbers by their value, and what is no number after them. `order=season` sorts by the
//!   season's name in the account's default language, `order=payment_status` by the status.
//! - A season that is well-formed and unknown is an empty list, and so is the active season where there is none.

mod calculation;
mod credits;
mod document;
mod invoice;
pub(crate) mod list;
mod members;
mod payments;
mod record;
mod rules;
pub mod store;
mod update;
mod wanted;

pub use calculation::{AppliedTax, Calculation, LineParts, TaxTreatment};
pub(crate) use credits::credit_note;
pub use credits::read_refund;
pub use document::{ITEM_MEMBERS, RelatedData, item_document, quoted, shown};
pub use invoice::{Billed, Form};
pub(crate) use invoice::{E_INVOICE_STATUSES, e_invoice_status};
pub use list::LISTED;
pub use members::MEMBERS;
pub use payments::{PAYMENTS, Transaction, TransactionStatus};
pub(crate) use record::TEXT_LENGTH;
pub use record::{Billing, Catalogue, Item, Order, Payment, PaymentStatus, TaxDetails};
pub use rules::{Given, Series, Totals, invoice_key, items_html, totals};
pub use update::Changes;
pub use wanted::{ENTRIES_SHAPE, Wanted};

use crate::program::Program;
use kernel::text::{Currency, Money, Slug, Timestamp};

/// The type of a line for an entry (contract, section 6).
pub const ENTRY: &str = "Entry";
/// The type of a line for entering a season.
pub const ENTRANT: &str = "Entrant";

impl Catalogue for Program {
    fn price(&self, price: Slug, currency: Currency, at: Timestamp) -> Option<Money> {
        self.prices.any(price)?.amount_at(currency, at, &self.account.zone())
    }

    fn tax(&self, tax: Slug) -> Option<TaxDetails> {
        let tax = self.taxes.any(tax)?;
        Some(TaxDetails {
            slug: tax.slug,
            name: tax.name.clone(),
            term: tax.term.clone(),
            rate: tax.rate,
            country: tax.country.clone(),
            region: tax.region.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
