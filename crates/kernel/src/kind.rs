//! The kinds of records: their names in program files and the change log, their paths, their letters in documents.

/// A kind of record (contract, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The account itself.
    Account,
    /// An API key of the account, which no file has.
    ApiKey,
    /// A season.
    Season,
    /// A chapter.
    Chapter,
    /// A text above forms.
    ContentBlock,
    /// A form.
    Form,
    /// A tab of a form.
    Tab,
    /// A category.
    Category,
    /// A field.
    Field,
    /// A role.
    Role,
    /// A tax.
    Tax,
    /// A price.
    Price,
    /// A discount.
    Discount,
    /// A round.
    Round,
    /// A score set.
    ScoreSet,
    /// A criterion of a score set.
    Criterion,
    /// A panel of judges.
    Panel,
    /// A stage of review.
    ReviewStage,
    /// A template of documents.
    DocumentTemplate,
    /// A person.
    User,
    /// A stored file.
    File,
    /// An entry.
    Entry,
    /// A contributor of an entry.
    Contributor,
    /// An attachment of an entry.
    Attachment,
    /// An order.
    Order,
    /// A line of an order, in program files only: it is stored within its order.
    OrderItem,
}

impl Kind {
    /// Every kind, in the order in which records can refer to what stands before them.
    pub const ALL: [Self; 26] = [
        Self::Account,
        Self::ApiKey,
        Self::Season,
        Self::Chapter,
        Self::ContentBlock,
        Self::Form,
        Self::Tab,
        Self::Category,
        Self::Field,
        Self::Role,
        Self::Tax,
        Self::Price,
        Self::Discount,
        Self::Round,
        Self::ScoreSet,
        Self::Criterion,
        Self::Panel,
        Self::ReviewStage,
        Self::DocumentTemplate,
        Self::User,
        Self::File,
        Self::Entry,
        Self::Contributor,
        Self::Attachment,
        Self::Order,
        Self::OrderItem,
    ];

    /// The name in program files and in the change log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::ApiKey => "api_key",
            Self::Season => "season",
            Self::Chapter => "chapter",
            Self::ContentBlock => "content_block",
            Self::Form => "form",
            Self::Tab => "tab",
            Self::Category => "category",
            Self::Field => "field",
            Self::Role => "role",
            Self::Tax => "tax",
            Self::Price => "price",
            Self::Discount => "discount",
            Self::Round => "round",
            Self::ScoreSet => "score_set",
            Self::Criterion => "criterion",
            Self::Panel => "panel",
            Self::ReviewStage => "review_stage",
            Self::DocumentTemplate => "document_template",
            Self::User => "user",
            Self::File => "file",
            Self::Entry => "entry",
            Self::Contributor => "contributor",
            Self::Attachment => "attachment",
            Self::Order => "order",
            Self::OrderItem => "order_item",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in program files of many of them, such as what a mapping of a program file is called.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Account => "accounts",
            Self::ApiKey => "api_keys",
            Self::Season => "seasons",
            Self::Chapter => "chapters",
            Self::ContentBlock => "content_blocks",
            Self::Form => "forms",
            Self::Tab => "tabs",
            Self::Category => "categories",
            Self::Field => "fields",
            Self::Role => "roles",
            Self::Tax => "taxes",
            Self::Price => "prices",
            Self::Discount => "discounts",
            Self::Round => "rounds",
            Self::ScoreSet => "score_sets",
            Self::Criterion => "criteria",
            Self::Panel => "panels",
            Self::ReviewStage => "review_stages",
            Self::DocumentTemplate => "document_templates",
            Self::User => "users",
            Self::File => "files",
            Self::Entry => "entries",
            Self::Contributor => "contributors",
            Self::Attachment => "attachments",
            Self::Order => "orders",
            Self::OrderItem => "order_items",
        }
    }

    /// The first segment of the address of a record.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::ApiKey => "api-key",
            Self::ContentBlock => "content-block",
            Self::ScoreSet => "score-set",
            Self::ReviewStage => "review-stage",
            Self::DocumentTemplate => "document-template",
            Self::OrderItem => "order-item",
            _ => self.name(),
        }
    }

    /// The name in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ApiKey => "API key",
            Self::ContentBlock => "content block",
            Self::ScoreSet => "score set",
            Self::ReviewStage => "review stage",
            Self::DocumentTemplate => "document template",
            Self::OrderItem => "order item",
            _ => self.name(),
        }
    }

    /// Whether records of this kind are what an account sets up: they are held in the snapshot.
    #[must_use]
    pub fn is_setup(self) -> bool {
        self > Self::ApiKey && self < Self::User
    }

    /// Whether the account's program shows records of this kind: the account, its keys and its set-up.
    #[must_use]
    pub fn is_in_program(self) -> bool {
        self < Self::User
    }

    /// Whether program files and exports have records of this kind. They have no keys: a secret stays where it was made.
    #[must_use]
    pub fn is_in_files(self) -> bool {
        self != Self::ApiKey
    }

    /// The letter that stands for the kind in a reference slot.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Account => 'A',
            Self::ApiKey => 'K',
            Self::Season => 's',
            Self::Chapter => 'h',
            Self::ContentBlock => 'b',
            Self::Form => 'f',
            Self::Tab => 't',
            Self::Category => 'c',
            Self::Field => 'F',
            Self::Role => 'r',
            Self::Tax => 'x',
            Self::Price => 'p',
            Self::Discount => 'D',
            Self::Round => 'R',
            Self::ScoreSet => 'S',
            Self::Criterion => 'k',
            Self::Panel => 'P',
            Self::ReviewStage => 'v',
            Self::DocumentTemplate => 'T',
            Self::User => 'u',
            Self::File => 'i',
            Self::Entry => 'e',
            Self::Contributor => 'C',
            Self::Attachment => 'a',
            Self::Order => 'o',
            Self::OrderItem => 'I',
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_are_told_apart_by_name_plural_path_and_letter() {
        let count = Kind::ALL.len();
        for texts in [Kind::name, Kind::plural, Kind::path] {
            assert_eq!(Kind::ALL.into_iter().map(texts).collect::<BTreeSet<_>>().len(), count);
        }
        assert_eq!(Kind::ALL.into_iter().map(Kind::letter).collect::<BTreeSet<_>>().len(), count);
        assert!(Kind::ALL.is_sorted(), "the order of the list is that of the kinds");
        assert!(Kind::ALL.into_iter().all(|kind| Kind::named(kind.name()) == Some(kind)));
    }

    #[test]
    fn paths_are_written_with_hyphens() {
        assert!(Kind::ALL.into_iter().all(|kind| kind.path() == kind.name().replace('_', "-")));
        assert_eq!(Kind::ScoreSet.path(), "score-set");
    }
}
