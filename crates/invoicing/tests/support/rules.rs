//! The rules of EN 16931-1, section 6.4, as far as they are about what an invoice of this service has, read from the document alone.

use std::collections::BTreeMap;

use kernel::text::{Currency, Date, is_country, parse_scaled};
use roxmltree::{Document, Node};

const ROOT: &str = "urn:oasis:names:specification:ubl:schema:xsd:";

/// The rules that a document breaks.
pub(crate) fn broken(xml: &str) -> Vec<String> {
    let document = Document::parse(xml).expect("well-formed XML");
    let mut rules = Rules { root: document.root_element(), broken: Vec::new() };
    rules.syntax();
    rules.document();
    rules.parties();
    rules.lines();
    rules.totals();
    rules.categories();
    rules.broken
}

struct Rules<'a> {
    root: Node<'a, 'a>,
    broken: Vec<String>,
}

/// The nodes at the end of a path of names without prefixes.
fn at<'a>(node: Node<'a, 'a>, path: &str) -> Vec<Node<'a, 'a>> {
    path.split('/').fold(vec![node], |nodes, name| {
        let children = nodes.iter().flat_map(|node| node.children().filter(Node::is_element));
        children.filter(|child| child.tag_name().name() == name).collect()
    })
}

fn text<'a>(node: Node<'a, 'a>, path: &str) -> &'a str {
    at(node, path).first().and_then(Node::text).unwrap_or_default().trim()
}

/// An amount in hundredths; nothing where there is none.
fn amount(node: Node<'_, '_>, path: &str) -> Option<i128> {
    match text(node, path) {
        "" => None,
        written => Some(parse_scaled(written, 2).expect("at most two decimals (BR-DEC)").into()),
    }
}

fn sum<'a>(nodes: impl IntoIterator<Item = Node<'a, 'a>>, path: &str) -> i128 {
    nodes.into_iter().map(|node| amount(node, path).expect("an amount")).sum()
}

impl<'a> Rules<'a> {
    fn hold(&mut self, rule: &str, is_met: bool) {
        if !is_met {
            self.broken.push(rule.to_owned());
        }
    }

    fn is_invoice(&self) -> bool {
        self.root.tag_name().name() == "Invoice"
    }

    fn all_lines(&self) -> Vec<Node<'a, 'a>> {
        at(self.root, if self.is_invoice() { "InvoiceLine" } else { "CreditNoteLine" })
    }

    /// Namespaces, no empty elements (UBL), one currency (BR-CL-03), no rounding amount.
    fn syntax(&mut self) {
        let name = self.root.tag_name().name();
        let namespace = format!("{ROOT}{name}-2");
        self.hold("namespace", self.root.tag_name().namespace() == Some(&namespace));
        let currency = text(self.root, "DocumentCurrencyCode");
        for node in self.root.descendants().filter(Node::is_element) {
            let is_leaf = node.children().all(|child| !child.is_element());
            let kind = if is_leaf { "CommonBasicComponents-2" } else { "CommonAggregateComponents-2" };
            let is_in = node == self.root || node.tag_name().namespace() == Some(&format!("{ROOT}{kind}"));
            self.hold("namespace", is_in);
            self.hold("empty", !is_leaf || !node.text().unwrap_or_default().trim().is_empty());
            let stated = node.attribute("currencyID");
            self.hold("BR-CL-03", stated.is_none_or(|stated| stated == currency));
            self.hold("amount", stated.is_some() == node.tag_name().name().ends_with("Amount"));
        }
        self.hold("BT-114", self.root.descendants().all(|node| node.tag_name().name() != "PayableRoundingAmount"));
    }

    fn document(&mut self) {
        let root = self.root;
        self.hold("BR-01", text(root, "CustomizationID") == "urn:cen.eu:en16931:2017");
        self.hold("BR-02", !text(root, "ID").is_empty());
        self.hold("BR-03", Date::parse(text(root, "IssueDate")).is_some());
        let code = if self.is_invoice() { ("InvoiceTypeCode", "380") } else { ("CreditNoteTypeCode", "381") };
        self.hold("BR-04", text(root, code.0) == code.1);
        self.hold("BR-05", Currency::parse(text(root, "DocumentCurrencyCode")).is_some());
        self.hold("BR-16", !self.all_lines().is_empty());
        let preceding = text(root, "BillingReference/InvoiceDocumentReference/ID");
        self.hold("BR-55", self.is_invoice() == preceding.is_empty());
        let due = amount(root, "LegalMonetaryTotal/PayableAmount").unwrap_or_default();
        let terms = [text(root, "DueDate"), text(root, "PaymentTerms/Note")];
        self.hold("BR-CO-25", due <= 0 || terms.iter().any(|text| !text.is_empty()));
        for means in at(root, "PaymentMeans") {
            self.hold("BR-49", text(means, "PaymentMeansCode") == "30");
            self.hold("BR-50", !text(means, "PayeeFinancialAccount/ID").is_empty());
        }
    }

    fn parties(&mut self) {
        let root = self.root;
        let (seller, buyer) = ("AccountingSupplierParty/Party", "AccountingCustomerParty/Party");
        for (party, name, country) in [(seller, "BR-06", "BR-09"), (buyer, "BR-07", "BR-11")] {
            self.hold(name, !text(root, &format!("{party}/PartyLegalEntity/RegistrationName")).is_empty());
            self.hold(country, is_country(text(root, &format!("{party}/PostalAddress/Country/IdentificationCode"))));
            self.hold("UBL-SR-51", at(root, &format!("{party}/PostalAddress/AddressLine")).len() <= 1);
            for endpoint in at(root, &format!("{party}/EndpointID")) {
                self.hold("BR-62, BR-63", endpoint.attribute("schemeID") == Some("EM"));
            }
            for identifier in self.vat_identifiers(party) {
                let prefix = identifier.get(..2).unwrap_or_default();
                self.hold("BR-CO-09", is_country(prefix) || ["EL", "XI"].contains(&prefix));
            }
        }
        let registration = text(root, &format!("{seller}/PartyLegalEntity/CompanyID"));
        let is_identified = !registration.is_empty() || !self.vat_identifiers(seller).is_empty();
        self.hold("BR-CO-26", is_identified);
    }

    fn vat_identifiers(&self, party: &str) -> Vec<&'a str> {
        let schemes = at(self.root, &format!("{party}/PartyTaxScheme"));
        schemes
            .into_iter()
            .filter(|scheme| text(*scheme, "TaxScheme/ID") == "VAT")
            .map(|scheme| text(scheme, "CompanyID"))
            .collect()
    }

    fn lines(&mut self) {
        for (index, line) in self.all_lines().into_iter().enumerate() {
            self.hold("BR-21", text(line, "ID") == (index + 1).to_string());
            let quantity = if self.is_invoice() { "InvoicedQuantity" } else { "CreditedQuantity" };
            let sold: i128 = text(line, quantity).parse().expect("a quantity (BR-22)");
            self.hold("BR-23", at(line, quantity)[0].attribute("unitCode") == Some("C62"));
            self.hold("BR-25", !text(line, "Item/Name").is_empty());
            let price = amount(line, "Price/PriceAmount").expect("a price (BR-26)");
            self.hold("BR-27", price >= 0);
            let of: i128 = text(line, "Price/BaseQuantity").parse().unwrap_or(1);
            self.hold("BT-149", of > 0);
            let mut net = sold * price;
            self.hold("BT-146", net % of == 0);
            net /= of;
            for adjustment in at(line, "AllowanceCharge") {
                self.hold("BR-42, BR-44", !text(adjustment, "AllowanceChargeReason").is_empty());
                net += signed(adjustment);
            }
            self.hold("BT-131", amount(line, "LineExtensionAmount") == Some(net));
            self.hold("BR-CO-04", at(line, "Item/ClassifiedTaxCategory").len() == 1);
        }
    }

    fn totals(&mut self) {
        let (root, totals) = (self.root, at(self.root, "LegalMonetaryTotal")[0]);
        let of = |name: &str| amount(totals, name);
        let lines = of("LineExtensionAmount").expect("a sum of lines (BR-12)");
        let without = of("TaxExclusiveAmount").expect("a total without taxes (BR-13)");
        let with = of("TaxInclusiveAmount").expect("a total with taxes (BR-14)");
        let due = of("PayableAmount").expect("an amount that is due (BR-15)");
        let adjustments = at(root, "AllowanceCharge");
        let sum_of = |is_charge: bool| {
            let of_kind = |node: &Node<'_, '_>| (text(*node, "ChargeIndicator") == "true") == is_charge;
            adjustments
                .iter()
                .copied()
                .filter(of_kind)
                .map(|node| amount(node, "Amount").expect("an amount"))
                .sum::<i128>()
        };
        let (allowances, charges) = (sum_of(false), sum_of(true));
        let taxes = amount(root, "TaxTotal/TaxAmount").expect("a sum of taxes");
        self.hold("BR-CO-10", lines == sum(self.all_lines(), "LineExtensionAmount"));
        self.hold("BR-CO-11", of("AllowanceTotalAmount").unwrap_or_default() == allowances);
        self.hold("BR-CO-12", of("ChargeTotalAmount").unwrap_or_default() == charges);
        self.hold("BR-CO-13", without == lines - allowances + charges);
        self.hold("BR-CO-14", taxes == sum(at(root, "TaxTotal/TaxSubtotal"), "TaxAmount"));
        self.hold("BR-CO-15", at(root, "TaxTotal").len() == 1 && with == without + taxes);
        self.hold("BR-CO-16", due == with - of("PrepaidAmount").unwrap_or_default());
        for adjustment in adjustments {
            self.hold("BR-33, BR-38", !text(adjustment, "AllowanceChargeReason").is_empty());
            self.hold("BT-92, BT-99", amount(adjustment, "Amount") > Some(0));
        }
    }

    /// BR-CO-17, BR-CO-18 and the families BR-S, BR-Z, BR-E, BR-AE and BR-O.
    fn categories(&mut self) {
        let root = self.root;
        let key = |category: Node<'a, 'a>| (text(category, "ID"), text(category, "Percent"));
        let mut taxable: BTreeMap<(&str, &str), i128> = BTreeMap::new();
        for line in self.all_lines() {
            let category = at(line, "Item/ClassifiedTaxCategory")[0];
            *taxable.entry(key(category)).or_default() += amount(line, "LineExtensionAmount").expect("an amount");
        }
        for adjustment in at(root, "AllowanceCharge") {
            let category = at(adjustment, "TaxCategory");
            self.hold("BR-32, BR-37", category.len() == 1);
            *taxable.entry(key(category[0])).or_default() += signed(adjustment);
        }
        let groups = at(root, "TaxTotal/TaxSubtotal");
        self.hold("BR-CO-18", !groups.is_empty());
        self.hold("BR-S-01, BR-Z-01, BR-E-01, BR-AE-01, BR-O-01", groups.len() == taxable.len());
        for group in groups {
            let category = at(group, "TaxCategory")[0];
            let (base, tax) =
                (amount(group, "TaxableAmount").expect("BR-45"), amount(group, "TaxAmount").expect("BR-46"));
            self.hold("BR-S-08, BR-Z-08, BR-E-08, BR-AE-08, BR-O-08", taxable.get(&key(category)) == Some(&base));
            self.hold("BR-47", text(category, "TaxScheme/ID") == "VAT");
            self.rate(category, base, tax);
        }
        let has = |code: &str| taxable.keys().any(|(category, _)| *category == code);
        let (seller, buyer) = ("AccountingSupplierParty/Party", "AccountingCustomerParty/Party");
        let numbers = at(root, &format!("{seller}/PartyTaxScheme")).len();
        self.hold("BR-S-02, BR-Z-02, BR-E-02, BR-AE-02", has("O") || numbers == 1);
        let identifiers = (self.vat_identifiers(seller).len(), self.vat_identifiers(buyer).len());
        self.hold("BR-AE-02", !has("AE") || identifiers.1 == 1);
        self.hold("BR-O-02", !has("O") || identifiers == (0, 0));
        self.hold("BR-O-11", !has("O") || taxable.len() == 1);
    }

    fn rate(&mut self, category: Node<'a, 'a>, base: i128, tax: i128) {
        let (code, percent) = (text(category, "ID"), text(category, "Percent"));
        let rate = if percent.is_empty() { 0 } else { i128::from(parse_scaled(percent, 4).expect("a rate (BR-48)")) };
        let reason = text(category, "TaxExemptionReason");
        match code {
            "S" => self.hold("BR-S-05, BR-S-10", rate > 0 && reason.is_empty()),
            "Z" => self.hold("BR-Z-05, BR-Z-10", rate == 0 && !percent.is_empty() && reason.is_empty()),
            "E" => self.hold("BR-E-05, BR-E-10", rate == 0 && !percent.is_empty() && !reason.is_empty()),
            "AE" => self.hold("BR-AE-05, BR-AE-10", rate == 0 && !percent.is_empty() && reason == "Reverse charge"),
            "O" => self.hold("BR-O-05, BR-O-10", percent.is_empty() && reason == "Not subject to VAT"),
            other => self.hold(&format!("BR-CL-18 {other}"), false),
        }
        self.hold("BR-Z-09, BR-E-09, BR-AE-09, BR-O-09", code == "S" || tax == 0);
        let expected = (base.abs() * rate + 500_000) / 1_000_000;
        self.hold("BR-CO-17, BR-S-09", (tax.abs() - expected).abs() < 100);
    }
}

/// An allowance or a charge, with its sign.
fn signed(adjustment: Node<'_, '_>) -> i128 {
    let amount = amount(adjustment, "Amount").expect("an amount (BR-31, BR-36, BR-41, BR-43)");
    if text(adjustment, "ChargeIndicator") == "true" { amount } else { -amount }
}
