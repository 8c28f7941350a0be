//! The bodies of fields as the OpenAPI document describes them.

use std::collections::BTreeMap;

/// The body of `PostFieldV23`.
#[derive(utoipa::ToSchema)]
pub struct CreateField {
    /// The type; every one but `formula`.
    pub r#type: String,
    /// The tab, which decides the form and what is asked about.
    pub tab: String,
    /// Texts by the code of their locale.
    pub translated: CreateFieldTexts,
    /// The tab's form, for those who want to say it as well.
    pub form: Option<String>,
    /// The currency of the amounts, ISO 4217: required for the type `currency`, and for no other.
    pub currency: Option<String>,
    /// What a choice offers: values, or objects of a value and what people see.
    pub options: Option<Vec<FieldOptionBody>>,
    /// Whether an answer is needed.
    pub required: Option<bool>,
    /// Under which answer of another field the field is shown.
    pub conditional: Option<ConditionBody>,
    /// How short and how long a text may be.
    pub limits: Option<LimitsBody>,
    /// The place on the tab; behind all others without it.
    #[schema(minimum = 0)]
    pub order: Option<i64>,
    /// The slugs of the categories that it is asked in, or `*` alone for all of them.
    pub categories: Option<Vec<String>>,
    /// `standard`, `elevated` or `maximum`.
    pub protection: Option<String>,
    /// The columns of a table.
    pub columns: Option<Vec<ColumnBody>>,
    /// Extensions such as `pdf` and media types such as `image/*`; none stands for every type.
    pub file_types: Option<Vec<String>>,
    /// The most bytes of a file.
    #[schema(minimum = 1)]
    pub max_file_size: Option<i64>,
}

/// The body of `PutFieldV23`. What is left out keeps its value; type, form and currency can be restated only.
#[derive(utoipa::ToSchema)]
pub struct UpdateField {
    /// The type that it has.
    pub r#type: Option<String>,
    /// Another tab of the form, of the same type.
    pub tab: Option<String>,
    /// Texts by the code of their locale.
    pub translated: Option<UpdateFieldTexts>,
    /// The tab's form, for those who want to say it as well.
    pub form: Option<String>,
    /// The currency of the amounts, ISO 4217: required for the type `currency`, and for no other; it cannot be changed.
    pub currency: Option<String>,
    /// What a choice offers: values, or objects of a value and what people see.
    pub options: Option<Vec<FieldOptionBody>>,
    /// Whether an answer is needed.
    pub required: Option<bool>,
    /// Under which answer of another field the field is shown.
    pub conditional: Option<ConditionBody>,
    /// How short and how long a text may be.
    pub limits: Option<LimitsBody>,
    /// The place on the tab.
    #[schema(minimum = 0)]
    pub order: Option<i64>,
    /// The slugs of the categories that it is asked in, or `*` alone for all of them.
    pub categories: Option<Vec<String>>,
    /// `standard`, `elevated` or `maximum`.
    pub protection: Option<String>,
    /// The columns of a table.
    pub columns: Option<Vec<ColumnBody>>,
    /// Extensions such as `pdf` and media types such as `image/*`; none stands for every type.
    pub file_types: Option<Vec<String>>,
    /// The most bytes of a file.
    #[schema(minimum = 1)]
    pub max_file_size: Option<i64>,
}

/// The texts of a new field.
#[derive(utoipa::ToSchema)]
pub struct CreateFieldTexts {
    /// The question; required in the default language.
    pub title: BTreeMap<String, String>,
    /// Longer help.
    pub help_text: Option<BTreeMap<String, String>>,
    /// A hint within the input.
    pub hint_text: Option<BTreeMap<String, String>>,
}

/// The texts of a field.
#[derive(utoipa::ToSchema)]
pub struct UpdateFieldTexts {
    /// The question.
    pub title: Option<BTreeMap<String, String>>,
    /// Longer help.
    pub help_text: Option<BTreeMap<String, String>>,
    /// A hint within the input.
    pub hint_text: Option<BTreeMap<String, String>>,
}

/// An option: its value alone, or this.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum FieldOptionBody {
    /// What an answer holds.
    Value(String),
    /// With what people see.
    Whole(WholeOptionBody),
}

/// An option with what people see. What is left out of an option that the field has keeps its value.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub struct WholeOptionBody {
    /// What an answer holds.
    pub value: String,
    /// What people see.
    pub label: Option<BTreeMap<String, String>>,
    /// What it adds to the automatic score.
    pub score: Option<i64>,
}

/// A condition.
#[derive(utoipa::ToSchema)]
pub struct ConditionBody {
    /// The other field.
    pub field: String,
    /// `answered`, `unanswered`, `equals`, `not_equals`, `contains`, `not_contains`, `one_of`, `none_of`, `greater_than`,
    /// `less_than`, `at_least` or `at_most`, as far as the type of the other field has it.
    pub operator: String,
    /// What its answer is compared with: what can be an answer to it, or a list of that.
    #[schema(value_type = Object)]
    pub value: Option<()>,
}

/// Limits of a text.
#[derive(utoipa::ToSchema)]
pub struct LimitsBody {
    /// The fewest characters.
    pub minimum_characters: Option<i64>,
    /// The most characters.
    pub maximum_characters: Option<i64>,
    /// The fewest words.
    pub minimum_words: Option<i64>,
    /// The most words.
    pub maximum_words: Option<i64>,
}

/// A column of a table.
#[derive(utoipa::ToSchema)]
pub struct ColumnBody {
    /// What the references of its cells begin with, such as `A`.
    pub key: String,
    /// What stands above it.
    pub label: Option<BTreeMap<String, String>>,
}
