//! Taxes: what is added to an order, by the country of the buyer and, where there is one, the region.
//!
//! - The rate is a percentage, exact to four decimals.
//! - `term` is what the tax is called on an invoice; `name` tells taxes of one country apart.
//! - An order keeps the details of its tax, so that a later change of the tax changes no order.
//! - Taxes are set up by program files; the interface only reads them.

mod rules;

pub(in crate::program) use rules::country;
pub use rules::document;

use super::{NAME_LENGTH, Record};
use kernel::text::{Rate, Slug, Timestamp};

/// A tax.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link()))]
pub struct Tax {
    /// Its slug.
    pub slug: Slug,
    /// The code of the country, ISO 3166-1 alpha-2.
    #[member(Pattern("^[A-Z]{2}$"), read = rules::country, required, identifying)]
    pub country: String,
    /// The name of the country; its code where it is left out.
    #[member(Text(NAME_LENGTH), default = country.clone().unwrap_or_default())]
    pub country_name: String,
    /// What tells it from other taxes of the country.
    #[member(Text(NAME_LENGTH), identifying)]
    pub name: Option<String>,
    /// The percentage, with at most 4 decimals.
    #[member(required)]
    pub rate: Rate,
    /// The code of the region of the country that it is limited to.
    #[member(Text(NAME_LENGTH), identifying)]
    pub region: Option<String>,
    /// The name of that region.
    #[member(Text(NAME_LENGTH))]
    pub region_name: Option<String>,
    /// What it is called on an invoice.
    #[member(Text(NAME_LENGTH))]
    pub term: String,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Context, store};
    use kernel::text::Locale;

    fn read(text: &str) -> Result<Tax, String> {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now };
        store::parse(text, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tax_keeps_what_it_is_given() {
        let text = r#"{"slug":"TaxAAAAA","country":"CA","country_name":"Canada","name":"HST","rate":8.25,"region":"ON","region_name":"Ontario","term":"Sales tax","created":"2026-01-01T00:00:00.000000Z","updated":"2026-01-02T00:00:00.000000Z"}"#;
        assert_eq!(store::stored(&read(text).unwrap()), text);
        let minimal = read(r#"{"slug":"TaxAAAAA","country":"GB","rate":20}"#).unwrap();
        assert_eq!((minimal.country_name.as_str(), minimal.name, minimal.region), ("GB", None, None));
    }

    #[test]
    fn a_rate_is_a_percentage_and_a_country_a_code() {
        for wrong in [r#""country":"GB","rate":101"#, r#""country":"GB","rate":"20""#, r#""country":"gb","rate":20"#] {
            assert!(read(&format!(r#"{{"slug":"TaxAAAAA",{wrong}}}"#)).is_err(), "{wrong}");
        }
    }
}
