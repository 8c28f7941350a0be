//! The members of orders as the interface describes them (specification, section 2.7).

use crate::program::{Member, SLUG, Shape, names};
use crate::records::orders::PaymentStatus;
use kernel::kind::Kind;

const fn text(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Text(usize::MAX), about)
}

const fn number(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Number(None, None), about)
}

/// The members of an order.
pub const MEMBERS: &[Member] = &[
    SLUG,
    text("invoice_number", "The number of its invoice."),
    Member::optional("created_at", Shape::Time, "When it was made."),
    Member::optional("transaction_date", Shape::Time, "When it was paid; null until a transaction is stated.")
        .nullable(),
    Member::optional("season", Shape::Ref(Kind::Season), "Its season.").or_gone(),
    Member::optional("user", Shape::Component("Purchaser"), "Who ordered."),
    text("company", "The company that is billed."),
    text("address", "The street of the address."),
    text("city", "The city of the address."),
    text("region", "The region of the address."),
    text("state", "The state of the address."),
    text("postcode", "The postcode of the address."),
    text("country", "The country of the address."),
    text("member_number", "The number of a member."),
    text("vat_number", "The number for value-added tax."),
    text("comments", "Comments."),
    text("ip_address", "The address from which it was made."),
    text("currency", "The code of its currency, ISO 4217."),
    text("discount_code", "The code of its discount."),
    number("discount", "The discount."),
    number("subtotal", "The sum of its items."),
    number("tax", "The tax."),
    number("tax_rate", "The percentage of the tax."),
    number("processing_fee", "The fee."),
    number("processing_fee_rate", "The percentage of the fee."),
    number("total", "What is due."),
    text("tax_term", "What the tax is called."),
    Member::optional("tax_rate_details", Shape::Component("TaxRateDetails"), "The tax.").nullable(),
    text("payment_method", "How it is paid."),
    Member::optional("payment_status", Shape::OneOf(|| names(PaymentStatus::CHOICES)), "Whether it is paid."),
    text("e_invoice_status", "Where its electronic invoice is."),
    text("transaction_provider", "Who took the payment."),
    text("transaction_reference", "What the provider calls the payment."),
    text("transaction_status", "What the provider says of the payment."),
    text("items", "Its items as a list in HTML."),
    Member::optional("items_array", Shape::List(&Shape::Component("OrderLine"), usize::MAX), "Its items."),
];
