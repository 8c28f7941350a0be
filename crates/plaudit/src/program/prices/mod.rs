//! Prices: what an entry costs, in each currency that it can be paid in.
//!
//! - A price belongs to a season.
//! - It has at most one amount in a currency, exact in minor units; none is below nothing.
//! - Prices are set up by program files; lines of orders show their slug, link and title.

use super::chapters::NAME_LENGTH;
use super::{Context, SetupRecord};
use crate::document::Object;
use crate::input::{self, Members};
use crate::kind::Kind;
use crate::text::{Currency, Json, Money, Slug, Timestamp, Translated};

/// A price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// What it is called.
    pub title: Translated,
    /// The amounts, each in a currency of its own.
    pub amounts: Vec<Money>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl Price {
    /// The amount in a currency.
    #[must_use]
    pub fn amount(&self, currency: Currency) -> Option<Money> {
        self.amounts.iter().copied().find(|amount| amount.currency() == currency)
    }
}

impl SetupRecord for Price {
    const KIND: Kind = Kind::Price;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        // The address follows from the slug.
        members.get("link");
        let season = members.required("season", input::slug);
        let title = members.required("title", input::translated(&context.languages, NAME_LENGTH));
        let read = members.objects("amounts", read_amount).unwrap_or_default();
        let mut amounts: Vec<Money> = Vec::with_capacity(read.len());
        for amount in read.into_iter().flatten() {
            if amounts.iter().any(|other| other.currency() == amount.currency()) {
                members.fault("amounts", format!("has two amounts in {}", amount.currency()));
            }
            amounts.push(amount);
        }
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self { slug, season: season?, title: title?, amounts, created, updated })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.locales("title", &self.title);
        object.list("amounts", |list| {
            for amount in &self.amounts {
                list.object(|object| {
                    object.text("currency", amount.currency().code());
                    object.money("amount", *amount);
                });
            }
        });
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.title)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![("season", Kind::Season, self.season)]
    }
}

fn read_amount(members: &mut Members<'_>) -> Option<Money> {
    let currency = members.required("currency", |json: &Json| {
        json.as_str()
            .and_then(Currency::parse)
            .ok_or_else(|| "must be the code of a currency, as in ISO 4217".to_owned())
    });
    let amount = members.required("amount", |json: &Json| {
        let text = json.as_number().ok_or_else(|| "must be a number".to_owned())?;
        // Without a currency, which is a fault of its own, there is no amount to judge.
        currency.map(|currency| Money::parse(text, currency).map_err(|error| format!("is wrong: {error}"))).transpose()
    });
    let amount = amount.flatten()?;
    if amount.is_negative() {
        members.fault("amount", "must not be below 0");
    }
    Some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
    use crate::text::Locale;

    fn read(amounts: &str) -> Result<Price, String> {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now };
        let text =
            format!(r#"{{"slug":"PriceAAA","season":"SeasonAA","title":{{"en_GB":"Early"}},"amounts":[{amounts}]}}"#);
        store::parse(&text, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn amounts_are_exact() {
        let price = read(r#"{"currency":"USD","amount":12.5},{"currency":"JPY","amount":1250}"#).unwrap();
        assert_eq!(price.amount(Currency::parse("USD").unwrap()).unwrap().minor(), 1250);
        assert_eq!(price.amount(Currency::parse("EUR").unwrap()), None);
        let stored = r#""amounts":[{"currency":"USD","amount":12.50},{"currency":"JPY","amount":1250}]"#;
        assert!(store::stored(&price).contains(stored));
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for (wrong, member) in [
            (r#"{"currency":"USD","amount":1.005}"#, "amounts.0.amount"),
            (r#"{"currency":"USD","amount":-1}"#, "amounts.0.amount"),
            (r#"{"currency":"usd","amount":1}"#, "amounts.0.currency"),
            (r#"{"currency":"USD","amount":1},{"currency":"USD","amount":2}"#, "two amounts in USD"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }
}
