//! Invoices and credit notes: one page of HTML for people, EN 16931 in UBL 2.1 for machines.
//!
//! - Amounts are written as they are given, in whole minor units; nothing is rounded here. What does not add up is a fault
//!   and never a document.
//! - What a credit note gives back is below nothing as it is given, and above nothing as both forms show it.
//! - The same invoice always gives the same bytes.
//! - Every text is escaped. A control character that cannot be shown becomes U+FFFD.
#![doc = ""]
#![doc = include_str!("../README.md")]

mod fault;
mod figures;
mod html;
mod invoice;
mod markup;
mod party;
mod ubl;
mod vat;

pub use fault::Fault;
pub use html::html;
pub use invoice::{Buyer, Invoice, Kind, Line, Seller, Tax, Treatment};
pub use ubl::ubl;
