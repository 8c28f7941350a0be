//! A page for people: one file without scripts and without anything from elsewhere, on A4 or Letter as the printer has it.
//!
//! Labels are in English. A text that is given may be in any language, so that its direction follows from its letters.

use kernel::text::Money;

use crate::fault::Fault;
use crate::figures::{Amounts, Figures};
use crate::invoice::{Invoice, Kind, Treatment};
use crate::markup::Markup;

const STYLE: &str = include_str!("page.css");
/// An attribute of texts that are given.
const AUTO: &[(&str, &str)] = &[("dir", "auto")];
const ROW: &[(&str, &str)] = &[("scope", "row")];

/// The page, or what does not add up.
pub fn html(invoice: &Invoice<'_>) -> Result<String, Vec<Fault>> {
    let page = Page { invoice, figures: &Figures::of(invoice)? };
    let mut html = Markup::beginning("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.verbatim("<meta charset=\"utf-8\">\n");
            html.verbatim("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
            html.text("title", &[], &page.title());
            html.element("style", &[], |html| html.verbatim(STYLE));
        });
        html.element("body", &[], |html| html.element("main", &[], |html| page.write(html)));
    });
    Ok(html.finish())
}

struct Page<'a> {
    invoice: &'a Invoice<'a>,
    figures: &'a Figures,
}

/// A column of amounts: what it is called, and the amount of a line or of all.
type Column<'a> = (String, Box<dyn Fn(&Amounts) -> i64 + 'a>);

impl Page<'_> {
    fn title(&self) -> String {
        let name = if self.is_invoice() { "Invoice" } else { "Credit note" };
        format!("{name} {}", self.invoice.number.trim())
    }

    fn is_invoice(&self) -> bool {
        matches!(self.invoice.kind, Kind::Invoice)
    }

    fn write(&self, html: &mut Markup) {
        if self.invoice.is_test {
            let text = "Test: this document only tries the service out. Nothing was sold and nothing is to be paid.";
            html.text("p", &[("class", "test")], text);
        }
        html.text("h1", AUTO, &self.title());
        self.facts(html);
        html.element("div", &[("class", "parties")], |html| self.parties(html));
        html.element(
            "div",
            &[("class", "lines"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Lines")],
            |html| {
                html.element("table", &[], |html| self.lines(html));
            },
        );
        html.element("table", &[("class", "sums")], |html| self.sums(html));
        self.notes(html);
    }

    fn facts(&self, html: &mut Markup) {
        let invoice = self.invoice;
        let mut facts = vec![("Issued", invoice.issued.to_string())];
        if let Kind::CreditNote { number, issued } = invoice.kind {
            let issued = issued.map(|date| format!(" of {date}")).unwrap_or_default();
            facts.push(("Credits invoice", format!("{}{issued}", number.trim())));
        }
        facts.extend(invoice.due.map(|date| ("Due", date.to_string())));
        facts.push(("Currency", invoice.currency.code().to_owned()));
        list(html, &facts);
    }

    fn parties(&self, html: &mut Markup) {
        let (seller, buyer) = (&self.invoice.seller, &self.invoice.buyer);
        let place = [buyer.postcode, buyer.city, buyer.region, buyer.country].map(str::trim);
        let place = place.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let texts = [
            (
                "From",
                [seller.name, "", seller.address, seller.country],
                seller.vat_number,
                seller.registration,
                seller.email,
            ),
            ("To", [buyer.company, buyer.name, buyer.address, &place], buyer.vat_number, "", buyer.email),
        ];
        for (title, address, vat_number, registration, email) in texts {
            html.element("section", &[], |html| {
                html.text("h2", &[], title);
                html.element("address", &[], |html| {
                    for text in address {
                        html.text_if_any("div", AUTO, text);
                    }
                });
                let numbers = [("VAT number", vat_number), ("Registration", registration), ("E-mail", email)];
                let known = numbers.into_iter().filter(|(_, text)| !text.trim().is_empty());
                list(html, &known.map(|(label, text)| (label, text.to_owned())).collect::<Vec<_>>());
            });
        }
    }

    fn lines(&self, html: &mut Markup) {
        let columns = self.columns();
        html.text("caption", &[], "Lines");
        html.element("thead", &[], |html| {
            html.element("tr", &[], |html| {
                for label in ["Item", "Quantity"].into_iter().chain(columns.iter().map(|(label, _)| label.as_str())) {
                    html.text("th", &[("scope", "col")], label);
                }
            });
        });
        let row = |html: &mut Markup, amounts: &Amounts| {
            for (_, of) in &columns {
                html.text("td", &[], &self.money(of(amounts)));
            }
        };
        html.element("tbody", &[], |html| {
            for (line, amounts) in self.invoice.lines.iter().zip(&self.figures.lines) {
                html.element("tr", &[], |html| {
                    html.element("th", ROW, |html| {
                        html.text("span", AUTO, line.name);
                        html.text_if_any("span", AUTO, line.description);
                    });
                    html.text("td", &[], &line.quantity.to_string());
                    row(html, amounts);
                });
            }
        });
        html.element("tfoot", &[], |html| {
            html.element("tr", &[], |html| {
                html.text("th", &[("scope", "row"), ("colspan", "2")], "Sum");
                row(html, &self.figures.sums);
            });
        });
    }

    /// The columns that say something.
    fn columns(&self) -> Vec<Column<'_>> {
        let mut columns: Vec<Column<'_>> = vec![("Price".to_owned(), Box::new(|amounts: &Amounts| amounts.base))];
        if self.figures.lines.iter().any(|line| line.discount != 0) {
            columns.push(("Discount".to_owned(), Box::new(|amounts| amounts.discount)));
        }
        if self.figures.lines.iter().any(|line| line.fee != 0) {
            columns.push(("Processing fee".to_owned(), Box::new(|amounts| amounts.fee)));
        }
        for (index, tax) in self.invoice.taxes.iter().enumerate() {
            let label = format!("{} {} %", tax.term.trim(), tax.rate);
            columns.push((label, Box::new(move |amounts| amounts.taxes.get(index).copied().unwrap_or_default())));
        }
        columns.push(("Total".to_owned(), Box::new(|amounts| amounts.total)));
        columns
    }

    fn sums(&self, html: &mut Markup) {
        let sums = &self.figures.sums;
        let mut rows = vec![("Without taxes".to_owned(), sums.net() + sums.fee)];
        for (tax, amount) in self.invoice.taxes.iter().zip(&sums.taxes) {
            let taxable = self.money(sums.net() + sums.fee - sums.untaxed_fee);
            rows.push((format!("{} {} % of {taxable}", tax.term.trim(), tax.rate), *amount));
        }
        let [total, paid, due] = if self.is_invoice() {
            ["Total", "Paid", "To be paid"]
        } else {
            ["Total credited", "Paid back", "To be paid back"]
        };
        rows.extend(
            [(total, sums.total), (paid, self.invoice.paid), (due, self.figures.due)]
                .map(|(label, amount)| (label.to_owned(), amount)),
        );
        html.text("caption", &[], "Sums");
        html.element("tbody", &[], |html| {
            for (label, amount) in &rows {
                html.element("tr", &[], |html| {
                    html.text("th", ROW, label);
                    html.text("td", &[], &self.money(*amount));
                });
            }
        });
    }

    fn notes(&self, html: &mut Markup) {
        let invoice = self.invoice;
        match invoice.treatment {
            Treatment::Charged => {}
            Treatment::ReverseCharge => html.text("p", &[], "Reverse charge: the buyer is liable for the tax."),
            Treatment::Exempt => html.text("p", &[], "The buyer is exempt from taxes."),
        }
        html.text_if_any("p", AUTO, invoice.terms);
        if self.is_invoice() && self.figures.due > 0 && !invoice.seller.iban.trim().is_empty() {
            list(html, &[("IBAN", invoice.seller.iban.to_owned()), ("Reference", invoice.number.to_owned())]);
        }
        html.text_if_any("p", AUTO, invoice.note);
    }

    fn money(&self, minor: i64) -> String {
        Money::new(minor, self.invoice.currency).formatted()
    }
}

fn list(html: &mut Markup, facts: &[(&str, String)]) {
    if !facts.is_empty() {
        html.element("dl", &[], |html| {
            for (label, text) in facts {
                html.text("dt", &[], label);
                html.text("dd", AUTO, text);
            }
        });
    }
}
