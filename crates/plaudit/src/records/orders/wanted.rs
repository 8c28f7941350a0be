//! What the bodies of `POST /order/quote` and `POST /order` ask for (contract, section 11). Pure.

use super::record::{Billing, BillingChanges, TEXT_LENGTH, note};
use crate::program::{Context, Shape};
use kernel::input::{self, Members, Violations, Wrong};
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Currency, Slug, is_country};

/// The most entries of an order that is asked for.
const ENTRIES: usize = 1_000;
/// The shape of those.
pub const ENTRIES_SHAPE: Shape = Shape::FilledSet(&Shape::Ref(Kind::Entry), ENTRIES);

/// An order that is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The entries that are to be paid for.
    pub entries: Vec<Slug>,
    /// The code of a discount; empty for none.
    pub discount_code: String,
    /// Whom it is billed to.
    pub billing: Billing,
    /// A note of the managers.
    pub note: String,
    /// The currency; that of the account where none is named.
    pub currency: Option<Currency>,
    /// Whether it is made to try things out.
    pub test: bool,
}

impl Wanted {
    /// Reads the body, which is closed, as far as it can be read, and what is wrong with it.
    pub fn read(body: &JsonObject<'_>, context: &Context) -> (Self, Violations) {
        let mut members = Members::closed(body);
        let entries = members.required("entries", entries);
        let mut billing = Billing::default();
        BillingChanges::read_from(&mut members, true, context).apply(&mut billing);
        if !billing.country.is_empty() && !is_country(&billing.country) {
            members.fault("country", "must be the code of a country, ISO 3166-1 alpha-2, such as GB");
        }
        let wanted = Self {
            entries: entries.unwrap_or_default(),
            discount_code: members.optional("discount_code", input::text(TEXT_LENGTH)).unwrap_or_default(),
            billing,
            note: members.optional("note", note).unwrap_or_default(),
            currency: members.optional("currency", input::currency),
            test: members.optional("test", input::flag).unwrap_or_default(),
        };
        (wanted, members.finish())
    }
}

fn entries(json: &Json) -> Result<Vec<Slug>, Wrong<Vec<Slug>>> {
    let entries = input::slugs(ENTRIES)(json)?;
    if entries.is_empty() { Err("must name at least 1 entry".to_owned().into()) } else { Ok(entries) }
}
