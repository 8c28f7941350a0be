//! Document templates: what documents are made of: certificates, entry packs, invoices, judges' sheets, booklets.
//!
//! - A template is for documents about an entry, a user, an order, an assignment or a score set, and for at least one type of file.
//! - Its text is its own `body`, in Typst markup, or one of our layouts. `docs/documents.md` says what a text finds.
//! - It has pictures and fonts of its own: `files`, which the text finds by their names.
//! - Document templates are set up by program files.

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp, Token, Translated};

/// The most characters of a text.
const BODY_LENGTH: usize = 100_000;
/// The most files of a template.
const FILES: usize = 100;

choices! {
    /// What documents are about.
    pub enum Subject {
        /// An entry.
        Entry "entry",
        /// A person.
        User "user",
        /// An order: an invoice or a credit note.
        Order "order",
        /// An assignment: a judge's sheet.
        Assignment "assignment",
        /// A score set: a booklet of its leaderboard.
        ScoreSet "score_set",
    }
}

impl Subject {
    /// The kind of record.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Entry => Kind::Entry,
            Self::User => Kind::User,
            Self::Order => Kind::Order,
            Self::Assignment => Kind::Assignment,
            Self::ScoreSet => Kind::ScoreSet,
        }
    }
}

choices! {
    /// What kind of file a document is.
    pub enum FileType {
        /// A PDF.
        Pdf "PDF",
        /// A document of Microsoft Word.
        Word "Word",
        /// A PDF that can be read aloud.
        AccessiblePdf "accessible-pdf",
    }
}

choices! {
    /// The size of a page.
    pub enum PageSize {
        /// 210 by 297 mm.
        A4 "A4",
        /// 8.5 by 11 inches.
        Letter "Letter",
    }
}

choices! {
    /// A text of ours.
    pub enum Layout {
        /// A certificate of an entry or a user.
        Certificate "certificate",
        /// All that an entry says, with its attachments.
        EntryPack "entry_pack",
        /// An invoice or a credit note.
        Invoice "invoice",
        /// What a judge has given.
        JudgeSheet "judge_sheet",
        /// The places of a score set.
        Booklet "booklet",
    }
}

impl Layout {
    /// The text, in Typst markup.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Certificate => include_str!("shipped/certificate.typ"),
            Self::EntryPack => include_str!("shipped/entry_pack.typ"),
            Self::Invoice => include_str!("shipped/invoice.typ"),
            Self::JudgeSheet => include_str!("shipped/judge_sheet.typ"),
            Self::Booklet => include_str!("shipped/booklet.typ"),
        }
    }

    /// What it can be about.
    const fn subjects(self) -> &'static [Subject] {
        match self {
            Self::Certificate => &[Subject::Entry, Subject::User],
            Self::EntryPack => &[Subject::Entry],
            Self::Invoice => &[Subject::Order],
            Self::JudgeSheet => &[Subject::Assignment],
            Self::Booklet => &[Subject::ScoreSet],
        }
    }
}

/// A template of documents.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link()), check = check_text(body, layout, subject))]
pub struct DocumentTemplate {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What its documents are about.
    #[member(name = "resource", required, identifying)]
    pub subject: Subject,
    /// What kinds of files its documents can be.
    #[member(FilledSet(&FileType::SHAPE, FileType::CHOICES.len()), required)]
    pub file_types: Vec<FileType>,
    /// The size of a page; A4 if left out.
    #[member(default = PageSize::A4)]
    pub page_size: PageSize,
    /// Its text, in Typst markup; left out where it has a layout of ours.
    #[member(Translated(BODY_LENGTH))]
    pub body: Translated,
    /// The layout of ours that its documents have; null where it has a body.
    pub layout: Option<Layout>,
    /// Pictures and fonts that its text finds by their names.
    #[member(Set(&Shape::Token, FILES))]
    pub files: Vec<Token>,
    /// Whether its text finds the pictures among the answers and attachments of the entry.
    pub pictures: bool,
    /// The score set whose scores and places its text finds; null for none.
    #[member(Ref(Kind::ScoreSet))]
    pub score_set: Option<Slug>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// A template has a text of its own or one of ours, which is for what it is about.
fn check_text(
    members: &mut Members<'_>,
    body: Option<&Translated>,
    layout: Option<&Option<Layout>>,
    subject: Option<&Subject>,
) {
    let (Some(body), Some(layout)) = (body, layout) else { return };
    let has_body = body.iter().any(|(_, text)| !text.trim().is_empty());
    match (has_body, layout) {
        (true, Some(_)) => members.fault("layout", "must be null or left out where there is a body"),
        (false, None) => members.fault("body", "is required where there is no layout"),
        (false, Some(layout)) if subject.is_some_and(|subject| !layout.subjects().contains(subject)) => {
            let subjects: Vec<&str> = layout.subjects().iter().map(|subject| subject.name()).collect();
            members.fault("layout", format!("{layout} is for documents about {}", subjects.join(" or ")));
        }
        _ => {}
    }
}

impl DocumentTemplate {
    /// The text in the first of these languages that it has, and that language. A text of ours is in any of them, with words of its
    /// own in English, German, French and Spanish, and English where the language is another.
    pub fn text_in(&self, languages: &[Locale]) -> (&str, Locale) {
        let first = languages.first().copied().unwrap_or(Locale::EnGb);
        if let Some(layout) = self.layout {
            return (layout.text(), first);
        }
        let written = |locale: &Locale| self.body.get(*locale).filter(|text| !text.trim().is_empty());
        let found = languages.iter().find_map(|locale| Some((written(locale)?, *locale)));
        let any = || self.body.iter().find(|(_, text)| !text.trim().is_empty()).map(|(locale, text)| (text, locale));
        found.or_else(any).unwrap_or(("", first))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::{self, read};

    fn template(members: &str) -> Result<DocumentTemplate, String> {
        read("TemplAAA", &format!(r#""name":{{"en_GB":"Certificate"}},{members}"#))
    }

    #[test]
    fn what_is_no_template_is_named() {
        let body = r#""body":{"en_GB":"Well done, #user.name"}"#;
        assert!(template(&format!(r#""resource":"user","file_types":["PDF","Word"],{body}"#)).is_ok());
        assert!(template(r#""resource":"order","file_types":["PDF"],"layout":"invoice""#).is_ok());
        for (wrong, member) in [
            (format!(r#""resource":"users","file_types":["PDF"],{body}"#), "resource"),
            (format!(r#""resource":"user","file_types":[],{body}"#), "file_types"),
            (format!(r#""resource":"user","file_types":["PDF","PDF"],{body}"#), "file_types"),
            (format!(r#""resource":"user","file_types":["PDF"],"layout":"certificate",{body}"#), "layout"),
            (r#""resource":"user","file_types":["PDF"]"#.to_owned(), "body"),
            (r#""resource":"user","file_types":["PDF"],"body":{"de_DE":" "}"#.to_owned(), "body"),
            (r#""resource":"user","file_types":["PDF"],"layout":"invoice""#.to_owned(), "layout"),
        ] {
            let error = template(&wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    #[test]
    fn a_text_is_in_the_first_language_that_it_has() {
        let body = r#""body":{"en_GB":" ","de_DE":"Hallo"}"#;
        let template = template(&format!(r#""resource":"user","file_types":["PDF"],{body}"#)).unwrap();
        assert_eq!(template.text_in(&[Locale::EnGb, Locale::DeDe]), ("Hallo", Locale::DeDe));
        assert_eq!(template.text_in(&[Locale::FrFr]), ("Hallo", Locale::DeDe));
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, name, body) in (testing::slug(), testing::translated(), testing::translated()),
            (subject, layout) in (testing::choice(Subject::CHOICES), testing::choice(Layout::CHOICES)),
            file_types in testing::some_of(FileType::CHOICES).prop_filter("none", |types| !types.is_empty()),
            (page_size, pictures) in (testing::choice(PageSize::CHOICES), any::<bool>()),
            (created, updated, score_set) in (testing::time(), testing::time(), testing::maybe(testing::slug())),
        ) {
            let body: Translated = body;
            let has_body = body.iter().any(|(_, text)| !text.trim().is_empty());
            let layout = (!has_body).then_some(layout);
            prop_assume!(layout.is_none_or(|layout| layout.subjects().contains(&subject)));
            let files = vec![Token::parse("TokenOfTheLogoFileOfAllX").unwrap()];
            testing::reads_back(&DocumentTemplate {
                slug, name, subject, file_types, page_size, body, layout, files, pictures, score_set, created, updated,
            });
        }
    }
}
