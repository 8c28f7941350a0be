//! The one place that knows JSON from XML: fills the slots of stored documents and writes the body of an answer.

pub mod accept;
pub(crate) mod buffer;
pub(crate) mod content;
pub mod language;
mod money;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use memchr::memchr2;

use self::accept::Format;
pub use self::content::Content;
use self::content::Draft;
use self::language::Languages;
use self::money::MoneyFormat;
use crate::access::Sight;
use crate::program::{Program, fields};
use crate::records::users::Person;
use crate::services::App;
use crate::services::budgets::SpoolError;
use crate::signing::DownloadSigner;
use kernel::document::{ShownAs, Slot, slots};
use kernel::kind::Kind;
use kernel::text::{Currency, Locale, Money, Slug, write_json_string};

/// What the slots of a document are filled with.
struct Filling {
    program: Arc<Program>,
    languages: Languages,
    signer: Arc<DownloadSigner>,
    /// When addresses of files stop being good, in seconds since 1970-01-01 UTC.
    expires: i64,
    /// The people whom the document that is being written shows.
    people: Vec<Person>,
    /// The fields whose answers are shown; all without them.
    answers: Option<Vec<Slug>>,
    /// How much of records is shown.
    sight: Sight,
    /// Whether an address of a file was written.
    shows_files: Cell<bool>,
    /// How the amounts of the currency that was shown last are written.
    money: RefCell<Option<Arc<MoneyFormat>>>,
}

/// So many times as long as its document a record hardly is: answers show more of their fields than they have of their own.
const LONGER: usize = 3;

/// So many bytes a slot hardly has more of in JSON.
const SLOT: usize = 512;

/// Writes the body of one answer.
pub struct Renderer {
    format: Format,
    filling: Filling,
    draft: Draft,
    items: usize,
    /// The bytes of the documents that are shown, and the most that they may have.
    bytes: usize,
    page_bytes: usize,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The records of a page have more than so many bytes.
    #[error("The records of this page have more than {0} bytes; ask for fewer by per_page.")]
    PageTooLong(usize),
    /// It could not be put into the spool.
    #[error(transparent)]
    Spool(#[from] SpoolError),
}

/// Renders a document that has no slots, for answers that are given before anything is known of the account.
pub fn plain(format: Format, document: &str) -> Vec<u8> {
    match format {
        Format::Json => document.as_bytes().to_vec(),
        Format::Xml => {
            let mut out = Vec::with_capacity(document.len() * 2);
            xml_envelope::begin(&mut out);
            xml_envelope::members(&mut out, document, &xml_envelope::NoSlots);
            xml_envelope::end(&mut out);
            out
        }
    }
}

impl Renderer {
    /// A renderer with this program, in these languages and this format. Addresses of files stop being good at `expires`, in
    /// seconds since 1970-01-01 UTC ([`expiry`](crate::signing::expiry)).
    pub fn new(app: &App, program: &Arc<Program>, languages: Languages, format: Format, expires: i64) -> Self {
        let filling = Filling {
            program: Arc::clone(program),
            languages,
            signer: Arc::clone(&app.signer),
            expires,
            people: Vec::new(),
            answers: None,
            sight: Sight::Whole,
            shows_files: Cell::new(false),
            money: RefCell::default(),
        };
        let draft = Draft::new(app.budgets.clone(), program.id);
        Self { format, filling, draft, items: 0, bytes: 0, page_bytes: app.budgets.limits().page_bytes }
    }

    /// What is written next shows the answers to these fields, and no others.
    pub fn answering(&mut self, fields: &[Slug]) -> &mut Self {
        self.filling.answers = Some(fields.to_vec());
        self
    }

    /// What is written next shows so much of records.
    pub fn seen(&mut self, sight: Sight) -> &mut Self {
        self.filling.sight = sight;
        self
    }

    /// The answer is to what was done already, and has to be given whatever it takes.
    pub fn overdraw(&mut self) {
        self.draft.overdraws = true;
    }

    /// What is written next shows these people; anyone else is shown without a name.
    pub fn naming(&mut self, people: impl IntoIterator<Item = Person>) -> &mut Self {
        self.filling.people.clear();
        self.filling.people.extend(people);
        self.filling.people.sort_unstable_by_key(|person| person.slug);
        self
    }

    /// A whole answer that is one record.
    pub fn record(self, document: &str, detail: Option<&str>) -> Result<Content, RenderError> {
        let known = document.len() + detail.map_or(0, str::len);
        let Self { format, filling, mut draft, .. } = self;
        // A buffer that was used before is better than a new one, even where it may have to grow.
        draft.reserve(if known <= buffer::PIECE { buffer::PIECE.min(LONGER * known) } else { LONGER * known });
        draft.write(|out| filling.record(format, out, document, detail))?;
        Ok(filling.dated(draft.end()?))
    }

    /// The bytes of a record, in one.
    pub fn bytes(self, document: &str) -> Vec<u8> {
        // A record that is much longer as it is shown has many names; one that is long has long texts.
        let mut out = Vec::with_capacity(document.len() + buffer::PIECE.min((LONGER - 1) * document.len()));
        self.filling.record(self.format, &mut out, document, None);
        out
    }

    /// Begins a list: `before` is the JSON text of the envelope from its brace to the member before `data`.
    pub fn begin_list(&mut self, before: &str) -> Result<(), RenderError> {
        Ok(self.draft.write(|out| match self.format {
            Format::Json => {
                out.extend_from_slice(before.as_bytes());
                out.extend_from_slice(b",\"data\":[");
            }
            Format::Xml => {
                xml_envelope::begin(out);
                xml_envelope::members(out, &format!("{before}}}"), &xml_envelope::NoSlots);
            }
        })?)
    }

    /// Adds an item of the list.
    pub fn item(&mut self, document: &str, detail: Option<&str>) -> Result<(), RenderError> {
        let known = document.len() + detail.map_or(0, str::len);
        self.bytes += known;
        if self.bytes > self.page_bytes {
            return Err(RenderError::PageTooLong(self.page_bytes));
        }
        if known > buffer::PIECE {
            self.draft.begin_piece(LONGER * known)?;
        }
        self.draft.write(|out| match self.format {
            Format::Json => {
                if self.items > 0 {
                    out.push(b',');
                }
                self.filling.json(out, document, detail);
            }
            Format::Xml => self.filling.xml_item(out, document, detail),
        })?;
        self.items += 1;
        Ok(())
    }

    /// Ends the list: `after` is the JSON text of an object of the members after `data`, and `more` a document of those behind them,
    /// empty for none.
    pub fn end_list(mut self, after: &str, more: &str) -> Result<Content, RenderError> {
        let filling = &self.filling;
        self.draft.write(|out| match self.format {
            Format::Json => {
                out.extend_from_slice(b"],");
                out.extend_from_slice(after.trim_start_matches('{').as_bytes());
                if !more.is_empty() {
                    out.pop();
                    out.push(b',');
                    filling.json(out, more.trim_start_matches('{'), None);
                }
            }
            Format::Xml => {
                if self.items == 0 {
                    xml_envelope::member(out, "data", "[]", &xml_envelope::NoSlots);
                }
                xml_envelope::members(out, after, &xml_envelope::NoSlots);
                if !more.is_empty() {
                    xml_envelope::members(out, more, &XmlSlots { filling, detail: None });
                }
                xml_envelope::end(out);
            }
        })?;
        Ok(self.filling.dated(self.draft.end()?))
    }
}

impl Filling {
    /// The content, which is good for as long as the addresses of files that it shows.
    fn dated(&self, content: Content) -> Content {
        if self.shows_files.get() { content.good_until(self.expires) } else { content }
    }

    fn record(&self, format: Format, out: &mut Vec<u8>, document: &str, detail: Option<&str>) {
        match format {
            Format::Json => self.json(out, document, detail),
            Format::Xml => {
                xml_envelope::begin(out);
                xml_envelope::members(out, document, &XmlSlots { filling: self, detail });
                xml_envelope::end(out);
            }
        }
    }

    fn xml_item(&self, out: &mut Vec<u8>, document: &str, detail: Option<&str>) {
        xml_envelope::member(out, "data", document, &XmlSlots { filling: self, detail });
    }

    fn json(&self, out: &mut Vec<u8>, document: &str, detail: Option<&str>) {
        for (before, slot) in slots(document) {
            out.extend_from_slice(before.as_bytes());
            if let Some(slot) = slot {
                self.fill(out, slot, detail);
            }
        }
    }

    /// Writes what a slot stands for, in JSON.
    fn fill(&self, out: &mut Vec<u8>, slot: Slot<'_>, detail: Option<&str>) {
        match slot {
            Slot::Reference(letter, slug) => self.reference(out, letter, slug),
            Slot::Link(path) => self.link(out, path),
            Slot::Download(token) => self.download(out, token),
            Slot::Money(text) => {
                out.push(b'"');
                self.money(out, text);
                out.push(b'"');
            }
            Slot::Parent(category) => match self.parent_of(category) {
                Some(parent) => self.reference(out, Kind::Category.letter(), parent.as_str()),
                None => out.extend_from_slice(b"null"),
            },
            Slot::Person { slug, shown_as } => self.person(out, slug, shown_as),
            Slot::Translated(map) => write_locales(out, map, self.languages.locales()),
            Slot::Answers(map) => self.answers(out, map),
            Slot::Splice => {
                // The second document is an object; what is spliced stands between its braces.
                let members = detail.and_then(|detail| detail.get(1..detail.len().saturating_sub(1)));
                match members {
                    Some(members) if !members.is_empty() => self.json(out, members, None),
                    _ => drop_comma(out),
                }
            }
            Slot::Hidden => drop_comma(out),
        }
    }

    /// Writes an amount as people read it in the first requested language; none has a character that JSON or XML escapes.
    fn money(&self, out: &mut Vec<u8>, text: &str) {
        let parts = text.split_once(' ').and_then(|(code, amount)| Some((Currency::parse(code)?, amount)));
        let amount = parts.and_then(|(currency, amount)| Money::parse(amount, currency).ok());
        let mut held = self.money.borrow_mut();
        if let Some(amount) = amount
            && !held.as_ref().is_some_and(|format| format.is_of(amount.currency()))
        {
            *held = MoneyFormat::of(self.languages.first_requested(), amount.currency());
        }
        match held.as_ref().zip(amount) {
            Some((format, amount)) => format.write(out, amount),
            None => out.extend_from_slice(text.as_bytes()),
        }
    }

    fn parent_of(&self, category: &str) -> Option<Slug> {
        self.program.categories.any(Slug::parse(category)?)?.parent
    }

    fn reference(&self, out: &mut Vec<u8>, letter: char, slug: &str) {
        let slug = Slug::parse(slug);
        let fragment = slug.filter(|_| self.languages.is_default());
        if let Some(fragment) = fragment.and_then(|slug| self.program.fragment(letter, slug)) {
            out.extend_from_slice(fragment.json.as_bytes());
            return;
        }
        match slug.and_then(|slug| self.program.reference(letter, slug, self.languages.locales())) {
            Some(reference) => out.extend_from_slice(reference.as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn person(&self, out: &mut Vec<u8>, slug: &str, shown_as: ShownAs) {
        let found =
            Slug::parse(slug).and_then(|slug| self.people.binary_search_by_key(&slug, |person| person.slug).ok());
        let person = found.map(|at| &self.people[at]);
        Person::write(person, out, (slug, self.program.base_url()), shown_as);
    }

    fn link(&self, out: &mut Vec<u8>, path: &str) {
        out.push(b'"');
        out.extend_from_slice(self.program.base_url().as_bytes());
        out.extend_from_slice(path.as_bytes());
        out.push(b'"');
    }

    fn download(&self, out: &mut Vec<u8>, token: &str) {
        self.shows_files.set(true);
        out.push(b'"');
        out.extend_from_slice(self.program.base_url().as_bytes());
        self.signer.write_address(out, self.program.account.slug.as_str(), token, self.expires);
        out.push(b'"');
    }

    fn answers(&self, out: &mut Vec<u8>, map: &str) {
        let download = |out: &mut Vec<u8>, token: &str| self.download(out, token);
        let locales = (self.languages.locales(), self.languages.is_default());
        let is_seen = |field: &Slug| {
            let field = self.program.fields.live(*field);
            match self.sight {
                Sight::Whole => true,
                Sight::Applicant => field.is_some_and(|field| field.applicant.read),
                Sight::Judged(judged) => field.is_some_and(|field| judged.sees(field)),
            }
        };
        let wanted = |field: &Slug| self.answers.as_ref().is_none_or(|fields| fields.contains(field)) && is_seen(field);
        fields::write_answers(out, map, &self.program, locales, &wanted, &download);
    }
}

struct XmlSlots<'r> {
    filling: &'r Filling,
    detail: Option<&'r str>,
}

impl XmlSlots<'_> {
    fn reference(&self, out: &mut Vec<u8>, name: &str, letter: char, slug: &str) {
        let filling = self.filling;
        let fragment = Slug::parse(slug)
            .filter(|_| filling.languages.is_default())
            .and_then(|slug| filling.program.fragment(letter, slug));
        match fragment {
            Some(fragment) => Self::element(out, name, |out| out.extend_from_slice(&fragment.xml)),
            None => self.member(out, name, Slot::Reference(letter, slug)),
        }
    }

    /// Writes a member that is a slot, by way of its JSON.
    fn member(&self, out: &mut Vec<u8>, name: &str, slot: Slot<'_>) {
        let mut json = Vec::with_capacity(SLOT);
        self.filling.fill(&mut json, slot, None);
        let json = String::from_utf8(json);
        xml_envelope::member(out, name, json.as_deref().unwrap_or("null"), &xml_envelope::NoSlots);
    }

    fn element(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
        write(out);
        out.extend_from_slice(b"</");
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
    }
}

impl xml_envelope::Slots for XmlSlots<'_> {
    fn value(&self, out: &mut Vec<u8>, name: &str, slot: &str) {
        let filling = self.filling;
        match Slot::of_string(slot) {
            Some(Slot::Reference(letter, slug)) => self.reference(out, name, letter, slug),
            Some(Slot::Parent(category)) if let Some(parent) = filling.parent_of(category) => {
                self.reference(out, name, Kind::Category.letter(), parent.as_str());
            }
            Some(Slot::Money(text)) => Self::element(out, name, |out| filling.money(out, text)),
            Some(Slot::Link(path)) => Self::element(out, name, |out| {
                xml_envelope::text(out, filling.program.base_url());
                xml_envelope::text(out, path);
            }),
            Some(slot) => self.member(out, name, slot),
            None => xml_envelope::member(out, name, "null", &xml_envelope::NoSlots),
        }
    }

    fn object(&self, out: &mut Vec<u8>, name: &str, key: &str, json: &str) {
        match Slot::of_member(key, json) {
            Some(slot) => self.member(out, name, slot),
            None => xml_envelope::member(out, name, "null", &xml_envelope::NoSlots),
        }
    }

    fn members(&self, out: &mut Vec<u8>, key: &str, json: &str) {
        if let (Some(Slot::Splice), Some(detail)) = (Slot::of_member(key, json), self.detail) {
            xml_envelope::members(out, detail, &XmlSlots { filling: self.filling, detail: None });
        }
    }
}

/// Takes away the comma before a slot that shows nothing, which separates nothing.
fn drop_comma(out: &mut Vec<u8>) {
    out.truncate(out.len() - usize::from(out.ends_with(b",")));
}

/// Writes the object of the locales asked for, from the JSON text of a whole map; a locale without a text is `""`.
fn write_locales(out: &mut Vec<u8>, map: &str, locales: &[Locale]) {
    out.push(b'{');
    for (index, locale) in locales.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_json_string(locale.code(), out);
        out.push(b':');
        out.extend_from_slice(text_of(map, locale.code()).unwrap_or("\"\"").as_bytes());
    }
    out.push(b'}');
}

/// The JSON string of a locale in the text of a map whose values are all strings.
fn text_of<'m>(map: &'m str, code: &str) -> Option<&'m str> {
    let mut rest = map.strip_prefix('{')?;
    loop {
        let name_end = string_end(rest)?;
        let value = rest.get(name_end + 1..)?;
        let value_end = string_end(value)?;
        if rest.get(1..name_end - 1)? == code {
            return value.get(..value_end);
        }
        rest = value.get(value_end..)?.strip_prefix(',')?;
    }
}

/// Where the JSON string at the beginning of `text` ends, past its closing quotation mark.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translated_map_shows_the_locales_asked_for_and_nothing_for_a_missing_one() {
        let map = r#"{"en_GB":"a \"b\" \\","de_DE":"ü","fr_FR":""}"#;
        let mut out = Vec::new();
        write_locales(&mut out, map, &[Locale::DeDe, Locale::EnGb, Locale::ItIt]);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"de_DE":"ü","en_GB":"a \"b\" \\","it_IT":""}"#);
    }

    #[test]
    fn an_empty_map_shows_empty_texts() {
        let mut out = Vec::new();
        write_locales(&mut out, "{}", &[Locale::DeDe]);
        assert_eq!(out, br#"{"de_DE":""}"#);
    }
}
