//! EN 16931 in the syntax of UBL 2.1: what a machine reads.
//!
//! - Every amount is the one that is given, with the decimals of its currency. EN 16931 has at most two, so that an invoice in a
//!   currency of three or four is refused. There is no rounding amount (BT-114).
//! - A line has its price before the discount (BT-146); where that is no whole amount of minor units for one, it is the price of
//!   all that are sold (BT-149). The discount is an allowance of the line (BG-27). The processing fee belongs to the order: a
//!   charge of the document in the category of what it goes with (BG-21). What is below nothing turns a charge into an
//!   allowance and an allowance into a charge, and a price into a quantity below nothing.
//! - A credit note has type 381 and amounts above nothing, and names the invoice that it credits (BT-25).
//! - An account to pay to (BG-16) is stated on an invoice of which something is due.
//! - A test invoice is refused: EN 16931 cannot say that it is none.

use kernel::text::{Currency, Date, Money, is_country, is_email};

use crate::fault::Fault;
use crate::figures::{Amounts, Figures};
use crate::invoice::{Buyer, Invoice, Kind, Line, Seller};
use crate::markup::Markup;
use crate::party::{self, compact};
use crate::vat::{self, Category, Group};

/// The currencies that validators do not know: withdrawn ones, and two that release 1.3.16 of their lists lacks.
const UNLISTED: [&str; 7] = ["ANG", "BGN", "HRK", "SLL", "STN", "XAD", "ZWL"];
/// One of what is sold (UN/ECE Recommendation 20).
const ONE: &str = "C62";
/// Credit transfer (UNCL 4461).
const CREDIT_TRANSFER: &str = "30";
/// Discount (UNCL 5189).
const DISCOUNT: &str = "95";
/// Electronic mail, as a way to send invoices (the EAS list).
const MAIL: &str = "EM";

/// The document in XML, or everything that keeps it from being one.
pub fn ubl(invoice: &Invoice<'_>) -> Result<String, Vec<Fault>> {
    let figures = Figures::of(invoice)?;
    let mut faults = faults(invoice, &figures);
    match vat::category(invoice).and_then(|category| Ok((category, vat::groups(invoice, &figures, category)?))) {
        Ok((category, groups)) => {
            let document = Document { invoice, figures: &figures, category, groups: &groups };
            faults.extend(document.faults());
            if faults.is_empty() { Ok(document.written()) } else { Err(faults) }
        }
        Err(fault) => {
            faults.push(fault);
            Err(faults)
        }
    }
}

/// What is missing whatever the taxes are.
fn faults(invoice: &Invoice<'_>, figures: &Figures) -> Vec<Fault> {
    let Invoice { seller, buyer, currency, .. } = invoice;
    let is_there = |text: &str| !text.trim().is_empty();
    let has_terms = is_there(invoice.terms) || (invoice.due.is_some() && matches!(invoice.kind, Kind::Invoice));
    let credited = match invoice.kind {
        Kind::Invoice => true,
        Kind::CreditNote { number, .. } => is_there(number),
    };
    let mut faults: Vec<Fault> = [
        (is_there(invoice.number), "BT-1", "the number of the invoice is missing: number it first"),
        (!invoice.is_test, "BT-3", "it is a test invoice, which EN 16931 cannot say: use its page"),
        (credited, "BT-25", "the number of the invoice that is credited is missing"),
        (is_there(seller.name), "BT-27", "the seller's name is missing: set `seller.name`"),
        (
            party::country_of_seller(seller).is_some(),
            "BT-40",
            "the seller's country is not known: set a `seller.vat_number` or a `seller.iban` that begins with it",
        ),
        (
            is_there(buyer.company) || is_there(buyer.name),
            "BT-44",
            "the buyer's name is missing: set the company or the name of the order",
        ),
        (is_country(buyer.country), "BT-55", "the buyer's country is missing: set the country of the order"),
        (
            figures.due <= 0 || has_terms,
            "BT-20",
            "something is due and nothing says when: state terms of payment, or for an invoice the day that it is due",
        ),
        (!invoice.lines.is_empty(), "BG-25", "there is no line"),
    ]
    .into_iter()
    .filter(|(is_met, ..)| !is_met)
    .map(|(_, term, message)| Fault::new(term, message))
    .collect();
    if currency.decimals() > 2 {
        let message = format!("amounts in {currency} have {} decimals, and EN 16931 allows two", currency.decimals());
        faults.push(Fault::new("BT-5", message));
    }
    if UNLISTED.contains(&currency.code()) {
        faults.push(Fault::new("BT-5", format!("{currency} is not in the list of currencies of EN 16931")));
    }
    for (number, line) in (1..).zip(&invoice.lines) {
        if line.quantity == 0 && line.base != 0 {
            faults.push(Fault::new("BT-129", format!("line {number} costs something and is of none")));
        }
        if !is_there(line.name) {
            faults.push(Fault::new("BT-153", format!("line {number} has no name")));
        }
    }
    faults
}

/// A document with all that follows from what it says.
struct Document<'a> {
    invoice: &'a Invoice<'a>,
    figures: &'a Figures,
    category: Category,
    groups: &'a [Group],
}

impl Document<'_> {
    /// What is missing for the taxes that there are.
    fn faults(&self) -> Vec<Fault> {
        let Invoice { seller, buyer, .. } = self.invoice;
        let (is_outside, mut faults) = (self.is_outside(), Vec::new());
        if !is_outside && compact(seller.vat_number).is_empty() {
            let message = "the seller's number for value-added tax is missing: set `seller.vat_number`";
            faults.push(Fault::new("BT-31", message));
        }
        if self.category.code == "AE" && compact(buyer.vat_number).is_empty() {
            let message = "the buyer's VAT number is missing, who is to pay the tax: set that of the order";
            faults.push(Fault::new("BT-48", message));
        }
        let has_identifier = !is_outside && party::vat_identifier_of_seller(seller).is_some();
        if !has_identifier && seller.registration.trim().is_empty() {
            let message = "nothing identifies the seller: set `seller.registration`, or a `seller.vat_number` that begins \
                           with the country where taxes are on the invoice";
            faults.push(Fault::new("BT-30", message));
        }
        faults
    }

    /// Whether it is not subject to value-added tax, so that it has no VAT identifiers.
    fn is_outside(&self) -> bool {
        self.category.code == "O"
    }

    fn is_invoice(&self) -> bool {
        matches!(self.invoice.kind, Kind::Invoice)
    }

    fn written(&self) -> String {
        const NAMESPACE: &str = "urn:oasis:names:specification:ubl:schema:xsd:";
        let name = if self.is_invoice() { "Invoice" } else { "CreditNote" };
        let (own, aggregates, basics) = (
            format!("{NAMESPACE}{name}-2"),
            format!("{NAMESPACE}CommonAggregateComponents-2"),
            format!("{NAMESPACE}CommonBasicComponents-2"),
        );
        let mut xml = Markup::beginning("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.element(name, &[("xmlns", &own), ("xmlns:cac", &aggregates), ("xmlns:cbc", &basics)], |xml| {
            self.head(xml);
            xml.element("cac:AccountingSupplierParty", &[], |xml| self.seller(xml));
            xml.element("cac:AccountingCustomerParty", &[], |xml| self.buyer(xml));
            self.payment(xml);
            for group in self.groups {
                self.adjustment(xml, group.fee, ("", "Processing fee"), Some(group.category));
            }
            self.taxes(xml);
            self.totals(xml);
            for ((number, line), amounts) in (1..).zip(&self.invoice.lines).zip(&self.figures.lines) {
                let name = if self.is_invoice() { "cac:InvoiceLine" } else { "cac:CreditNoteLine" };
                xml.element(name, &[], |xml| self.line(xml, number, line, amounts));
            }
        });
        xml.finish()
    }

    fn head(&self, xml: &mut Markup) {
        let invoice = self.invoice;
        xml.text("cbc:CustomizationID", &[], "urn:cen.eu:en16931:2017");
        xml.text("cbc:ID", &[], invoice.number);
        xml.text("cbc:IssueDate", &[], &invoice.issued.to_string());
        match invoice.kind {
            Kind::Invoice => {
                date(xml, "cbc:DueDate", invoice.due);
                xml.text("cbc:InvoiceTypeCode", &[], "380");
            }
            Kind::CreditNote { .. } => xml.text("cbc:CreditNoteTypeCode", &[], "381"),
        }
        xml.text_if_any("cbc:Note", &[], invoice.note);
        xml.text("cbc:DocumentCurrencyCode", &[], invoice.currency.code());
        if let Kind::CreditNote { number, issued } = invoice.kind {
            xml.element("cac:BillingReference", &[], |xml| {
                xml.element("cac:InvoiceDocumentReference", &[], |xml| {
                    xml.text("cbc:ID", &[], number);
                    date(xml, "cbc:IssueDate", issued);
                });
            });
        }
    }

    fn seller(&self, xml: &mut Markup) {
        let seller: &Seller<'_> = &self.invoice.seller;
        xml.element("cac:Party", &[], |xml| {
            endpoint(xml, seller.email);
            let country = party::country_of_seller(seller).unwrap_or_default();
            address(xml, seller.address, ["", "", ""], &country);
            let number = compact(seller.vat_number);
            match party::vat_identifier_of_seller(seller) {
                Some(identifier) if !self.is_outside() => tax_scheme(xml, &identifier, "VAT"),
                None if !number.is_empty() => tax_scheme(xml, &number, "TAX"),
                _ => {}
            }
            xml.element("cac:PartyLegalEntity", &[], |xml| {
                xml.text("cbc:RegistrationName", &[], seller.name);
                xml.text_if_any("cbc:CompanyID", &[], seller.registration);
            });
            if !seller.email.trim().is_empty() {
                xml.element("cac:Contact", &[], |xml| xml.text("cbc:ElectronicMail", &[], seller.email));
            }
        });
    }

    fn buyer(&self, xml: &mut Markup) {
        let buyer: &Buyer<'_> = &self.invoice.buyer;
        let (company, name) = (buyer.company.trim(), buyer.name.trim());
        xml.element("cac:Party", &[], |xml| {
            endpoint(xml, buyer.email);
            address(xml, buyer.address, [buyer.city, buyer.postcode, buyer.region], buyer.country);
            if let Some(identifier) = party::vat_identifier_of_buyer(buyer).filter(|_| !self.is_outside()) {
                tax_scheme(xml, &identifier, "VAT");
            }
            xml.element("cac:PartyLegalEntity", &[], |xml| {
                xml.text("cbc:RegistrationName", &[], if company.is_empty() { name } else { company });
            });
            if !company.is_empty() && !name.is_empty() {
                xml.element("cac:Contact", &[], |xml| xml.text("cbc:Name", &[], name));
            }
        });
    }

    fn payment(&self, xml: &mut Markup) {
        let iban = compact(self.invoice.seller.iban);
        if self.is_invoice() && self.figures.due > 0 && !iban.is_empty() {
            xml.element("cac:PaymentMeans", &[], |xml| {
                xml.text("cbc:PaymentMeansCode", &[], CREDIT_TRANSFER);
                xml.text("cbc:PaymentID", &[], self.invoice.number);
                xml.element("cac:PayeeFinancialAccount", &[], |xml| {
                    xml.text("cbc:ID", &[], &iban);
                    xml.text("cbc:Name", &[], self.invoice.seller.name);
                });
            });
        }
        if !self.invoice.terms.trim().is_empty() {
            xml.element("cac:PaymentTerms", &[], |xml| xml.text("cbc:Note", &[], self.invoice.terms));
        }
    }

    /// What is charged, or below nothing allowed, in a category of its own where it is the document's.
    fn adjustment(&self, xml: &mut Markup, amount: i64, (code, reason): (&str, &str), category: Option<Category>) {
        if amount == 0 {
            return;
        }
        let is_charge = amount > 0;
        xml.element("cac:AllowanceCharge", &[], |xml| {
            xml.text("cbc:ChargeIndicator", &[], if is_charge { "true" } else { "false" });
            // The codes of charges are others.
            xml.text_if_any("cbc:AllowanceChargeReasonCode", &[], if is_charge { "" } else { code });
            xml.text("cbc:AllowanceChargeReason", &[], reason);
            self.amount(xml, "cbc:Amount", amount.saturating_abs());
            if let Some(category) = category {
                tax_category(xml, "cac:TaxCategory", Category { reason: None, ..category });
            }
        });
    }

    fn taxes(&self, xml: &mut Markup) {
        xml.element("cac:TaxTotal", &[], |xml| {
            self.amount(xml, "cbc:TaxAmount", self.groups.iter().map(|group| group.tax).sum());
            for group in self.groups {
                xml.element("cac:TaxSubtotal", &[], |xml| {
                    self.amount(xml, "cbc:TaxableAmount", group.taxable);
                    self.amount(xml, "cbc:TaxAmount", group.tax);
                    tax_category(xml, "cac:TaxCategory", group.category);
                });
            }
        });
    }

    fn totals(&self, xml: &mut Markup) {
        let sums = &self.figures.sums;
        let fees = |is_counted: fn(i64) -> bool| -> i64 {
            self.groups.iter().map(|group| group.fee).filter(|fee| is_counted(*fee)).map(i64::saturating_abs).sum()
        };
        let (allowances, charges) = (fees(|fee| fee < 0), fees(|fee| fee > 0));
        xml.element("cac:LegalMonetaryTotal", &[], |xml| {
            self.amount(xml, "cbc:LineExtensionAmount", sums.net());
            self.amount(xml, "cbc:TaxExclusiveAmount", sums.net() + sums.fee);
            self.amount(xml, "cbc:TaxInclusiveAmount", sums.total);
            for (name, amount) in [
                ("cbc:AllowanceTotalAmount", allowances),
                ("cbc:ChargeTotalAmount", charges),
                ("cbc:PrepaidAmount", self.invoice.paid),
            ] {
                if amount != 0 {
                    self.amount(xml, name, amount);
                }
            }
            self.amount(xml, "cbc:PayableAmount", self.figures.due);
        });
    }

    fn line(&self, xml: &mut Markup, number: usize, line: &Line<'_>, amounts: &Amounts) {
        let quantity = i64::from(line.quantity);
        let sold = if amounts.base < 0 { -quantity } else { quantity };
        let is_of_one = quantity == 0 || amounts.base % quantity == 0;
        let price = if is_of_one { amounts.base / quantity.max(1) } else { amounts.base };
        xml.text("cbc:ID", &[], &number.to_string());
        let name = if self.is_invoice() { "cbc:InvoicedQuantity" } else { "cbc:CreditedQuantity" };
        xml.text(name, &[("unitCode", ONE)], &sold.to_string());
        self.amount(xml, "cbc:LineExtensionAmount", amounts.net());
        self.adjustment(xml, -amounts.discount, (DISCOUNT, "Discount"), None);
        xml.element("cac:Item", &[], |xml| {
            xml.text_if_any("cbc:Description", &[], line.description);
            xml.text("cbc:Name", &[], line.name);
            tax_category(xml, "cac:ClassifiedTaxCategory", Category { reason: None, ..self.category });
        });
        xml.element("cac:Price", &[], |xml| {
            self.amount(xml, "cbc:PriceAmount", price.saturating_abs());
            if !is_of_one {
                xml.text("cbc:BaseQuantity", &[("unitCode", ONE)], &quantity.to_string());
            }
        });
    }

    fn amount(&self, xml: &mut Markup, name: &str, minor: i64) {
        let currency: Currency = self.invoice.currency;
        xml.text(name, &[("currencyID", currency.code())], &Money::new(minor, currency).to_decimal());
    }
}

fn date(xml: &mut Markup, name: &str, date: Option<Date>) {
    if let Some(date) = date {
        xml.text(name, &[], &date.to_string());
    }
}

fn endpoint(xml: &mut Markup, email: &str) {
    if is_email(email.trim()) {
        xml.text("cbc:EndpointID", &[("schemeID", MAIL)], email);
    }
}

/// An address has three lines at most, so that what follows the second line is the third.
fn address(xml: &mut Markup, text: &str, [city, postcode, region]: [&str; 3], country: &str) {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (first, rest) = lines.split_at(lines.len().min(2));
    xml.element("cac:PostalAddress", &[], |xml| {
        for (name, line) in ["cbc:StreetName", "cbc:AdditionalStreetName"].into_iter().zip(first) {
            xml.text(name, &[], line);
        }
        xml.text_if_any("cbc:CityName", &[], city);
        xml.text_if_any("cbc:PostalZone", &[], postcode);
        xml.text_if_any("cbc:CountrySubentity", &[], region);
        if !rest.is_empty() {
            xml.element("cac:AddressLine", &[], |xml| xml.text("cbc:Line", &[], &rest.join(", ")));
        }
        xml.element("cac:Country", &[], |xml| xml.text("cbc:IdentificationCode", &[], country));
    });
}

fn tax_scheme(xml: &mut Markup, number: &str, scheme: &str) {
    xml.element("cac:PartyTaxScheme", &[], |xml| {
        xml.text("cbc:CompanyID", &[], number);
        xml.element("cac:TaxScheme", &[], |xml| xml.text("cbc:ID", &[], scheme));
    });
}

fn tax_category(xml: &mut Markup, name: &str, category: Category) {
    let (code, reason) = category.reason.unwrap_or_default();
    xml.element(name, &[], |xml| {
        xml.text("cbc:ID", &[], category.code);
        xml.text_if_any("cbc:Percent", &[], &category.rate.map(|rate| rate.to_string()).unwrap_or_default());
        xml.text_if_any("cbc:TaxExemptionReasonCode", &[], code);
        xml.text_if_any("cbc:TaxExemptionReason", &[], reason);
        xml.element("cac:TaxScheme", &[], |xml| xml.text("cbc:ID", &[], "VAT"));
    });
}
