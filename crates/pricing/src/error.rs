//! Why there is no result.

use kernel::text::{Currency, Slug};

/// Why an amount cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PricingError {
    /// An amount does not fit in 64 bits of minor units.
    #[error("the amount is too large")]
    Overflow,
    /// A price, a fee, a discount or a line of an order is below nothing.
    #[error("an amount is below nothing")]
    Negative,
    /// The price that applies has no amount in the currency at that time.
    #[error("the price {price} cannot be paid in {currency} now")]
    NotPayable {
        /// One of the prices that apply.
        price: Slug,
        /// The currency that was asked for.
        currency: Currency,
    },
    /// An amount is to be spread over lines of which none has an amount.
    #[error("there is nothing over which the amount can be spread")]
    NothingToSpreadOver,
    /// A credit names a line that the order does not have, counted from zero, or names it twice.
    #[error("the line {0} is named twice or does not exist")]
    Line(usize),
    /// Amounts that are added have not the same taxes.
    #[error("the lines have not the same taxes")]
    OtherTaxes,
    /// A credit of nothing, or of a line of which nothing is left.
    #[error("there is nothing to credit")]
    NothingToCredit,
    /// A credit is larger than what is left of its lines.
    #[error("only {left} minor units are left to credit")]
    MoreThanLeft {
        /// What is left, in minor units.
        left: i64,
    },
}
