//! The bodies of requests, for their description.

use std::collections::BTreeMap;

/// The body of `PostContributorV23`.
#[derive(utoipa::ToSchema)]
pub struct CreateContributor {
    /// The entry.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub entry: String,
    /// A tab for contributors of the entry's form.
    #[schema(pattern = "^[A-Za-z]{8}$")]
    pub tab: String,
    /// Answers by the slug of their field, which stands on the tab.
    #[schema(value_type = Option<Object>)]
    pub fields: Option<BTreeMap<String, String>>,
}

/// The body of `PutContributorV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateContributor {
    /// Answers by the slug of their field, which stands on the tab. null takes one back.
    #[schema(value_type = Option<Object>)]
    pub fields: Option<BTreeMap<String, String>>,
}

/// The body of `PutContributorUpdateFieldV23`.
#[derive(utoipa::ToSchema)]
pub struct UpdateContributorAnswer {
    /// The answer; null or an empty text takes it back.
    #[schema(value_type = Object)]
    pub value: String,
}
