//! `plaudit orders`: the register of orders for bookkeepers, and invoices.
//!
//! - Every order is in the register, by number, those in the trash and tests included: a line of it is a row, and an order without
//!   lines is one. Amounts are without taxes; the sum of the column `total` of an order is its total.
//! - An invoice is written as a page of HTML, or as EN 16931 in UBL; what that lacks is named.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::cells::cell;
use super::export::Output;
use super::{Failure, account_of, spare_database};
use crate::config::Config;
use crate::program::Program;
use crate::records::orders::{Form, Order, store};
use db::{AccountId, Db, DbError, Source, Tx};
use kernel::clock::Clock;
use kernel::text::{Money, Slug};

/// What to do with orders.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write every line of every order of an account as CSV, with its taxes and its number
    Export {
        /// The account's slug
        account: Slug,
        /// The file to write, in place of standard output; one of this name is replaced when the new one is whole
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Write the invoice, or the credit note, of an order
    Invoice {
        /// The account's slug
        account: Slug,
        /// The slug or the invoice number of the order
        order: String,
        /// The form: html, or ubl for EN 16931
        #[arg(long, default_value = "html")]
        form: Form,
        /// The file to write, in place of standard output; one of this name is replaced when the new one is whole
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

const COLUMNS: [&str; 35] = [
    "order",
    "invoice_number",
    "kind",
    "deleted",
    "created_at",
    "season",
    "user",
    "company",
    "address",
    "city",
    "state",
    "postcode",
    "country",
    "vat_number",
    "member_number",
    "currency",
    "discount_code",
    "payment_status",
    "transaction_date",
    "transaction_provider",
    "transaction_reference",
    "credits",
    "line",
    "type",
    "name",
    "description",
    "entry",
    "quantity",
    "amount",
    "discount",
    "processing_fee",
    "tax_term",
    "tax_rate",
    "tax",
    "total",
];

/// Runs the command.
pub(super) async fn run(db: &Db, config: &Config, command: Command) -> Result<(), Failure> {
    let (Command::Export { output, account } | Command::Invoice { output, account, .. }) = &command;
    if let Some(path) = output {
        spare_database(config, path)?;
    }
    let mut tx = db.snapshot().await?;
    let account = account_of(&mut tx, *account).await?;
    match command {
        Command::Export { output, .. } => {
            let mut output = Output::begin(output)?;
            let written = write(&mut tx, account, &mut output).await;
            output.finish(written.map_err(Failure::from))
        }
        Command::Invoice { order, form, output, .. } => {
            let program = Program::load(&mut tx, account, &Arc::from(""), &Clock::system()).await?;
            let program = program.ok_or_else(|| Failure::Failed("the account has no set-up".to_owned()))?;
            let found = store::billed(account, Source::Snapshot(&mut tx), &order).await?;
            let found = found.ok_or_else(|| Failure::Failed(format!("the account has no order {order}")))?;
            let written = form.of(&found, &program).map_err(Failure::Failed)?;
            let mut output = Output::begin(output)?;
            let written = output.write_all(written.as_bytes());
            output.finish(written.map_err(Failure::from))
        }
    }
}

async fn write(tx: &mut Tx, account: AccountId, out: &mut (dyn Write + Send)) -> Result<(), DbError> {
    let failed = |error: csv::Error| DbError::Failed(error.to_string());
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS).map_err(failed)?;
    store::each(tx, account, |order| {
        for cells in rows(&order) {
            csv.write_record(cells.iter().map(|cell| &**cell)).map_err(failed)?;
        }
        Ok(())
    })
    .await?;
    csv.flush().map_err(|error| failed(error.into()))
}

/// The rows of an order.
fn rows(order: &Order) -> Vec<Vec<Cow<'_, str>>> {
    let owned = |text: String| Cow::Owned::<str>(text);
    let slug = |slug: Option<Slug>| slug.map_or(Cow::Borrowed(""), |slug| owned(slug.to_string()));
    let money = |minor| owned(Money::new(minor, order.currency).to_decimal());
    let (billing, payment, totals) = (&order.billing, &order.payment, &order.totals);
    let kind = match (order.test, order.credits) {
        (true, _) => "test",
        (false, Some(_)) => "credit_note",
        (false, None) => "invoice",
    };
    let head = vec![
        slug(Some(order.slug)),
        cell(&order.invoice_number),
        kind.into(),
        if order.deleted { "yes" } else { "no" }.into(),
        owned(order.created_at.to_string()),
        slug(Some(order.season)),
        slug(Some(order.user)),
        cell(&billing.company),
        cell(&billing.address),
        cell(&billing.city),
        cell(&billing.state),
        cell(&billing.postcode),
        cell(&billing.country),
        cell(&billing.vat_number),
        cell(&billing.member_number),
        order.currency.code().into(),
        cell(&order.discount_code),
        payment.payment_status.name().into(),
        order.transaction_date.map_or(Cow::Borrowed(""), |date| owned(date.to_string())),
        cell(&payment.transaction_provider),
        cell(&payment.transaction_reference),
        slug(order.credits),
    ];
    let tax = |rates: Vec<String>| {
        [
            owned(order.calculation.taxes.iter().map(|tax| tax.term.clone()).collect::<Vec<_>>().join(" + ")),
            owned(rates.join(" + ")),
        ]
    };
    let rates = || order.calculation.taxes.iter().map(|tax| tax.rate.to_string()).collect();
    if order.items.is_empty() {
        let amounts = [totals.subtotal, totals.discount, totals.processing_fee].map(Money::minor);
        let mut cells = head;
        cells.extend(["", "", "", "", "", ""].map(Cow::Borrowed));
        cells.extend(amounts.map(money));
        cells.extend(tax(rates()));
        cells.extend([totals.tax, totals.total].map(|amount| money(amount.minor())));
        return vec![cells];
    }
    let lines = (1..).zip(order.items.iter().zip(order.amounts()));
    lines
        .map(|(number, (item, amounts))| {
            let mut cells = head.clone();
            cells.extend([
                owned(i32::to_string(&number)),
                cell(&item.item_type),
                cell(&item.name),
                cell(&item.description),
                slug(item.entry),
                owned(item.quantity.to_string()),
            ]);
            let of_taxes = amounts.taxes.iter().copied().fold(0, i64::saturating_add);
            cells.extend([amounts.base, amounts.discount, amounts.fee].map(money));
            cells.extend(tax(rates()));
            cells.extend([of_taxes, amounts.total].map(money));
            cells
        })
        .collect()
}
