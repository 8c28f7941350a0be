//! The users of a file.

use super::Error;
use super::import::{Import, Item};
use super::store::{Found, Space, Unique};
use crate::kind::Kind;
use crate::program::{Context, Program, Record, SetupRecord as _, store};
use crate::text::Slug;
use crate::users::{self, Summary, User, normal_email};

impl Import<'_> {
    /// Checks and writes the users, and notes the entries that show a user who was renamed.
    pub(super) async fn users(&mut self, program: &Program) -> Result<(), Error> {
        let (mut merged, table) = self.begin(Kind::User).await?;
        let mut done = 0;
        loop {
            let batch = self.batch(&mut merged, table).await?;
            if batch.is_empty() {
                return Ok(());
            }
            done += batch.len() as u64;
            for item in batch {
                self.user(program, item, table.is_some()).await?;
            }
            let of = self.reading.counts.get(&Kind::User).copied();
            self.faults.progress("users", done, of);
        }
    }

    async fn user(&mut self, program: &Program, mut item: Item, may_exist: bool) -> Result<(), Error> {
        let is_stored = |user: &User, found: &Found| store::stored(user) == found.doc;
        let read = item.read_current::<User>(&program.context, is_stored, &mut self.faults);
        let Some((user, is_same)) = read else { return Ok(()) };
        let place = &item.place;
        self.check_references(place, program, user.references()).await?;
        self.check_answers(place, program, "user_fields", &user.user_fields)?;
        if let Some(email) = &user.email {
            let holder = if may_exist { users::store::of_email(&mut self.tx, self.id, email).await? } else { None };
            let email = normal_email(email);
            self.check_unique(place, (Space::Email, Unique::Email), ("email", &email), holder).await?;
        }
        if let Some(mobile) = &user.mobile {
            let holder = if may_exist { users::store::of_mobile(&mut self.tx, self.id, mobile).await? } else { None };
            self.check_unique(place, (Space::Mobile, Unique::Mobile), ("mobile", mobile), holder).await?;
        }
        if is_same || !self.faults.is_empty() {
            return Ok(());
        }
        let summary = user.summary();
        if let Some(found) = &item.found {
            self.note_renamed(&program.context, found, &summary).await?;
        }
        self.summaries.remove(&user.slug);
        let revision = self.log(Kind::User, user.slug.as_str(), store::stored(&user)).await?;
        let record = Record { value: user, revision, deleted: item.deleted };
        users::store::put(&mut self.tx, self.id, &record).await?;
        Ok(())
    }

    /// A user's name stands in the documents of the user's entries and orders.
    async fn note_renamed(&mut self, context: &Context, found: &Found, summary: &Summary) -> Result<(), Error> {
        let before: User = store::parse(&found.doc, context)?;
        if before.summary() == *summary {
            return Ok(());
        }
        let user: Slug = summary.slug;
        self.reading.names.note(Space::Renamed, user.as_str())?;
        for entry in crate::entries::store::of_entrant(&mut self.tx, self.id, user).await? {
            self.reading.names.note(Space::Touched, entry.as_str())?;
        }
        Ok(())
    }
}
