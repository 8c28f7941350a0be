//! Users: the people of an account, whatever they do in it.
//!
//! - A **person** is one in the whole installation, known by a `global_id`, and reached by an e-mail address, a mobile
//!   number or both, which reach nobody else; of an address, case is no part. A person has one password. A **user** is a
//!   person in an account: the name, the roles and everything else is what that account says of the person, and no other
//!   account sees any of it.
//! - A user shows the address and the number that the account has given, never one that the person has elsewhere.
//! - The address, the number and the password of a person who is in one account are that account's to change. Those of a
//!   person who is in several, in the trash of one or not, are the person's own: no account may change for the others by
//!   what the person signs in.
//! - The name is the first and the last name, and is never given on its own.
//! - A user is invited until confirmed; a confirmed one may have the time of it. A user is confirmed in each account on
//!   its own.
//! - Entries, orders and chapters show a user by name. Their documents have a slot for the user, which is filled when they
//!   are shown ([`Person`]).
//! - A user in the trash keeps the records, and keeps the name in them, but manages nothing.
//! - In which seasons a user has entries is kept for the filters of the list ([`store::note_seasons`]).
//! - The list without `order` shows what was changed last first; `dir=asc` turns it around. A named `order` begins with
//!   the smallest value, and `dir=desc` turns it around. Ties go by slug, ascending in both directions.

pub(crate) mod body;
mod document;
pub(crate) mod identity;
pub mod links;
pub mod list;
pub mod password;
mod person;
mod rules;
pub mod store;
pub(crate) mod writing;

pub use document::{answers_in, detail, shown};
pub use list::LISTED;
pub use password::{PasswordHash, Passwords};
pub use person::{Person, names};
pub use rules::{Summary, full_name, normal_email};

use serde::Deserialize;

use crate::program::accounts::locales;
use crate::program::{Member, Record, SLUG, Shape, choices};
use crate::records::answers::{self, Answers};
use crate::records::slots;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{EMAIL_LENGTH, Locale, Slug, Timestamp};

/// The most characters of a first or last name.
pub const NAME_LENGTH: usize = 255;
/// The most characters of comments.
pub const COMMENTS_LENGTH: usize = 65_536;
/// The most roles of a user.
pub const ROLES: usize = 1_000;

choices! {
    /// How a user came to be.
    pub enum Origin {
        /// By the operator.
        Manual "manual",
        /// By registering.
        Registration "registration",
        /// By an invitation.
        Invited "invited",
        /// Through the interface.
        Api "api",
    }
}

choices! {
    /// Whether a user is confirmed.
    pub enum Confirmation {
        /// The user is.
        Confirmed "Confirmed",
        /// The user is only invited.
        Invited "Invited",
    }
}

const NAME: Shape = Shape::FilledText(NAME_LENGTH);
const WHOLE_NAME: Member = Member::optional("name", NAME, "The whole name.");
const PASSWORD: Member =
    Member::optional("password", Shape::Text(password::MOST_BYTES), "At least 8 characters and at most 1,024 bytes.")
        .to_create()
        .updatable()
        .hidden();
const ROLES_OF_BODY: Shape = Shape::Set(&Shape::Ref(Kind::Role), ROLES);

/// A user. The first document has the members that are not skipped, references as slots.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Record)]
#[record(blank, changes = Changes, check = check_user(first_name, last_name, confirmation, confirmed_at))]
#[allow(clippy::struct_excessive_bools, reason = "each is a member of its own, and none follows from another")]
pub struct User {
    /// The user's slug.
    pub slug: Slug,
    /// Whether cookies that measure use are agreed to.
    #[member(creatable, updatable)]
    pub analytics_cookies: bool,
    /// Whether mail to everybody is agreed to.
    #[member(creatable, updatable)]
    pub broadcast_emails: bool,
    /// Whether cookies of advertisers are agreed to.
    #[member(creatable, updatable)]
    pub marketing_cookies: bool,
    /// Whether cookies without which nothing works are agreed to.
    #[member(default = true, creatable, updatable)]
    pub necessary_cookies: bool,
    /// Whether mail about the user's own records is agreed to.
    #[member(default = true, creatable, updatable)]
    pub notification_emails: bool,
    /// Whether text messages about the user's own records are agreed to.
    #[member(creatable, updatable)]
    pub notification_sms: bool,
    /// Comments about the user.
    #[member(Text(COMMENTS_LENGTH))]
    pub comments: String,
    /// Whether the user is confirmed.
    #[member(default = confirmed_by_time(members))]
    pub confirmation: Confirmation,
    /// When the user was confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// When the user was added.
    pub created_at: Timestamp,
    /// How.
    #[member(default = Origin::Manual)]
    pub created_by: Origin,
    /// The e-mail address, which reaches nobody else in the installation.
    #[member(Text(EMAIL_LENGTH), read = |json| input::email(json).map(Some), creatable, updatable)]
    pub email: Option<String>,
    /// The first name.
    #[member(Text(NAME_LENGTH), required, in_bodies_as(&NAME), to_create, updatable)]
    pub first_name: String,
    /// A language of the account; its default language where a new user names none.
    #[member(OneOf(locales), read = rules::language(&context.languages), default = context.default_language, creatable,
        updatable, shown_as(&Shape::Component("Language")), example("en_GB"))]
    #[serde(deserialize_with = "document::language")]
    pub language: Locale,
    /// The last name.
    #[member(Text(NAME_LENGTH), required, in_bodies_as(&NAME), to_create, updatable)]
    pub last_name: String,
    /// The mobile number (E.164), which reaches nobody else; empty for none.
    #[member(Text(rules::MOBILE_LENGTH), read = rules::mobile, never_null, creatable, updatable, followed_by(WHOLE_NAME, PASSWORD))]
    #[serde(deserialize_with = "document::mobile")]
    pub mobile: Option<String>,
    /// The roles, in place of those that the user has; a new user who is given none is an entrant.
    #[member(List(&Shape::Ref(Kind::Role), ROLES), in_bodies_as(&ROLES_OF_BODY), creatable, updatable,
        followed_by(SLUG))]
    #[serde(deserialize_with = "slots::references")]
    pub roles: Vec<Slug>,
    /// When the user was last changed.
    pub updated: Timestamp,
    /// Preferences, whatever they are.
    #[member(Component("AnyObject"), default = "{}".to_owned(), creatable, updatable, in_single_reads)]
    #[serde(skip)]
    pub preferences: String,
    /// What is shared elsewhere, whatever it is.
    #[member(Component("AnyObject"), default = "{}".to_owned(), creatable, updatable, in_single_reads)]
    #[serde(skip)]
    pub social_sharing: String,
    /// Answers to the fields about users.
    #[member(given(answers::Given, answers::given), creatable, updatable, in_single_reads,
        shown_as(&Shape::Component("FieldAnswers")))]
    #[serde(skip)]
    pub user_fields: Answers,
    /// The number by which the user is a member; empty for none.
    #[member(Text(NAME_LENGTH), creatable, updatable, in_single_reads)]
    #[serde(skip)]
    pub member_number: String,
    /// Whether the user is charged no taxes.
    #[member(creatable, updatable, in_single_reads)]
    #[serde(skip)]
    pub tax_exempt: bool,
    /// The person: a UUID that is the same in every account and wherever the user is imported. Empty only between the
    /// reading of a record that states none and its writing.
    #[member(Text(36), read = input::uuid, hidden)]
    pub global_id: String,
    /// The season that was active when the user was added, if there was one.
    #[member(Ref(Kind::Season), hidden)]
    pub season_joined: Option<Slug>,
}

/// A user with a time of confirmation is confirmed.
fn confirmed_by_time(members: &mut Members<'_>) -> Confirmation {
    let is_confirmed = members.get("confirmed_at").is_some_and(|time| !time.is_null());
    if is_confirmed { Confirmation::Confirmed } else { Confirmation::Invited }
}

/// What is stated twice agrees.
fn check_user(
    members: &mut Members<'_>,
    first_name: Option<&String>,
    last_name: Option<&String>,
    confirmation: Option<&Confirmation>,
    confirmed_at: Option<&Option<Timestamp>>,
) {
    let stated = members.optional("name", input::text(2 * NAME_LENGTH + 1));
    if let (Some(stated), Some(first_name), Some(last_name)) = (stated, first_name, last_name) {
        let computed = full_name(first_name, last_name);
        if stated != computed {
            members.fault("name", format!("must be the first and the last name: {computed}"));
        }
    }
    if confirmation == Some(&Confirmation::Invited) && confirmed_at.is_some_and(Option::is_some) {
        members.fault("confirmed_at", "must be null while the user is Invited");
    }
}

/// What stands where a text must of what was erased; the first name of who was.
pub const ERASED: &str = "Erased";
/// The last name of who was erased.
pub const PERSON: &str = "person";

impl User {
    /// Whether this is somebody who was erased.
    pub fn is_erased(&self) -> bool {
        (self.first_name.as_str(), self.last_name.as_str()) == (ERASED, PERSON)
            && self.email.is_none()
            && self.mobile.is_none()
    }

    /// The first and the last name.
    pub fn name(&self) -> String {
        full_name(&self.first_name, &self.last_name)
    }

    /// What reaches the person, as far as this account knows, each as it is compared.
    pub fn contacts(&self) -> Vec<String> {
        self.email.as_deref().map(normal_email).into_iter().chain(self.mobile.clone()).collect()
    }
}
