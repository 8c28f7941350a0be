//! What is to be paid, exact to the minor unit: prices, discounts, taxes, fees, credit notes, differences.
//!
//! - Amounts are whole minor units of one currency in 64 bits, whatever its number of decimals; rates are exact decimals.
//! - Every amount is rounded once, on its line, half up ([`exact`]). Sums are sums of lines, so that they always agree.
//! - What does not fit in 64 bits is an error, never a wrong number and never a panic.
//! - Nothing depends on the order of lines, prices or taxes.
#![doc = ""]
#![doc = include_str!("../README.md")]

pub mod error;
pub mod exact;

pub mod discounts;
pub mod prices;
pub mod taxes;

pub mod changes;
pub mod credits;
pub mod orders;

pub use changes::{Change, Difference, difference, reduction, total};
pub use credits::{Asked, CreditLine, credit, left};
pub use discounts::{Discount, Granted, Off, Reduction, Refused, Uses};
pub use error::PricingError;
pub use exact::spread;
pub use orders::{Amounts, Fee, Item, Line, Quote, Terms, quote};
pub use prices::{Conditions, Entry, Members, Price, PriceAmount, PriceKind, items};
pub use taxes::{Buyer, Tax, TaxRules, Taxation, Treatment, taxation};
