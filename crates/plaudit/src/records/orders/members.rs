//! The members of orders as the interface describes them (specification, section 2.7).

use crate::program::{Member, MemberValue as _, RecordMembers as _, SLUG, Shape};
use crate::records::orders::record::{LONG_TEXT_LENGTH, TEXT_LENGTH};
use crate::records::orders::{Billing, ENTRIES_SHAPE, PAYMENTS, Payment};
use kernel::kind::Kind;
use kernel::text::Currency;

const fn text(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Text(usize::MAX), about)
}

const fn number(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Number(None, None), about)
}

/// The members of an order, in tables.
pub const MEMBERS: &[&[Member]] = &[
    &[
        SLUG,
        text("invoice_number", "The number of its invoice."),
        Member::optional("created_at", Shape::Time, "When it was made."),
        Member::optional("transaction_date", Shape::Time, "When its transaction was stated; null until one is.")
            .nullable(),
        Member::optional("season", Shape::Ref(Kind::Season), "Its season.").or_gone(),
        Member::optional("user", Shape::Component("Purchaser"), "Who ordered."),
    ],
    Billing::MEMBERS,
    &[
        text("currency", "The code of its currency, ISO 4217; that of the account where a new order names none.")
            .creatable()
            .in_bodies_as(&Currency::SHAPE),
        text("discount_code", "The code of its discount.").creatable().in_bodies_as(&Shape::Text(TEXT_LENGTH)),
        number("discount", "The discount."),
        number("subtotal", "The sum of its items."),
        number("tax", "The tax."),
        number("tax_rate", "The percentage of the tax."),
        number("processing_fee", "The fee."),
        number("processing_fee_rate", "The percentage of the fee."),
        number("total", "What is due."),
        text("tax_term", "What the tax is called."),
        Member::optional("tax_rate_details", Shape::Component("TaxRateDetails"), "The tax.").nullable(),
    ],
    Payment::MEMBERS,
    &[
        text("items", "Its items as a list in HTML.").example("<ul><li>Entry A</li></ul>"),
        Member::optional("items_array", Shape::List(&Shape::Component("OrderLine"), usize::MAX), "Its items."),
        Member::optional("invoice", Shape::Component("InvoiceAddresses"), "Where its invoice is, for some minutes.")
            .in_single_reads(),
        Member::optional("payments", Shape::List(&Shape::Component("Payment"), PAYMENTS), "Its payments.")
            .in_single_reads(),
        Member::optional(
            "credits",
            Shape::Component("CreditedOrder"),
            "The order that it credits; null for what is no credit note.",
        )
        .nullable()
        .in_single_reads(),
        Member::optional("note", Shape::Text(LONG_TEXT_LENGTH), "A note of the managers; never shown.")
            .creatable()
            .updatable()
            .hidden(),
        Member::optional("entries", ENTRIES_SHAPE, "The entries that it is for, of one season and one entrant.")
            .to_create()
            .hidden(),
        Member::optional("test", Shape::Flag, "Whether it is made to try things out.").creatable().hidden(),
    ],
];
