//! Taxes: what is added to an order, by the country of the buyer and, where there is one, the region.
//!
//! - The rate is a percentage, exact to four decimals.
//! - `term` is what the tax is called on an invoice; `name` tells taxes of one country apart.
//! - An order keeps the details of its tax, so that a later change of the tax changes no order.
//! - Taxes are set up by program files; the interface only reads them.

mod rules;

pub use rules::{country, document};

use super::{Context, Member, SetupRecord, Shape};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Rate, Slug, Timestamp};

/// A tax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tax {
    /// Its slug.
    pub slug: Slug,
    /// The code of the country, ISO 3166-1 alpha-2.
    pub country: String,
    /// The name of the country.
    pub country_name: String,
    /// What tells it from other taxes of the country.
    pub name: Option<String>,
    /// The percentage.
    pub rate: Rate,
    /// The code of the region of the country that it is limited to.
    pub region: Option<String>,
    /// The name of that region.
    pub region_name: Option<String>,
    /// What it is called on an invoice.
    pub term: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Tax {
    const KIND: Kind = Kind::Tax;

    const MEMBERS: &'static [Member] = &[
        Member::link(),
        Member::required("country", Shape::Pattern("^[A-Z]{2}$"), "The code of the country, ISO 3166-1 alpha-2.")
            .identifying(),
        Member::optional(
            "country_name",
            Shape::Text(NAME_LENGTH),
            "The name of the country; its code where it is left out.",
        ),
        Member::optional("name", Shape::Text(NAME_LENGTH), "What tells it from other taxes of the country.")
            .nullable()
            .identifying(),
        Member::required("rate", Shape::Number(Some(0), Some(100)), "The percentage, with at most 4 decimals."),
        Member::optional("region", Shape::Text(NAME_LENGTH), "The code of the region that it is limited to.")
            .nullable()
            .identifying(),
        Member::optional("region_name", Shape::Text(NAME_LENGTH), "The name of that region.").nullable(),
        Member::optional("term", Shape::Text(NAME_LENGTH), "What it is called on an invoice."),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let country = members.required("country", rules::country);
        let country_name = members.optional("country_name", input::text(NAME_LENGTH));
        let name = members.nullable("name", input::text(NAME_LENGTH));
        let rate = members.required("rate", input::rate);
        let region = members.nullable("region", input::text(NAME_LENGTH));
        let region_name = members.nullable("region_name", input::text(NAME_LENGTH));
        let term = members.optional("term", input::text(NAME_LENGTH));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        let country = country?;
        Some(Self {
            slug,
            country_name: country_name.unwrap_or_else(|| country.clone()),
            country,
            name: name.flatten(),
            rate: rate?,
            region: region.flatten(),
            region_name: region_name.flatten(),
            term: term.unwrap_or_default(),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.text("country", &self.country);
        object.text("country_name", &self.country_name);
        object.optional_text("name", self.name.as_deref());
        object.rate("rate", self.rate);
        object.optional_text("region", self.region.as_deref());
        object.optional_text("region_name", self.region_name.as_deref());
        object.text("term", &self.term);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
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
