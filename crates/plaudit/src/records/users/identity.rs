//! Who a user is: the one place where the interface meets people beyond its account.
//!
//! - An account learns whether an address or a number that it names reaches somebody, because the contract tells it so: a
//!   new user is somebody who was there already, or an update is refused. It does not learn in which accounts, nor a
//!   name, nor what else reaches that person.
//! - Whoever is added by the address is found by the address alone: a number beside it is passed over, whoever's it is.

use crate::records::Refusal;
use crate::records::users::store::people;
use crate::records::users::{PasswordHash, User};
use db::{AccountId, DbError, Tx};
use kernel::input::Violations;

/// How often a person is looked up again whom another account has added at the same time.
const MAX_ATTEMPTS: usize = 8;

/// What is told of an address or a number that reaches somebody else.
const TAKEN: &str = "is that of somebody else";

/// Who a new user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Somebody new, whose address and number were claimed.
    New,
    /// This person, who was there already. What reached the person is shown, and nothing else.
    Known {
        /// The person.
        person: String,
        /// Whether it was the address, and not the number.
        by_email: bool,
    },
}

/// Finds out who a new user is, and claims the address and the number of a new person. What is wrong with them is told
/// together with `violations`; where there are any, nothing is claimed.
pub(crate) async fn identify(
    tx: &mut Tx,
    account: AccountId,
    user: (&str, Option<&str>, Option<&str>),
    hash: Option<&PasswordHash>,
    mut violations: Violations,
) -> Result<Identity, Refusal> {
    let (person, email, mobile) = user;
    for _ in 0..MAX_ATTEMPTS {
        let found = find(tx, account, email, mobile, &mut violations).await?;
        if !violations.is_empty() {
            return Err(violations.into());
        }
        if let Some(known) = found {
            return Ok(known);
        }
        if claim(tx, person, email.into_iter().chain(mobile)).await? {
            people::add(tx, person, hash).await?;
            return Ok(Identity::New);
        }
    }
    Err(Refusal::Failed("a person was added and taken away again too often".to_owned()))
}

/// Claims all of these or none.
async fn claim(tx: &mut Tx, person: &str, contacts: impl Iterator<Item = &str> + Send) -> Result<bool, DbError> {
    let mut claimed: Vec<&str> = Vec::new();
    for contact in contacts {
        if !people::claim(tx, person, contact).await? {
            for contact in claimed {
                people::release(tx, contact).await?;
            }
            return Ok(false);
        }
        claimed.push(contact);
    }
    Ok(true)
}

async fn find(
    tx: &mut Tx,
    account: AccountId,
    email: Option<&str>,
    mobile: Option<&str>,
    violations: &mut Violations,
) -> Result<Option<Identity>, DbError> {
    for (member, contact) in [("email", email), ("mobile", mobile)] {
        let Some(contact) = contact else { continue };
        let Some(person) = people::holder(tx, contact).await? else { continue };
        let by_email = member == "email";
        if people::user_of(tx, account, &person).await?.is_some() {
            violations.add(member, "is that of a user of the account, who may be in the trash");
        } else if !by_email && email.is_some() {
            violations.add(member, TAKEN);
        } else {
            return Ok(Some(Identity::Known { person, by_email }));
        }
    }
    Ok(None)
}

/// What an update does to the person that a user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// What the person is reached by then that it was not before.
    gained: Vec<String>,
    /// Whether other accounts have a say in it.
    is_shared: bool,
}

/// Looks at what an update does to the person that a user is; `None` where it does nothing. An address or number that
/// reaches somebody else is a violation.
pub(crate) async fn look(
    tx: &mut Tx,
    account: AccountId,
    (before, after): (&User, &User),
    has_password: bool,
    violations: &mut Violations,
) -> Result<Option<Change>, DbError> {
    let (held, wanted) = (before.contacts(), after.contacts());
    if held == wanted && !has_password {
        return Ok(None);
    }
    let person = &before.global_id;
    people::lock(tx, person).await?;
    let is_shared = people::is_elsewhere(tx, account, person).await?;
    let mut gained = Vec::new();
    for contact in wanted.into_iter().filter(|contact| !held.contains(contact)) {
        match people::holder(tx, &contact).await? {
            // What the person has and this account did not know is as good as anybody's who is elsewhere.
            Some(holder) if holder == *person && !is_shared => {}
            Some(_) => violations.add(member_of(&contact), TAKEN),
            None => gained.push(contact),
        }
    }
    Ok(Some(Change { gained, is_shared }))
}

fn member_of(contact: &str) -> &'static str {
    if contact.contains('@') { "email" } else { "mobile" }
}

impl Change {
    /// Refuses a change in which other accounts have a say.
    pub(crate) fn permit(&self) -> Result<(), Refusal> {
        if self.is_shared {
            return Err(Refusal::State(
                "The e-mail address, the mobile number and the password are the person's own, who is not in this \
                 account alone."
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Makes the change.
pub(crate) async fn make(
    tx: &mut Tx,
    change: &Change,
    after: &User,
    hash: Option<&PasswordHash>,
) -> Result<(), Refusal> {
    let person = &after.global_id;
    for contact in &change.gained {
        if !people::claim(tx, person, contact).await? {
            // Another account was quicker.
            let mut violations = Violations::default();
            violations.add(member_of(contact), TAKEN);
            return Err(violations.into());
        }
    }
    people::release_others(tx, person, &after.contacts()).await?;
    if let Some(hash) = hash {
        people::set_password(tx, person, hash).await?;
    }
    Ok(())
}
