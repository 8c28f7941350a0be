//! The users of a file, and the people that they are.
//!
//! - A user who states no `global_id` keeps the person that is stored; a new one is the person whom the e-mail address or
//!   the mobile number reaches already, where that is a person of other accounts, and else one of its own.
//! - What reaches a person of other accounts is not changed by a file of this one.

use std::collections::btree_map::Entry;

use super::Error;
use super::fault::SourceLocation;
use super::import::{Import, Item};
use super::store::Space;
use crate::program::fields::Resource;
use crate::program::{Program, Record, RecordMembers as _};
use crate::records::StoredRow;
use crate::records::users::password::password_hash;
use crate::records::users::store::people::{self, Known, Standing};
use crate::records::users::{self, PasswordHash, User, normal_email};
use db::DbError;
use kernel::ids::derived_person;
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::Slug;

/// What the stage of users knows.
struct Stage<'p> {
    program: &'p Program,
    account: Slug,
    known: Known,
}

impl Import<'_> {
    /// Checks and writes the users.
    pub(super) async fn users(&mut self, program: &Program) -> Result<(), Error> {
        let mut queue = self.begin(Kind::User).await?;
        let mut stage = Stage { program, account: program.account.slug, known: Known::default() };
        while let Some(batch) = self.batch(&mut queue).await? {
            let (contacts, people) = named(&batch);
            stage.known = people::known(&mut self.tx, self.id, &contacts, &people).await?;
            for item in batch {
                self.user(&mut stage, item).await?;
            }
        }
        Ok(())
    }

    async fn user(&mut self, stage: &mut Stage<'_>, mut item: Item) -> Result<(), Error> {
        let before = item.found.as_ref().map(stored).transpose()?;
        let is_shared =
            |user: &User| stage.known.people.get(&user.global_id).is_some_and(|standing| standing.elsewhere);
        let is_own = before.as_ref().is_none_or(|(user, _)| !is_shared(user));
        let password = self.password(&mut item).filter(|_| is_own);
        complete(&mut item.object, before.as_ref().map(|(user, _)| user), stage.program);
        let is_stored = |user: &User, _: &StoredRow| {
            before.as_ref().is_some_and(|(before, hash)| before == user && (password.is_none() || password == *hash))
        };
        let read = item.read_record::<User>(&stage.program.context, is_stored, &mut self.faults);
        let Some((mut user, is_same)) = read else {
            return self.check_unread(&item, User::MEMBERS, stage.program).await;
        };
        let location = &item.location;
        self.check_references(location, stage.program, user.references()).await?;
        self.check_answers(location, stage.program, ("user_fields", Resource::Users), &user.user_fields)?;
        if user.global_id.is_empty() {
            user.global_id = stage.person_of(&user);
        }
        self.check_person(stage, location, &user).await?;
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        let before = before.map(|(user, _)| user);
        self.write_person(stage, &user, password.as_ref()).await?;
        let slug = user.slug;
        let document = kernel::document::whole(&users::shown(&user, item.deleted), &users::detail(&user));
        let revision = self.log(Kind::User, slug.as_str(), document).await?;
        let person = user.global_id.clone();
        let record = Record { value: user, revision, deleted: item.deleted };
        users::store::put(&mut self.tx, self.id, &record).await?;
        if let Some(before) = before.filter(|before| before.global_id != person) {
            people::forget_if_nowhere(&mut self.tx, &before.global_id).await?;
        }
        Ok(())
    }

    /// The hash of a password, which is no member of the user.
    fn password(&mut self, item: &mut Item) -> Option<PasswordHash> {
        match password_hash(&item.object.remove("password")?) {
            Ok(hash) => Some(hash),
            Err(message) => {
                self.faults.member(&item.location, "password", message);
                None
            }
        }
    }

    /// Tells where a user is somebody else, or has what reaches somebody else. What reaches a user who is in the file as
    /// well and will be replaced is taken away from that one.
    async fn check_person(
        &mut self,
        stage: &mut Stage<'_>,
        location: &SourceLocation,
        user: &User,
    ) -> Result<(), Error> {
        let person = user.global_id.clone();
        if let Some(first) = self.reading.names.claim(Space::Person, &person, location.line)? {
            self.faults.member(location, "global_id", format!("is that of line {first} too"));
        }
        let standing = stage.known.people.get(&person).cloned().unwrap_or_default();
        if let Some(other) = standing.here.filter(|other| *other != user.slug) {
            if !self.reading.names.has(Kind::User, other.as_str())? {
                self.faults.member(location, "global_id", format!("is that of the user {other}"));
            } else if self.faults.is_empty() {
                people::withdraw(&mut self.tx, self.id, other).await?;
            }
        }
        let email = user.email.as_deref().map(|email| (Space::Email, "email", normal_email(email)));
        let mobile = user.mobile.clone().map(|mobile| (Space::Mobile, "mobile", mobile));
        for (space, member, contact) in email.into_iter().chain(mobile) {
            if let Some(first) = self.reading.names.claim(space, &contact, location.line)? {
                self.faults.member(location, member, format!("is that of line {first} too"));
            }
            match stage.known.holders.get(&contact) {
                Some(holder) if *holder == person => {}
                Some(holder) => {
                    let holder = stage.known.people.get(holder).cloned().unwrap_or_default();
                    self.check_holder(stage, location, (member, &contact), &holder).await?;
                }
                None if standing.elsewhere => {
                    self.faults.member(location, member, "is not what reaches the person in the other accounts");
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Checks a contact that reaches another person by now.
    async fn check_holder(
        &mut self,
        stage: &mut Stage<'_>,
        location: &SourceLocation,
        (member, contact): (&str, &str),
        holder: &Standing,
    ) -> Result<(), Error> {
        let is_in_file = match holder.here {
            Some(here) => here.as_str() == location.name || self.reading.names.has(Kind::User, here.as_str())?,
            None => false,
        };
        if holder.elsewhere || (holder.here.is_some() && !is_in_file) {
            match holder.here {
                Some(here) if here.as_str() != location.name => {
                    self.faults.member(location, member, format!("is that of the user {here}"));
                }
                Some(_) => self.faults.member(location, member, "reaches the person in other accounts, too"),
                None => self.faults.member(location, member, "is that of somebody else, in another account"),
            }
        } else if self.faults.is_empty() {
            people::release(&mut self.tx, contact).await?;
            stage.known.holders.remove(contact);
        }
        Ok(())
    }

    /// Writes what belongs to the person that a user is, unless other accounts have a say in it.
    async fn write_person(
        &mut self,
        stage: &mut Stage<'_>,
        user: &User,
        password: Option<&PasswordHash>,
    ) -> Result<(), Error> {
        let (person, contacts) = (&user.global_id, user.contacts());
        let Stage { known, .. } = stage;
        match known.people.get(person) {
            None => people::add(&mut self.tx, person, password).await?,
            Some(standing) if standing.elsewhere => {}
            Some(_) => {
                people::release_others(&mut self.tx, person, &contacts).await?;
                known.holders.retain(|contact, holder| holder != person || contacts.contains(contact));
                if let Some(password) = password {
                    people::set_password(&mut self.tx, person, password).await?;
                }
            }
        }
        for contact in contacts {
            if let Entry::Vacant(free) = known.holders.entry(contact) {
                people::claim_free(&mut self.tx, person, free.key()).await?;
                free.insert(person.clone());
            }
        }
        known.people.entry(person.clone()).or_default().here = Some(user.slug);
        Ok(())
    }
}

impl Stage<'_> {
    /// The person that a user is who states none: somebody of other accounts alone, or a person of its own.
    fn person_of(&self, user: &User) -> String {
        let reached = user.contacts();
        let holder = reached.iter().find_map(|contact| self.known.holders.get(contact));
        let is_free = |holder: &&String| self.known.people.get(*holder).is_some_and(|standing| standing.here.is_none());
        holder.filter(is_free).cloned().unwrap_or_else(|| derived_person(self.account, user.slug))
    }
}

/// The user of a row, and the hash of the password.
fn stored(found: &StoredRow) -> Result<(User, Option<PasswordHash>), DbError> {
    Ok((users::store::of_row(found)?, PasswordHash::parse(&found.password)))
}

/// Fills in what a user may leave out: what is stored, or for a new one the season that is active now.
fn complete(object: &mut JsonObject<'static>, before: Option<&User>, program: &Program) {
    if object.get("season_joined").is_none() {
        let season = match before {
            Some(before) => before.season_joined,
            None => program.active_season().map(|season| season.slug),
        };
        object.set("season_joined", season.map_or(Json::Null, |season| Json::String(season.to_string().into())));
    }
    if let (None, Some(before)) = (object.get("global_id"), before) {
        object.set("global_id", Json::String(before.global_id.clone().into()));
    }
}

/// What reaches the people of a batch, and the people whom it names or has.
fn named(batch: &[Item]) -> (Vec<String>, Vec<String>) {
    let (mut contacts, mut people) = (Vec::new(), Vec::new());
    for item in batch {
        let text = |name: &str| item.object.get(name).and_then(Json::as_str);
        contacts.extend(text("email").map(normal_email));
        contacts.extend(text("mobile").map(str::to_owned));
        people.extend(text("global_id").map(str::to_lowercase));
        people
            .extend(item.found.as_ref().and_then(|found| users::store::of_row(found).ok()).map(|user| user.global_id));
    }
    contacts.sort_unstable();
    contacts.dedup();
    (contacts, people)
}
