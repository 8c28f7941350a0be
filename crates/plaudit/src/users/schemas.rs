//! The bodies of requests about users, for their description.

use std::collections::BTreeMap;

/// The body of `PostUserV23`. The e-mail address or the mobile number must be there; members that are not known are passed
/// over.
#[derive(utoipa::ToSchema)]
pub struct CreateUser {
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The e-mail address, which reaches nobody else in the installation.
    pub email: Option<String>,
    /// The mobile number (E.164), which reaches nobody else in the installation.
    pub mobile: Option<String>,
    /// At least 8 characters and at most 1,024 bytes. A person who exists already keeps the password.
    pub password: String,
    /// The slugs of roles of the account; the role of an entrant without it.
    pub roles: Option<Vec<String>>,
    /// The code of a language of the account; its default language without it.
    pub language: Option<String>,
    /// Preferences, whatever they are.
    #[schema(value_type = Option<Object>)]
    pub preferences: Option<()>,
    /// What is shared elsewhere, whatever it is.
    #[schema(value_type = Option<Object>)]
    pub social_sharing: Option<()>,
    /// Answers by the slug of a field about users.
    #[schema(value_type = Option<Object>)]
    pub user_fields: Option<BTreeMap<String, String>>,
}

/// The body of `PutUserV23`. What is left out keeps its value; members that are not known are passed over.
#[derive(utoipa::ToSchema)]
pub struct UpdateUser {
    /// The first name.
    pub first_name: Option<String>,
    /// The last name.
    pub last_name: Option<String>,
    /// The e-mail address; null takes it away where there is a mobile number.
    pub email: Option<String>,
    /// The mobile number (E.164); null or the empty string takes it away where there is an e-mail address.
    pub mobile: Option<String>,
    /// At least 8 characters and at most 1,024 bytes.
    pub password: Option<String>,
    /// The slugs of roles of the account, in place of those that the user has.
    pub roles: Option<Vec<String>>,
    /// The code of a language of the account.
    pub language: Option<String>,
    /// Whether cookies that measure use are agreed to.
    pub analytics_cookies: Option<bool>,
    /// Whether mail to everybody is agreed to.
    pub broadcast_emails: Option<bool>,
    /// Whether cookies of advertisers are agreed to.
    pub marketing_cookies: Option<bool>,
    /// Whether cookies without which nothing works are agreed to.
    pub necessary_cookies: Option<bool>,
    /// Whether mail about the user's own records is agreed to.
    pub notification_emails: Option<bool>,
    /// Whether text messages about the user's own records are agreed to.
    pub notification_sms: Option<bool>,
    /// Preferences, in place of those that there are.
    #[schema(value_type = Option<Object>)]
    pub preferences: Option<()>,
    /// What is shared elsewhere, in place of what there is.
    #[schema(value_type = Option<Object>)]
    pub social_sharing: Option<()>,
    /// Answers by the slug of a field about users; those left out stay, null takes one back.
    #[schema(value_type = Option<Object>)]
    pub user_fields: Option<BTreeMap<String, String>>,
}
