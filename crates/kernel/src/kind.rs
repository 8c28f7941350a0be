//! The kinds of records, in one table: their names in program files and the change log, their paths, their letters in
//! documents.

/// What records of a kind are to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The account itself.
    Account,
    /// An API key.
    Key,
    /// What the account sets up.
    SetUp,
    /// What people make.
    People,
}

/// A line of the table.
struct About {
    owner: Option<Kind>,
    class: Class,
    letter: char,
    name: &'static str,
    plural: &'static str,
    path: &'static str,
    words: &'static str,
}

macro_rules! kinds {
    ($(
        $(#[$about:meta])*
        $kind:ident $(in $owner:ident)?: $class:ident, $letter:literal, $name:literal, $plural:literal, $path:literal, $words:literal;
    )*) => {
        /// A kind of record (contract, section 9).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {$(
            $(#[$about])*
            $kind,
        )*}

        impl Kind {
            /// Every kind, in the order in which records can refer to what stands before them.
            pub const ALL: [Self; [$($letter),*].len()] = [$(Self::$kind),*];

            /// The names of all of them in program files and in the change log, in the same order.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),*];

            const fn about(self) -> About {
                match self {$(
                    Self::$kind => About {
                        owner: [$(Some(Self::$owner),)? None][0],
                        class: Class::$class,
                        letter: $letter,
                        name: $name,
                        plural: $plural,
                        path: $path,
                        words: $words,
                    },
                )*}
            }
        }
    };
}

kinds! {
    /// The account itself.
    Account: Account, 'A', "account", "accounts", "account", "account";
    /// An API key of the account, which no file has.
    ApiKey: Key, 'K', "api_key", "api_keys", "api-key", "API key";
    /// A season.
    Season: SetUp, 's', "season", "seasons", "season", "season";
    /// A chapter.
    Chapter: SetUp, 'h', "chapter", "chapters", "chapter", "chapter";
    /// A text above forms.
    ContentBlock: SetUp, 'b', "content_block", "content_blocks", "content-block", "content block";
    /// A form.
    Form: SetUp, 'f', "form", "forms", "form", "form";
    /// A tab of a form.
    Tab in Form: SetUp, 't', "tab", "tabs", "tab", "tab";
    /// A category.
    Category: SetUp, 'c', "category", "categories", "category", "category";
    /// A field.
    Field in Tab: SetUp, 'F', "field", "fields", "field", "field";
    /// A role.
    Role: SetUp, 'r', "role", "roles", "role", "role";
    /// A tax.
    Tax: SetUp, 'x', "tax", "taxes", "tax", "tax";
    /// A price.
    Price: SetUp, 'p', "price", "prices", "price", "price";
    /// A discount.
    Discount: SetUp, 'D', "discount", "discounts", "discount", "discount";
    /// A round.
    Round: SetUp, 'R', "round", "rounds", "round", "round";
    /// A score set.
    ScoreSet: SetUp, 'S', "score_set", "score_sets", "score-set", "score set";
    /// A criterion of a score set.
    Criterion in ScoreSet: SetUp, 'k', "criterion", "criteria", "criterion", "criterion";
    /// A panel of judges.
    Panel: SetUp, 'P', "panel", "panels", "panel", "panel";
    /// A stage of review.
    ReviewStage: SetUp, 'v', "review_stage", "review_stages", "review-stage", "review stage";
    /// A template of documents.
    DocumentTemplate: SetUp, 'T', "document_template", "document_templates", "document-template", "document template";
    /// An endpoint of others that is told what happens.
    Webhook: SetUp, 'w', "webhook", "webhooks", "webhook", "webhook";
    /// A person.
    User: People, 'u', "user", "users", "user", "user";
    /// A stored file.
    File: People, 'i', "file", "files", "file", "file";
    /// An entry.
    Entry: People, 'e', "entry", "entries", "entry", "entry";
    /// A contributor of an entry.
    Contributor in Entry: People, 'C', "contributor", "contributors", "contributor", "contributor";
    /// An attachment of an entry.
    Attachment in Entry: People, 'a', "attachment", "attachments", "attachment", "attachment";
    /// An order.
    Order: People, 'o', "order", "orders", "order", "order";
    /// A line of an order, in program files only: it is stored within its order.
    OrderItem: People, 'I', "order_item", "order_items", "order-item", "order item";
    /// A payment of an order, in program files only: it is stored within its order.
    Payment: People, 'y', "payment", "payments", "payment", "payment";
    /// A judge, or a role, who is to judge an entry in a score set, with the sheet.
    Assignment: People, 'j', "assignment", "assignments", "assignment", "assignment";
    /// What a sheet says of a criterion, in program files only: it is stored within its assignment.
    Score in Assignment: People, 'z', "score", "scores", "score", "score";
    /// A judge has declared a conflict of interest with an entry.
    Conflict: People, 'X', "conflict", "conflicts", "conflict", "conflict";
    /// A manager has taken a judge off an entry.
    Recusal: People, 'U', "recusal", "recusals", "recusal", "recusal";
    /// A task of a review stage.
    ReviewTask: People, 'V', "review_task", "review_tasks", "review-task", "review task";
    /// The order in which the chair puts entries of a score set that are tied.
    CastingVote: People, 'G', "casting_vote", "casting_votes", "casting-vote", "casting vote";
    /// The order in which the entries of a score set were drawn.
    Lot: People, 'l', "lot", "lots", "lot", "lot";
    /// A published result.
    Publication: People, 'B', "publication", "publications", "leaderboard/publication", "publication";
    /// A file that was made of a template.
    Document: People, 'd', "document", "documents", "document", "document";
}

impl Kind {
    /// The name in program files and in the change log.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in program files of many of them, such as what a mapping of a program file is called.
    pub const fn plural(self) -> &'static str {
        self.about().plural
    }

    /// The address of a record without the slug or token.
    pub const fn path(self) -> &'static str {
        self.about().path
    }

    /// The name in a sentence.
    pub const fn words(self) -> &'static str {
        self.about().words
    }

    /// What records of this kind are to an account.
    pub const fn class(self) -> Class {
        self.about().class
    }

    /// Whose records own those of this kind, which may be nested in them in program files. The kind's plural is the member
    /// that they are nested in, the owner's name the member that names the owner.
    pub const fn owner(self) -> Option<Self> {
        self.about().owner
    }

    /// The owner, its owner, and so on.
    pub fn owners(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.owner(), |kind| kind.owner())
    }

    /// The kinds whose records those of this kind own.
    pub fn owned(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |kind| kind.owner() == Some(self))
    }

    /// Whether records of this kind are what an account sets up: they are held in the snapshot.
    pub fn is_setup(self) -> bool {
        self.class() == Class::SetUp
    }

    /// Whether the account's program shows records of this kind: the account, its keys and its set-up.
    pub fn is_in_program(self) -> bool {
        self.class() != Class::People
    }

    /// Whether program files and exports have records of this kind. They have no keys: a secret stays where it was made.
    pub fn is_in_files(self) -> bool {
        self.class() != Class::Key
    }

    /// The letter that stands for the kind in a reference slot.
    pub const fn letter(self) -> char {
        self.about().letter
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
        assert_eq!(Kind::NAMES, Kind::ALL.map(Kind::name));
    }

    #[test]
    fn paths_end_in_the_name_with_hyphens() {
        let name = |kind: Kind| kind.name().replace('_', "-");
        assert!(Kind::ALL.into_iter().all(|kind| kind.path().rsplit('/').next() == Some(&*name(kind))));
        assert_eq!(Kind::ScoreSet.path(), "score-set");
    }
}
