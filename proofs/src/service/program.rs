//! Accounts made up for the proofs: the same ones from the same seed, as the JSON Lines that `plaudit import` reads.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;
use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::Random;

/// What every account of the proofs allows itself where the proof is not about limits.
pub(crate) const NO_LIMIT: u32 = 1_000_000;

/// Text that breaks careless writers: blanks, control characters, markup, marks of direction, look-alike escapes.
pub(crate) const HOSTILE: &[&str] = &[
    "",
    " ",
    "  blanks at both ends  ",
    "tab\tline\nreturn\rboth\r\nend",
    "\u{1}\u{8}\u{b}\u{c}\u{e}\u{1f}",
    "\u{7f}\u{80}\u{85}\u{9f}",
    "\u{7f}l/user/AbCdEfGh",
    "{\"\u{7f}t\":{\"en_GB\":\"x\"}}",
    "\"double\" 'single' `back` \\ \\u0041 \\",
    "<b>&amp;</b> &#0; ]]> <![CDATA[x]]> <!-- x --> <?x?>",
    "\u{1f600}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{202e}\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{627}\u{644}\u{639}\u{631}\u{628}\u{64a}\u{629}\u{202c}",
    "\u{fffe}\u{ffff}\u{fdd0}\u{fffd}\u{10ffff}",
    "\u{2028}\u{2029}\u{feff}\u{a0}",
    "_x0041_ _x005F_x0041_",
    "\u{e9} e\u{301}",
    "null",
    "0",
    "nul \u{0}",
];

/// Names that are no XML names, or look like the way such names are escaped.
pub(crate) const HOSTILE_NAMES: &[&str] =
    &["a b", "1x", "_x0041_", "\u{e9}", ":", "a:b", "xml", "a<b", "a&b", "]]>", "\u{1f600}", "-", ".", "a\"b", "\u{1}"];

/// The kinds of record that a program names by slug.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// 0 is active, 1 is archived.
    Season,
    /// Those of the active season come first; the last is the archived season's.
    Chapter,
    /// Those of the active season come first; the last is the archived season's.
    Category,
    /// One a season.
    Form,
    /// Start, General, Contributors, Attachments.
    Tab,
    /// See [`Program::field`].
    Field,
    /// Entrant and chapter manager.
    Role,
    /// Entrants and managers.
    User,
    /// One.
    Tax,
    /// Two.
    Price,
    /// The last one is of the archived season.
    Entry,
    /// One for each entry with details.
    Contributor,
    /// One for each entry with details.
    File,
    /// As many as asked for.
    Order,
}

/// The fields of a program by position; those from [`field::SPARE`] on are in nobody's way.
pub(crate) mod field {
    /// One line of text of an entry.
    pub(crate) const TEXT: u32 = 0;
    /// Many lines of text of an entry.
    pub(crate) const TEXTAREA: u32 = 1;
    /// A number.
    pub(crate) const NUMERIC: u32 = 2;
    /// Yes or no.
    pub(crate) const CHECKBOX: u32 = 3;
    /// One of several options.
    pub(crate) const DROP_DOWN: u32 = 4;
    /// Rows and columns.
    pub(crate) const TABLE: u32 = 5;
    /// A contributor's text.
    pub(crate) const CONTRIBUTOR: u32 = 6;
    /// An attachment's text.
    pub(crate) const ATTACHMENT: u32 = 7;
    /// The first of the fields that nothing answers.
    pub(crate) const SPARE: u32 = 8;
    /// How many fields there are.
    pub(crate) const COUNT: u32 = 24;
}

/// An account of a size, from a seed.
#[derive(Clone)]
pub(crate) struct Program {
    /// The account's slug.
    pub(crate) account: String,
    /// The second letter of every slug, so that two accounts never share one.
    pub(crate) letter: char,
    /// The account's languages, the default first.
    pub(crate) languages: Vec<&'static str>,
    /// The host names that the account owns.
    pub(crate) hosts: Vec<String>,
    /// Requests a minute.
    pub(crate) rate_limit: u32,
    /// What the made-up values follow from.
    pub(crate) seed: u64,
    /// Chapters of the active season.
    pub(crate) chapters: u32,
    /// Categories of the active season, each offered in every chapter.
    pub(crate) categories: u32,
    /// People.
    pub(crate) users: u32,
    /// Entries of the active season.
    pub(crate) entries: u32,
    /// Every so many entries have a contributor and an attachment; 0 for none.
    pub(crate) detail_every: u32,
    /// Orders.
    pub(crate) orders: u32,
    /// Whether texts are taken from [`HOSTILE`].
    pub(crate) hostile: bool,
}

impl Program {
    /// A small English account.
    pub(crate) fn small(seed: u64) -> Self {
        Self {
            account: "PaAcount".to_owned(),
            letter: 'a',
            languages: vec!["en_GB", "de_DE"],
            hosts: Vec::new(),
            rate_limit: NO_LIMIT,
            seed,
            chapters: 6,
            categories: 3,
            users: 12,
            entries: 24,
            detail_every: 4,
            orders: 30,
            hostile: false,
        }
    }

    /// Another account beside it that shares no slug with it, in German, with a host name of its own.
    pub(crate) fn second(seed: u64) -> Self {
        Self {
            account: "PbAcount".to_owned(),
            letter: 'b',
            languages: vec!["de_DE", "fr_FR"],
            hosts: vec!["b.awards.example".to_owned()],
            ..Self::small(seed)
        }
    }

    /// The slug of the record of this kind at this position.
    pub(crate) fn slug(&self, kind: Kind, position: u32) -> String {
        let first = match kind {
            Kind::Season => 'S',
            Kind::Chapter => 'C',
            Kind::Category => 'G',
            Kind::Form => 'M',
            Kind::Tab => 'T',
            Kind::Field => 'D',
            Kind::Role => 'R',
            Kind::User => 'U',
            Kind::Tax => 'X',
            Kind::Price => 'P',
            Kind::Entry => 'E',
            Kind::Contributor => 'N',
            Kind::File => 'F',
            Kind::Order => 'O',
        };
        // The factor has no divisor in common with 26^6, so positions stay apart while neighbours are scattered.
        let mut scattered = u64::from(position) * 48_271 % 26_u64.pow(6);
        let mut slug = String::from_iter([first, self.letter]);
        for _ in 0..6 {
            let letter = u8::try_from(scattered % 26).unwrap_or_default();
            slug.push(char::from(b'a' + letter));
            scattered /= 26;
        }
        slug
    }

    /// The token of a file, which is also that of its attachment.
    pub(crate) fn token(&self, position: u32) -> String {
        self.slug(Kind::File, position).repeat(4)
    }

    /// Whether the entry at this position has a contributor and an attachment.
    pub(crate) fn has_details(&self, position: u32) -> bool {
        self.detail_every > 0 && position.is_multiple_of(self.detail_every)
    }

    /// Writes the program file and returns how many lines it has.
    pub(crate) fn write(&self, path: &Path) -> Result<usize> {
        self.write_with(path, |_, _| {})
    }

    /// The same, with a look at every record and its line number, from 1, before it is written.
    pub(crate) fn write_with(&self, path: &Path, mut look: impl FnMut(usize, &mut Value)) -> Result<usize> {
        let mut output = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut line = 0;
        self.records(&mut |mut record| {
            line += 1;
            look(line, &mut record);
            serde_json::to_writer(&mut output, &record)?;
            output.write_all(b"\n")?;
            Ok(())
        })?;
        output.flush()?;
        Ok(line)
    }

    fn records(&self, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        let mut random = Random::new(self.seed);
        emit(json!({
            "kind": "account", "slug": self.account, "name": format!("Account {}", self.letter),
            "default_language": self.languages.first(), "languages": self.languages, "timezone": "Europe/London",
            "features": ["api"], "suspended": false, "rate_limit": self.rate_limit, "hosts": self.hosts,
        }))?;
        self.structure(&mut random, emit)?;
        self.form(&mut random, emit)?;
        self.people(&mut random, emit)?;
        self.money(&mut random, emit)?;
        for position in 0..=self.entries {
            self.entry(position, &mut random, emit)?;
        }
        for position in 0..self.orders {
            emit(self.order(position, &mut random))?;
        }
        Ok(())
    }

    fn structure(&self, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        for (season, status) in [(0, "active"), (1, "archived")] {
            emit(json!({
                "kind": "season", "slug": self.slug(Kind::Season, season), "name": self.tmap("Season", season, random),
                "status": status,
            }))?;
        }
        for position in 0..=self.chapters {
            let managers: Vec<_> = (0..position % 3).map(|user| self.slug(Kind::User, user)).collect();
            emit(json!({
                "kind": "chapter", "slug": self.slug(Kind::Chapter, position),
                "season": self.slug(Kind::Season, u32::from(position == self.chapters)),
                "name": self.tmap("Chapter", position, random),
                "description": self.tmap("All about chapter", position, random), "status": "active",
                "managers": managers,
            }))?;
        }
        for position in 0..=self.categories {
            let archived = position == self.categories;
            let offered = if archived { self.chapters..=self.chapters } else { 0..=self.chapters.saturating_sub(1) };
            let chapters: Vec<_> = offered.map(|chapter| self.slug(Kind::Chapter, chapter)).collect();
            let parent = (position == 1 && !archived).then(|| self.slug(Kind::Category, 0));
            emit(json!({
                "kind": "category", "slug": self.slug(Kind::Category, position),
                "season": self.slug(Kind::Season, u32::from(archived)), "form": self.slug(Kind::Form, u32::from(archived)),
                "name": self.tmap("Category", position, random),
                "description": self.tmap("What belongs into category", position, random), "status": "active",
                "parent": parent, "chapters": chapters, "divisions": 1,
            }))?;
        }
        Ok(())
    }

    fn form(&self, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        for form in 0..2 {
            emit(json!({
                "kind": "form", "slug": self.slug(Kind::Form, form), "season": self.slug(Kind::Season, form),
                "name": self.tmap("Form", form, random), "type": "entry", "chapter_option": "all",
            }))?;
        }
        for (tab, kind) in (0..).zip(["Start", "General", "Contributors", "Attachments"]) {
            emit(json!({
                "kind": "tab", "slug": self.slug(Kind::Tab, tab), "form": self.slug(Kind::Form, 0), "type": kind,
            }))?;
        }
        for position in 0..field::COUNT {
            emit(self.field(position, random))?;
        }
        Ok(())
    }

    /// The field at this position.
    fn field(&self, position: u32, random: &mut Random) -> Value {
        let (kind, resource, tab) = match position {
            field::TEXTAREA => ("textarea", "entries", 1),
            field::NUMERIC => ("numeric", "entries", 1),
            field::CHECKBOX => ("checkbox", "entries", 1),
            field::DROP_DOWN => ("drop-down-list", "entries", 1),
            field::TABLE => ("table", "entries", 1),
            field::CONTRIBUTOR => ("text", "contributors", 2),
            field::ATTACHMENT => ("text", "attachments", 3),
            _ => ("text", "entries", 1),
        };
        let mut record = json!({
            "kind": "field", "slug": self.slug(Kind::Field, position), "type": kind, "resource": resource,
            "season": self.slug(Kind::Season, 0), "form": self.slug(Kind::Form, 0), "tab": self.slug(Kind::Tab, tab),
            "title": self.tmap("Field", position, random), "label": self.tmap("<p>Field</p>", position, random),
            "order": position + 1, "categories": ["*"], "required": false,
        });
        if position == field::DROP_DOWN {
            record["options"] = json!(["first", "second", "third"]);
        }
        if position == field::TABLE {
            let columns = self.columns();
            record["columns"] = (0..)
                .zip(&columns)
                .map(|(column, key)| json!({"key": key, "label": self.tmap("Column", column, random)}))
                .collect();
        }
        record
    }

    /// The keys of the table's columns, which are lines of text.
    fn columns(&self) -> Vec<&'static str> {
        let is_line = |name: &&str| !name.contains(char::is_control);
        if self.hostile { HOSTILE_NAMES.iter().copied().filter(is_line).collect() } else { vec!["A", "B"] }
    }

    fn people(&self, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        for (role, (name, kind)) in (0..).zip([("Entrant", "entrant"), ("Chapter manager", "chapter_manager")]) {
            emit(json!({
                "kind": "role", "slug": self.slug(Kind::Role, role), "name": self.tmap(name, role, random),
                "type": kind,
            }))?;
        }
        for position in 0..self.users {
            emit(json!({
                "kind": "user", "slug": self.slug(Kind::User, position), "first_name": self.name("First", position, random),
                "last_name": self.name("Last", position, random),
                "email": format!("person.{position}@{}.example", self.letter),
                "roles": [self.slug(Kind::Role, 0), self.slug(Kind::Role, 1)],
            }))?;
        }
        Ok(())
    }

    fn money(&self, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        emit(json!({
            "kind": "tax", "slug": self.slug(Kind::Tax, 0), "country": "GB", "region": null, "name": "Standard",
            "rate": 20, "term": "VAT",
        }))?;
        for (price, amount) in [(0, 100.0), (1, 49.95)] {
            emit(json!({
                "kind": "price", "type": "ticket", "slug": self.slug(Kind::Price, price), "season": self.slug(Kind::Season, 0),
                "title": self.tmap("Price", price, random), "amounts": [{"currency": "USD", "amount": amount}],
            }))?;
        }
        Ok(())
    }

    fn entry(&self, position: u32, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        let archived = position == self.entries;
        let details = self.has_details(position) && !archived;
        let submitted = !position.is_multiple_of(3);
        let (chapter, category) = if archived {
            (self.chapters, self.categories)
        } else {
            (random.below(self.chapters), random.below(self.categories))
        };
        let mut record = json!({
            "kind": "entry", "slug": self.slug(Kind::Entry, position), "local_id": position + 1,
            "title": self.name("Entry", position, random), "status": if submitted { "submitted" } else { "in_progress" },
            "season": self.slug(Kind::Season, u32::from(archived)), "category": self.slug(Kind::Category, category),
            "chapter": self.slug(Kind::Chapter, chapter), "form": self.slug(Kind::Form, u32::from(archived)),
            "entrant": self.slug(Kind::User, random.below(self.users)), "created": time(position),
            "submitted": submitted.then(|| time(position + 60)), "updated": time(position + 120),
        });
        if !archived {
            record["entry_fields"] = self.answers(details, random);
        }
        emit(record)?;
        if details {
            self.details(position, random, emit)?;
        }
        Ok(())
    }

    fn answers(&self, whole: bool, random: &mut Random) -> Value {
        let mut answers = Map::new();
        let mut answer = |position: u32, value: Value| answers.insert(self.slug(Kind::Field, position), value);
        answer(field::TEXT, json!(self.text("One line", 1, random)));
        if whole {
            answer(field::TEXTAREA, json!(self.text("Two\nlines", 2, random)));
            answer(field::NUMERIC, json!(random.below(100_000)));
            answer(field::CHECKBOX, json!(random.below(2) == 1));
            answer(field::DROP_DOWN, json!("second"));
            let mut cells = Map::new();
            for column in self.columns() {
                for row in 1..=2 {
                    cells.insert(format!("{column}{row}"), json!(self.text("Cell", row, random)));
                }
            }
            answer(field::TABLE, Value::Object(cells));
        }
        Value::Object(answers)
    }

    fn details(&self, position: u32, random: &mut Random, emit: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        let (entry, token) = (self.slug(Kind::Entry, position), self.token(position));
        // Every other contributor and attachment leaves its only field unanswered, so that empty lists are shown too.
        let answered = position.is_multiple_of(2 * self.detail_every);
        let mut fields = |field: u32| {
            let text = self.text("Answer", field, random);
            if answered { json!({self.slug(Kind::Field, field): text}) } else { json!({}) }
        };
        emit(json!({
            "kind": "contributor", "slug": self.slug(Kind::Contributor, position), "entry": entry,
            "tab": self.slug(Kind::Tab, 2), "fields": fields(field::CONTRIBUTOR),
        }))?;
        let data = format!("The file of entry {position}.\n");
        emit(json!({
            "kind": "file", "token": token, "filename": format!("file \"{position}\" & more.txt"),
            "data": base64::engine::general_purpose::STANDARD.encode(data),
        }))?;
        emit(json!({
            "kind": "attachment", "token": token, "entry": entry, "tab": self.slug(Kind::Tab, 3), "order": 1,
            "attachment_fields": fields(field::ATTACHMENT),
        }))
    }

    fn order(&self, position: u32, random: &mut Random) -> Value {
        let paid = !position.is_multiple_of(3);
        let items: Vec<_> = (0..=position % 3)
            .map(|item| {
                json!({
                    "description": self.text("Fee for one entry", item, random), "name": self.name("Entry fee", item, random),
                    "item_type": "Entry", "amount": if item == 0 { 100.0 } else { 49.95 }, "discount": 0,
                    "quantity": item + 1, "entry": self.slug(Kind::Entry, random.below(self.entries)),
                    "price": self.slug(Kind::Price, item.min(1)),
                })
            })
            .collect();
        json!({
            "kind": "order", "slug": self.slug(Kind::Order, position), "invoice_number": (position + 1).to_string(),
            "season": self.slug(Kind::Season, 0), "user": self.slug(Kind::User, random.below(self.users)),
            "company": self.name("Company", position, random), "address": self.text("1 High Street", 0, random),
            "city": "London", "postcode": "N1 1AA", "country": "GB", "comments": self.text("None", 0, random),
            "currency": "USD", "payment_method": "card", "payment_status": if paid { "paid" } else { "awaiting_payment" },
            "created_at": time(position), "updated": time(position), "items": items,
        })
    }

    /// A text: plain and numbered, or one of the hostile ones.
    fn text(&self, plain: &str, position: u32, random: &mut Random) -> String {
        let chosen = random.below(u32::try_from(HOSTILE.len()).unwrap_or_default());
        match usize::try_from(chosen).ok().and_then(|chosen| HOSTILE.get(chosen)) {
            Some(hostile) if self.hostile => (*hostile).to_owned(),
            _ => format!("{plain} {position}"),
        }
    }

    /// The same, but never blank, and without the characters that a name is refused for.
    fn name(&self, plain: &str, position: u32, random: &mut Random) -> String {
        let text = self.text(plain, position, random).replace(char::is_control, "");
        if self.hostile { format!("{text}{plain}") } else { text }
    }

    /// A text in every language of the account, but for the last language of every third one.
    fn tmap(&self, plain: &str, position: u32, random: &mut Random) -> Value {
        let untranslated = position % 3 == 2 && self.languages.len() > 1;
        let translated = self.languages.len() - usize::from(untranslated);
        let texts = self.languages.iter().take(translated);
        texts
            .map(|language| ((*language).to_owned(), json!(self.name(plain, position, random))))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// A time that grows with the position, years before the proof runs.
fn time(position: u32) -> String {
    let (day, second) = (position / 86_400 % 28 + 1, position % 86_400);
    format!("2024-02-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn slugs_are_eight_letters_and_stay_apart() {
        let program = Program::small(1);
        let slugs: HashSet<_> = (0..50_000).map(|position| program.slug(Kind::Entry, position)).collect();
        assert_eq!(slugs.len(), 50_000);
        assert!(slugs.iter().all(|slug| slug.len() == 8 && slug.chars().all(|letter| letter.is_ascii_alphabetic())));
    }

    #[test]
    fn a_program_is_the_same_from_the_same_seed_and_its_slugs_are_unique() {
        let program = Program { hostile: true, ..Program::small(1) };
        let read = |program: &Program| {
            let mut records = Vec::new();
            program
                .records(&mut |record| {
                    records.push(record);
                    Ok(())
                })
                .unwrap();
            records
        };
        let records = read(&program);
        assert_eq!(records, read(&program));
        let names: HashSet<_> =
            records.iter().filter_map(|record| Some((record["kind"].as_str()?, record["slug"].as_str()?))).collect();
        let tokens = records.iter().filter(|record| record["token"].is_string()).count();
        assert_eq!(names.len() + tokens, records.len());
        assert!(tokens > 0);
    }
}
