//! Documents: files that were made of a template, of a user or of something that is a user's, such as an entry.
//!
//! - A document is for its recipient: the user, the entrant of the entry, the purchaser of the order, or the judge of the
//!   assignment. The recipient reads it once it is shared; a judge reads none.
//! - What it shows of its entry and its user is read with it. Its name stays in the languages that it was made in.
//! - A document in the trash keeps its file.

pub(crate) mod list;
pub mod store;

pub use list::LISTED;

use crate::lists::{Table, sort_key};
use crate::program::choices;
use crate::program::{DESCRIPTION_LENGTH, Member, NAME_LENGTH, Record, Shape};
use crate::records::people::PeopleRecord;
use db::Value;
use kernel::document;
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated, folded};

/// The most characters of the name of a file.
const FILENAME_LENGTH: usize = 255;

const ALLOCATION: Member =
    Member::optional("allocation", Shape::Slug, "Nothing: no document is of an allocation.").nullable();

choices! {
    /// What kind of file a document is.
    pub enum DocumentType {
        /// A PDF.
        Pdf "PDF",
        /// A document of Microsoft Word.
        Word "Word",
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(ALLOCATION), check = check_document(user, recipient))]
pub struct Document {
    /// Its slug.
    pub slug: Slug,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its description.
    #[member(Translated(DESCRIPTION_LENGTH))]
    pub description: Translated,
    /// The entry that it is about; null for none.
    #[member(Ref(Kind::Entry), shown_as(&Shape::Component("EntryReference")))]
    pub entry: Option<Slug>,
    /// Its file.
    #[member(required, shown_as(&Shape::Component("DocumentFile")))]
    pub file: Token,
    /// What kind of file it is.
    #[member(required)]
    pub file_type: DocumentType,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required)]
    pub name: Translated,
    /// Whether its recipient reads it.
    pub shared_with_user: bool,
    /// The user whom it is about; null for none.
    #[member(Ref(Kind::User), shown_as(&Shape::Component("UserReference")))]
    pub user: Option<Slug>,
    /// The name of its file.
    #[member(FilledText(FILENAME_LENGTH), required, hidden)]
    pub filename: String,
    /// Whom it is for; left out, the user whom it is about.
    #[member(Ref(Kind::User), hidden)]
    pub recipient: Option<Slug>,
    /// When it was last changed.
    #[member(hidden)]
    pub updated: Timestamp,
}

/// What is about a user is for that user. What is shown of a record may be stated.
fn check_document(members: &mut Members<'_>, user: Option<&Option<Slug>>, recipient: Option<&Option<Slug>>) {
    if let (Some(Some(user)), Some(Some(recipient))) = (user, recipient)
        && user != recipient
    {
        members.fault("recipient", "must be the user whom the document is about, or left out");
    }
    if members.get("allocation").is_some_and(|json| !json.is_null()) {
        members.fault("allocation", "must be null or left out: no document is of an allocation");
    }
}

impl Document {
    /// The document that is shown (contract, section 6), with the title of the entry and the name of the user.
    pub(crate) fn document(&self, title: &str, user: &str) -> String {
        let token = self.file.as_str();
        document::object(|object| {
            object.null("allocation");
            object.time("created_at", self.created_at);
            object.translated("description", &self.description);
            match self.entry {
                Some(entry) => object.object("entry", |object| object.named(Kind::Entry, entry, ("title", title))),
                None => object.null("entry"),
            }
            object.object("file", |object| {
                object.text("token", token);
                object.link("link", Kind::File, token);
                object.text("name", &self.filename);
                object.download("download", token);
            });
            object.text("file_type", self.file_type.name());
            object.translated("name", &self.name);
            object.flag("shared_with_user", self.shared_with_user);
            object.slug("slug", self.slug);
            match self.user {
                Some(slug) => object.object("user", |object| object.named(Kind::User, slug, ("name", user))),
                None => object.null("user"),
            }
        })
    }

    /// Whom it is for.
    pub fn recipient(&self) -> Option<Slug> {
        self.recipient.or(self.user)
    }

    /// Who reads it beside those who see it by their office.
    pub fn reader(&self) -> Option<Slug> {
        self.recipient().filter(|_| self.shared_with_user)
    }
}

impl PeopleRecord for Document {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        let slug = |slug: Option<Slug>| slug.map_or_else(String::new, |slug| slug.to_string());
        // A name is sorted by in the first of its languages: what is stored knows no language of the account.
        let name = self.name.iter().next().map(|(_, name)| folded(name)).unwrap_or_default();
        vec![
            slug(self.entry).into(),
            slug(self.recipient()).into(),
            slug(self.reader()).into(),
            self.file.as_str().to_owned().into(),
            self.file_type.name().into(),
            sort_key(&name).to_owned().into(),
            sort_key(&folded(&self.filename)).to_owned().into(),
            self.shared_with_user.into(),
            self.created_at.into(),
            self.updated.into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::{self, read};

    #[test]
    fn what_is_no_document_is_named() {
        let file = r#""file":"TokenOfTheLogoFileOfAllX","filename":"a.pdf","name":{"en_GB":"A"}"#;
        assert!(read::<Document>("DocuAAAA", &format!(r#"{file},"file_type":"PDF","allocation":null"#)).is_ok());
        for (wrong, member) in [
            (format!(r#"{file},"file_type":"RTF""#), "file_type"),
            (r#""filename":"a.pdf","name":{"en_GB":"A"},"file_type":"PDF""#.to_owned(), "file"),
            (r#""file":"TokenOfTheLogoFileOfAllX","name":{"en_GB":"A"},"file_type":"PDF""#.to_owned(), "filename"),
            (r#""file":"TokenOfTheLogoFileOfAllX","file_type":"PDF""#.to_owned(), "name"),
            (format!(r#"{file},"file_type":"PDF","user":"UserAAAA","recipient":"UserBBBB""#), "recipient"),
            (format!(r#"{file},"file_type":"PDF","allocation":1"#), "allocation"),
        ] {
            let error = read::<Document>("DocuAAAA", &wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, name, description) in (testing::slug(), testing::translated(), testing::translated()),
            (entry, user) in (testing::maybe(testing::slug()), testing::maybe(testing::slug())),
            (file_type, shared_with_user) in (testing::choice(DocumentType::CHOICES), any::<bool>()),
            (created_at, updated) in (testing::time(), testing::time()),
        ) {
            let file = Token::parse("TokenOfTheLogoFileOfAllX").unwrap();
            testing::reads_back(&Document {
                slug, created_at, description, entry, file, file_type, name, shared_with_user, user,
                filename: "a.pdf".to_owned(), recipient: user, updated,
            });
        }
    }
}
