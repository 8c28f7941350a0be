//! Fields: the questions of a form, and those about users, contributors, attachments and referees.
//!
//! - A field stands on a tab, whose form is the field's and whose type decides what is asked about ([`resource_of`]); a
//!   field about users may stand on none. It is asked in its `categories` (`*` stands for all of them), which are of its
//!   season and form.
//! - Its type decides what an answer is ([`check_answer`], [`validate_answer`]) and which members have a meaning: options for
//!   the choices, columns for a table, a currency for an amount, file types and a size for a file, limits for texts. A
//!   member that the type does not have is empty. A field keeps its type, its form and its currency, so that its answers
//!   keep their meaning. A formula is not made through the interface.
//! - `title` is plain text, `label` is HTML; a field without a label shows its title there.
//! - A condition shows a field only where the answer to another one is a certain one ([`ShownFields`]). That field is live, of
//!   the same form and about the same, and does not itself depend on the first; at most [`CHAIN`](super::bounds::CHAIN)
//!   conditions follow one another. The members `conditional_field` of the read form and `conditional` of ours name the same field.
//! - Trashing a field hides its answers everywhere and loses none of them. A field that another live field's condition
//!   names cannot be trashed ([`trash`]). Restoring it brings them back, once its tab, its form and the field that its
//!   condition names are there ([`restore`](rules::restore)).
//! - An option may state a score; `auto_scoring` is the most that a field adds to the score of an entry ([`points`](scores::points)).
//! - Answers are shown in the order of their tabs, then of their fields ([`write_answers`]).
//! - The count of categories is computed, and passed over when a record is read.

mod answers;
mod body;
mod conditions;
pub(crate) mod document;
mod file_types;
mod members;
mod record;
pub(crate) mod rules;
mod scores;
mod standing;
mod validate;

pub use answers::{AnswerHead, write_answers};
pub use body::{Given, read};
pub use conditions::ShownFields;
pub use document::document;
pub use members::BODY;
pub(crate) use record::write_settings;
pub use rules::{keeps_meaning, trash};
pub use scores::auto_score;
pub use standing::{form_of, is_asked_in, rank, resource_of, season_of};
pub use validate::{Lengths, check_answer, is_answered, merged, validate_answer, validate_file};

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Currency, Locale, Slug, Timestamp, Translated};

/// The most options of a field.
pub const OPTIONS: usize = 10_000;
/// The most columns of a table.
pub const COLUMNS: usize = 100;
/// The most categories that a field names.
pub const CATEGORIES: usize = 10_000;
/// The most types of files that a field names.
pub const FILE_TYPES: usize = 1_000;
/// The most characters of a label, a hint, an option or a column's key.
pub const TEXT_LENGTH: usize = 65_536;
/// The largest number that limits an answer, or a field's place.
pub const LIMIT: i64 = 1_000_000_000_000;

choices! {
    /// What kind of answer a field takes.
    #[allow(missing_docs, reason = "the names are those of the contract, section 6, which says what each takes")]
    pub enum FieldType {
        Checkbox "checkbox",
        CheckboxList "checkboxlist",
        Content "content",
        Country "country",
        Currency "currency",
        Date "date",
        DateTime "datetime",
        DropDownList "drop-down-list",
        Email "email",
        File "file",
        Formula "formula",
        Lookup "lookup",
        Numeric "numeric",
        Phone "phone",
        Radio "radio",
        Table "table",
        Text "text",
        Textarea "textarea",
        Time "time",
        Url "url",
    }
}

impl FieldType {
    /// Whether an answer is one or more of the field's options. A lookup without options takes any text.
    pub fn has_options(self) -> bool {
        matches!(self, Self::CheckboxList | Self::DropDownList | Self::Lookup | Self::Radio)
    }

    /// Whether an answer is a text whose length can be limited.
    pub fn has_limits(self) -> bool {
        matches!(self, Self::Text | Self::Textarea)
    }

    /// Whether people answer it.
    pub fn takes_answers(self) -> bool {
        !matches!(self, Self::Content | Self::Formula)
    }
}

choices! {
    /// What a field asks about.
    pub enum Resource {
        /// Entries.
        Entries "entries",
        /// Users.
        Users "users",
        /// Attachments of entries.
        Attachments "attachments",
        /// Contributors of entries.
        Contributors "contributors",
        /// Referees of entries.
        Referees "referees",
    }
}

choices! {
    /// How well the answers of a field are kept from those who need not see them.
    pub enum Protection {
        /// As every answer.
        Standard "standard",
        /// Better.
        Elevated "elevated",
        /// As well as it can be done.
        Maximum "maximum",
    }
}

choices! {
    /// A way of judging in which the answers of a field are shown.
    pub enum Visibility {
        /// Qualifying.
        Qualifying "qualifying",
        /// Top pick.
        TopPick "top_pick",
        /// Voting.
        Voting "voting",
        /// Gallery.
        Gallery "gallery",
        /// Scoring by criteria.
        Scoring "scoring",
    }
}

/// One of the answers that a choice offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOption {
    /// What an answer holds.
    pub value: String,
    /// What people see; where it has no text they see the value.
    pub label: Translated,
    /// What it adds to the automatic score when it is chosen.
    pub score: Option<i64>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What its cells' references begin with, such as `A`; a row number follows.
    pub key: String,
    /// What stands above it.
    pub label: Translated,
}

choices! {
    /// How a condition compares an answer.
    pub enum Operator {
        /// There is one.
        Answered "answered",
        /// There is none.
        Unanswered "unanswered",
        /// It is the value.
        Equals "equals",
        /// It is not the value.
        NotEquals "not_equals",
        /// The value is a part of the text, or one of the options that were chosen.
        Contains "contains",
        /// The value is neither.
        NotContains "not_contains",
        /// It is, or has chosen, one of the values.
        OneOf "one_of",
        /// It is, or has chosen, none of the values.
        NoneOf "none_of",
        /// It comes after the value.
        GreaterThan "greater_than",
        /// It comes before the value.
        LessThan "less_than",
        /// It is the value or comes after it.
        AtLeast "at_least",
        /// It is the value or comes before it.
        AtMost "at_most",
    }
}

/// Under which answer of another field a field is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The other field.
    pub field: Slug,
    /// How its answer is compared.
    pub operator: Operator,
    /// With what.
    pub value: Json<'static>,
}

/// What the applicant may do with the answers of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct ApplicantAccess {
    /// Whether the applicant sees the answers; true if left out.
    #[member(name = "applicant_read_access", default = true)]
    pub read: bool,
    /// Whether the applicant gives the answers; true where it is left out.
    #[member(name = "applicant_write_access", default = true)]
    pub write: bool,
}

/// How short and how long a text may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Record)]
#[record(check = record::check_limits(maximum_characters, maximum_words, minimum_characters, minimum_words))]
pub struct Limits {
    /// At most this many characters.
    #[member(Integer(0, LIMIT), example("null"))]
    pub maximum_characters: Option<i64>,
    /// At most this many words.
    #[member(Integer(0, LIMIT), example("null"))]
    pub maximum_words: Option<i64>,
    /// At least this many characters.
    #[member(Integer(0, LIMIT), example("null"))]
    pub minimum_characters: Option<i64>,
    /// At least this many words.
    #[member(Integer(0, LIMIT), example("null"))]
    pub minimum_words: Option<i64>,
}

impl Limits {
    /// Each minimum before its maximum.
    fn in_order(&mut self) -> [&mut Option<i64>; 4] {
        let Self { maximum_characters, maximum_words, minimum_characters, minimum_words } = self;
        [minimum_characters, maximum_characters, minimum_words, maximum_words]
    }

    /// The minimums that are above their maximum.
    fn contradictions(&self) -> impl Iterator<Item = &'static str> {
        let pairs = [
            ("minimum_characters", self.minimum_characters, self.maximum_characters),
            ("minimum_words", self.minimum_words, self.maximum_words),
        ];
        let is_above = |(name, minimum, maximum): (_, Option<i64>, _)| (minimum? > maximum?).then_some(name);
        pairs.into_iter().filter_map(is_above)
    }
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check, trash), blank, changes = Changes, settings, extra(members::COUNT, Member::link().hidden()), check = record::check_field(resource, categories, kind, currency))]
pub struct Field {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to, where that is stated.
    #[member(Ref(Kind::Season))]
    pub season: Option<Slug>,
    /// The form that it belongs to; left out within a tab, which decides it.
    #[member(Ref(Kind::Form), creatable, updatable, never_null_in_bodies)]
    pub form: Option<Slug>,
    /// The tab that it stands on, which decides the form and what is asked about; left out within that tab.
    #[member(Ref(Kind::Tab), identifying, to_create, updatable, never_null_in_bodies)]
    pub tab: Option<Slug>,
    /// What it asks about; what its tab is for where it is left out.
    #[member(default = Resource::Entries)]
    pub resource: Resource,
    /// What kind of answer it takes.
    #[member(name = "type", required, example("drop-down-list"))]
    pub kind: FieldType,
    /// The slugs of the categories that it is asked in; `["*"]` or left out, all of them.
    #[member(Either(&members::ASKED_IN), nullable_if(false), creatable, updatable,
        shown_as(&members::ASKED_IN_SHOWN))]
    pub categories: Option<Vec<Slug>>,
    /// Its place on the tab.
    #[member(Integer(0, LIMIT), creatable, updatable)]
    pub order: i64,
    /// The question in plain text.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name, text, to_create, updatable)]
    pub title: Translated,
    /// The question in HTML; the title where it is left out.
    #[member(Translated(TEXT_LENGTH))]
    pub label: Translated,
    /// Longer help.
    #[member(Translated(TEXT_LENGTH), text, creatable, updatable)]
    pub help_text: Translated,
    /// A hint within the input.
    #[member(Translated(TEXT_LENGTH), text, creatable, updatable)]
    pub hint_text: Translated,
    /// Whether an entry can be submitted only with an answer.
    #[member(creatable, updatable)]
    pub required: bool,
    /// Whether entries are found by its answers.
    pub searchable: bool,
    /// What the applicant may do with the answers.
    #[member(flatten)]
    pub applicant: ApplicantAccess,
    /// How well the answers are kept from those who need not see them; standard where it is left out.
    #[member(default = Protection::Standard, creatable, updatable)]
    pub protection: Protection,
    /// The ways of judging in which the answers are shown.
    #[member(List(&Visibility::SHAPE, Visibility::CHOICES.len()))]
    pub visibility: Vec<Visibility>,
    /// How it stands in the registration form of users.
    #[member(Text(NAME_LENGTH))]
    pub registration: Option<String>,
    /// Under which answer of another field it is shown.
    #[member(flatten)]
    pub conditional: Option<Condition>,
    /// What a choice offers.
    #[member(List(&members::OPTION, OPTIONS), with = FieldOption, default = Vec::new(), creatable, updatable,
        shown_as(&members::OPTIONS_SHOWN), example(r#"["Yes",{"value":"No","label":{"en_GB":"Not yet"},"score":1}]"#))]
    pub options: Vec<FieldOption>,
    /// The columns of a table.
    #[member(List(&members::COLUMN, COLUMNS), with = Column, default = Vec::new(), creatable, updatable, hidden,
        example("[]"))]
    pub columns: Vec<Column>,
    /// The currency of an amount; required for the type currency.
    #[member(creatable, updatable, hidden, example("null"))]
    pub currency: Option<Currency>,
    /// How short and how long a text may be.
    #[member(flatten)]
    pub limits: Limits,
    /// The types of files that are taken, as extensions such as pdf or media types such as image/*; none means every type.
    #[member(Set(&Shape::Pattern(file_types::PATTERN), FILE_TYPES), read = record::read_file_types, creatable, updatable,
        example("[]"))]
    pub file_types: Vec<String>,
    /// The most bytes of a file.
    #[member(Integer(1, LIMIT), creatable, updatable, example("null"))]
    pub max_file_size: Option<i64>,
    /// The most that its answer adds to the automatic score; 0 when that is off.
    #[member(Integer(0, LIMIT))]
    pub auto_scoring: i64,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

impl Field {
    /// Whether its answers are files.
    pub fn is_file(&self) -> bool {
        self.kind == FieldType::File
    }

    /// Whether nothing can be answered to it: files are uploaded to entries and users alone.
    pub fn is_never_answered(&self) -> bool {
        self.is_file() && !matches!(self.resource, Resource::Entries | Resource::Users)
    }

    /// Whether it is asked in a category.
    pub fn applies_to(&self, category: Slug) -> bool {
        self.categories.as_ref().is_none_or(|categories| categories.contains(&category))
    }

    /// What people see for an option's value, which is the value itself where no label says otherwise.
    pub fn option_label<'f>(&'f self, value: &'f str, locale: Locale) -> &'f str {
        let option = self.options.iter().find(|option| option.value == value);
        option.and_then(|option| option.label.get(locale)).filter(|label| !label.is_empty()).unwrap_or(value)
    }
}

#[cfg(test)]
mod tests {
    use super::Field;
    use crate::program::tabs::Tab;
    use crate::program::testing::context;
    use crate::program::{Record, Records, store};

    /// A field with the title `Q & A`, on the tab `TabAAAAA` where `members` names none.
    pub(super) fn field(slug: &str, members: &str) -> Field {
        let tab = if members.contains(r#""tab""#) { "" } else { r#""tab":"TabAAAAA","# };
        let text = format!(r#"{{"slug":"{slug}",{tab}"title":{{"en_GB":"Q & A"}},{members}}}"#);
        store::parse(&text, &context()).unwrap()
    }

    /// Two tabs: `TabAAAAA` before `TabBBBBB`.
    pub(super) fn tabs() -> Records<Tab> {
        let mut tabs = Records::default();
        for (slug, order) in [("TabBBBBB", 2), ("TabAAAAA", 1)] {
            let text = format!(r#"{{"slug":"{slug}","form":"FormAAAA","type":"General","order":{order}}}"#);
            let value: Tab = store::parse(&text, &context()).unwrap();
            tabs.insert(value.slug, Record { value, revision: 1, deleted: false });
        }
        tabs
    }
}
