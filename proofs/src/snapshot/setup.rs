//! A set-up of the size of the claim, as a program file.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::service::NO_LIMIT;

const FIELDS: u32 = 2_000;
const CATEGORIES: u32 = 500;
const CHAPTERS: u32 = 100;
const FORMS: u32 = 4;
const TABS: u32 = 5;

/// An account with nothing but a set-up.
pub(super) struct Setup {
    /// The account's slug.
    pub(super) account: String,
    number: u32,
}

impl Setup {
    pub(super) fn new(number: u32) -> Self {
        Self { account: slug('A', 0, number), number }
    }

    /// The slug of a chapter.
    pub(super) fn chapter(&self, position: u32) -> String {
        self.slug('C', position)
    }

    fn slug(&self, kind: char, position: u32) -> String {
        slug(kind, position, self.number)
    }

    /// Writes the program file.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut output = BufWriter::new(File::create(path)?);
        for record in self.records() {
            serde_json::to_writer(&mut output, &record)?;
            output.write_all(b"\n")?;
        }
        output.flush()?;
        Ok(())
    }

    fn records(&self) -> Vec<Value> {
        let season = self.slug('S', 0);
        let mut records = vec![
            json!({
                "kind": "account", "slug": self.account, "name": "Large", "default_language": "en_GB",
                "languages": ["en_GB", "de_DE", "fr_FR"], "timezone": "Europe/London", "features": ["api"],
                "rate_limit": NO_LIMIT,
            }),
            json!({"kind": "season", "slug": season, "name": name("Season", 0), "status": "active"}),
        ];
        for form in 0..FORMS {
            let slug = self.slug('M', form);
            records.push(json!({"kind": "form", "slug": slug, "season": season, "name": name("Form", form)}));
            for tab in 0..TABS {
                let order = tab + 1;
                let tab = self.slug('T', form * TABS + tab);
                records.push(json!({"kind": "tab", "slug": tab, "form": slug, "type": "General", "order": order}));
            }
        }
        for position in 0..CHAPTERS {
            records.push(json!({
                "kind": "chapter", "slug": self.chapter(position), "season": season, "status": "active",
                "name": name("Chapter", position), "description": text("One of the regions of the program", position),
            }));
        }
        records.extend((0..CATEGORIES).map(|position| self.category(&season, position)));
        records.extend((0..FIELDS).map(|position| self.field(&season, position)));
        records
    }

    fn category(&self, season: &str, position: u32) -> Value {
        // Every third category is offered in some chapters only, and most are a part of another one.
        let chapters: Vec<_> = (0..if position.is_multiple_of(3) { 8 } else { 0 })
            .map(|step| self.chapter((position + step) % CHAPTERS))
            .collect();
        json!({
            "kind": "category", "slug": self.slug('G', position), "season": season, "status": "active",
            "form": self.slug('M', position % FORMS), "name": name("Category", position),
            "description": text("What belongs into this category, and what does not", position),
            "shortcode": name("C", position), "entry_name_label": name("Title of the project", position),
            "parent": (position >= 50).then(|| self.slug('G', position % 50)), "chapters": chapters, "divisions": 1,
        })
    }

    fn field(&self, season: &str, position: u32) -> Value {
        const TYPES: [&str; 10] =
            ["text", "textarea", "numeric", "drop-down-list", "checkbox", "date", "radio", "text", "url", "table"];
        let form = position % FORMS;
        let kind = TYPES[position as usize / 4 % TYPES.len()];
        let mut record = json!({
            "kind": "field", "slug": self.slug('D', position), "type": kind, "resource": "entries", "season": season,
            "form": self.slug('M', form), "tab": self.slug('T', form * TABS + position / FORMS % TABS),
            "title": name("Question", position), "label": text("<p>Tell us about the project</p>", position),
            "help_text": text("Everything that helps a judge to understand it, in a few sentences", position),
            "hint_text": name("Your answer", position), "order": position, "required": position.is_multiple_of(3),
            "categories": ["*"],
        });
        if position.is_multiple_of(5) {
            // Categories of the field's form: every so many belong to it.
            let category = |step: u32| self.slug('G', (position + step * FORMS) % CATEGORIES);
            record["categories"] = (0..6).map(category).collect();
        }
        match kind {
            "text" | "textarea" => record["maximum_words"] = json!(500),
            "drop-down-list" | "radio" => {
                let option = |value: u32| json!({"value": format!("option {value}"), "label": name("Option", value)});
                record["options"] = (0..8).map(option).collect();
            }
            "table" => {
                let column = |key: &&str| json!({"key": key, "label": name("Column", position)});
                record["columns"] = ["A", "B", "C"].iter().map(column).collect();
            }
            _ => {}
        }
        record
    }
}

/// A name in three languages.
fn name(of: &str, position: u32) -> Value {
    json!({"en_GB": format!("{of} {position}"), "de_DE": format!("{of} {position} auf Deutsch"),
           "fr_FR": format!("{of} {position} en français")})
}

/// A sentence in three languages.
fn text(of: &str, position: u32) -> Value {
    json!({"en_GB": format!("{of}, number {position}."), "de_DE": format!("{of}, Nummer {position}, mit Umläuten."),
           "fr_FR": format!("{of}, numéro {position}, à la française.")})
}

/// A slug: the kind, the position and the account.
fn slug(kind: char, position: u32, account: u32) -> String {
    let mut slug = String::from(kind);
    let (mut position, mut account) = (position, account);
    for _ in 0..4 {
        slug.push(letter(position));
        position /= 26;
    }
    for _ in 0..3 {
        slug.push(letter(account));
        account /= 26;
    }
    slug
}

fn letter(number: u32) -> char {
    char::from(b'a' + u8::try_from(number % 26).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_has_the_size_of_the_claim() {
        let records = Setup::new(3).records();
        for (kind, count) in [("field", 2_000), ("category", 500), ("chapter", 100)] {
            assert_eq!(records.iter().filter(|record| record["kind"] == kind).count(), count);
        }
        let mut slugs: Vec<_> = records.iter().map(|record| record["slug"].to_string()).collect();
        slugs.sort();
        slugs.dedup();
        assert_eq!(slugs.len(), records.len());
    }
}
