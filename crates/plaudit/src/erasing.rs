//! Erases a person from an account: what the person has said, and what tells who it was.
//!
//! - Records stay, so that results, totals and numbers of invoices stand; their words go. What shows a person shows "Erased
//!   person", who is in the trash and is reached by nothing.
//! - The entries of the person lose titles, answers and comments; their contributors, attachments and documents go to the trash
//!   without a word; their files become empty. The sheets that the person wrote keep their points and lose comments. Orders
//!   lose whom they are billed to, but for the country, on which taxes depend, and what the lines say beside a name.
//! - Of all of these the change log keeps the newest document alone. What was kept to be sent again is forgotten: bodies of
//!   deliveries, answers to idempotency keys, jobs that have ended.
//! - It is one transaction. The bytes of files follow by the sweep of uploads, which goes on until they are gone.
//! - What others wrote of a person in records of their own is not found, and stays.

use std::collections::BTreeSet;

use crate::deliveries;
use crate::http::idempotency;
use crate::jobs;
use crate::log::{self, Action, Origin};
use crate::program::fields::FieldType;
use crate::program::keys;
use crate::program::{Program, Record, RecordKey as _};
use crate::records::answers::Answers;
use crate::records::assignments::{Assignment, Comment};
use crate::records::documents::Document;
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::store::{Change, find_any_for_update, write as write_entry};
use crate::records::entries::{self, Cause};
use crate::records::orders::{self, Billing, Order};
use crate::records::people::{self, PeopleRecord};
use crate::records::review_tasks::{self, ReviewTask, reviewer_key};
use crate::records::users::store::{Stored, people as persons};
use crate::records::users::{self, ERASED, PERSON, User, normal_email};
use crate::records::{Refusal, files};
use db::{AccountId, DbError, Tx};
use kernel::json::{self, Json};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated};

/// What requests come through, as the log has it.
const API: &str = "api";

/// An erasure that is under way.
struct Erasure<'e> {
    tx: &'e mut Tx,
    account: AccountId,
    program: &'e Program,
    origin: &'e Origin,
    /// The records whose words are gone, by kind and slug or token.
    records: BTreeSet<(Kind, String)>,
    /// Records of others that are shown with a title of the person's.
    beside: BTreeSet<(Kind, String)>,
    files: BTreeSet<Token>,
}

/// Erases a user, in the trash or not; `person` is who the user is from then on, and is nobody yet. False where there is no such
/// user.
pub async fn erase(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    (user, person): (Slug, &str),
) -> Result<bool, Refusal> {
    let Some(found) = users::store::find_for_update(tx, account, user).await? else { return Ok(false) };
    let (records, beside, files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut erasure = Erasure { tx, account, program, origin, records, beside, files };
    for entry in entries::store::of_entrant(erasure.tx, account, user).await? {
        erasure.entry(entry).await?;
    }
    erasure.sheets(user).await?;
    erasure.orders(user).await?;
    erasure.documents(("recipient", user)).await?;
    erasure.reviews(&found.user).await?;
    erasure.keys(&found.user).await?;
    erasure.user(found, person).await?;
    erasure.earlier_files().await?;
    erasure.bytes().await?;
    erasure.traces(user).await?;
    Ok(true)
}

impl Erasure<'_> {
    /// Writes a record without its words, unless it has none.
    async fn put<T: PeopleRecord>(
        &mut self,
        before: &Record<T>,
        (mut after, is_trashed): (T, bool),
        updated: fn(&mut T) -> &mut Timestamp,
    ) -> Result<(), Refusal> {
        self.records.insert((T::KIND, after.key().as_str().to_owned()));
        let deleted = is_trashed || before.deleted;
        if after != before.value || deleted != before.deleted {
            *updated(&mut after) = self.origin.at;
            let action = if deleted { Action::Trashed } else { Action::Updated };
            people::change(self.tx, self.account, self.origin, action, after).await?;
        }
        Ok(())
    }

    /// The records of a kind that have a slug in a column, those in the trash included.
    async fn all<T: PeopleRecord>(&mut self, place: (&'static str, Slug)) -> Result<Vec<Record<T>>, DbError> {
        people::all_of(self.tx, self.account, place, &self.program.context).await
    }

    async fn entry(&mut self, slug: Slug) -> Result<(), Refusal> {
        for before in self.all::<Contributor>(("entry", slug)).await? {
            self.take_files(&before.value.fields);
            let after = Contributor { fields: Answers::default(), ..before.value.clone() };
            self.put(&before, (after, true), |record| &mut record.updated).await?;
        }
        for before in self.all::<Attachment>(("entry", slug)).await? {
            self.take_files(&before.value.attachment_fields);
            self.files.insert(before.value.token.clone());
            let after = Attachment { attachment_fields: Answers::default(), ..before.value.clone() };
            self.put(&before, (after, true), |record| &mut record.updated).await?;
        }
        self.documents(("entry", slug)).await?;
        let cause = Cause::Import;
        entries::refresh_detail(self.tx, self.account, self.program, self.origin, slug, cause).await?;
        let Some(before) = find_any_for_update(self.tx, self.account, slug).await? else { return Ok(()) };
        let mut after = before.entry()?;
        self.take_files(&after.entry_fields);
        after.entry_fields = Answers::default();
        ERASED.clone_into(&mut after.title);
        after.comments.clear();
        after.user_comments.clear();
        for sheet in self.all::<Assignment>(("entry", slug)).await? {
            self.beside.insert((Kind::Assignment, sheet.value.slug.as_str().to_owned()));
        }
        for task in self.all::<ReviewTask>(("entry", slug)).await? {
            self.beside.insert((Kind::ReviewTask, task.value.token.as_str().to_owned()));
        }
        // Its orders have its title in their lines.
        let orders = orders::store::naming(self.tx, self.account, slug).await?;
        self.records.extend(orders.into_iter().map(|order| (Kind::Order, order.to_string())));
        self.records.insert((Kind::Entry, slug.to_string()));
        let deleted = before.deleted;
        let change = Change { before: Some(&before), after, deleted, is_copy: false };
        write_entry(self.tx, self.account, self.program, self.origin, change).await.map(drop)
    }

    /// What the person wrote as a judge.
    async fn sheets(&mut self, judge: Slug) -> Result<(), Refusal> {
        for before in self.all::<Assignment>(("judge", judge)).await? {
            let mut after = before.value.clone();
            let single = [&mut after.comment, &mut after.abstention, &mut after.reopening].into_iter().flatten();
            let of_scores = after.scores.iter_mut().filter_map(|score| score.comment.as_mut());
            for comment in single.chain(of_scores).chain(&mut after.conflict) {
                silence(comment);
            }
            self.put(&before, (after, false), |record| &mut record.updated).await?;
        }
        Ok(())
    }

    /// What the person was asked, and said, as a reviewer.
    async fn reviews(&mut self, user: &User) -> Result<(), Refusal> {
        // A name alone may be somebody else's.
        let Some(email) = &user.email else { return Ok(()) };
        let own = reviewer_key(email);
        for before in review_tasks::store::of_reviewer(self.tx, self.account, &own, &self.program.context).await? {
            let mut after = before.value.clone();
            after.reviewer.retain(|reviewer| reviewer_key(&reviewer.email) != own);
            if after.reviewer.is_empty() && !after.comment.is_empty() {
                ERASED.clone_into(&mut after.comment);
            }
            self.put(&before, (after, false), |record| &mut record.updated).await?;
        }
        Ok(())
    }

    /// The keys of the person are good no more, and no other key notifies the person.
    async fn keys(&mut self, user: &User) -> Result<(), Refusal> {
        let own = user.email.as_deref().map(normal_email);
        let mut found = Vec::new();
        keys::store::each(self.tx, self.account, &self.program.context, |key, hash| found.push((key, hash))).await?;
        for (before, hash) in found {
            let mut after = before.clone();
            after.notify.retain(|address| Some(normal_email(address)) != own);
            if before.user == Some(user.slug) {
                (after.name, after.notify) = (ERASED.to_owned(), Vec::new());
                after.revoked.get_or_insert(self.origin.at);
            } else if after == before {
                continue;
            }
            self.records.insert((Kind::ApiKey, before.slug.to_string()));
            if after != before {
                keys::store::change(self.tx, self.account, self.origin, Action::Updated, (&after, &hash)).await?;
            }
        }
        Ok(())
    }

    async fn orders(&mut self, purchaser: Slug) -> Result<(), Refusal> {
        for (before, doc) in orders::store::of_purchaser_for_update(self.tx, self.account, purchaser).await? {
            let mut after: Order = before.value.clone();
            after.billing = Billing { country: after.billing.country, ..Billing::default() };
            after.note.clear();
            after.items.iter_mut().for_each(|item| item.description.clear());
            self.records.insert((Kind::Order, after.slug.to_string()));
            if after != before.value {
                after.updated = self.origin.at;
                let action = if after.deleted { Action::Trashed } else { Action::Updated };
                let change = (&after, doc.as_str());
                orders::store::change(self.tx, self.account, self.origin, (action, &[]), change).await?;
            }
        }
        Ok(())
    }

    async fn documents(&mut self, place: (&'static str, Slug)) -> Result<(), Refusal> {
        for before in self.all::<Document>(place).await? {
            self.files.insert(before.value.file.clone());
            let after = Document {
                name: Translated::of(self.program.account.default_language, ERASED),
                description: Translated::new(),
                filename: ERASED.to_owned(),
                ..before.value.clone()
            };
            self.put(&before, (after, true), |record| &mut record.updated).await?;
        }
        Ok(())
    }

    async fn user(&mut self, found: Stored, person: &str) -> Result<(), Refusal> {
        let Stored { user: before, deleted, .. } = found;
        self.take_files(&before.user_fields);
        self.records.insert((Kind::User, before.slug.to_string()));
        let mut after = User {
            first_name: ERASED.to_owned(),
            last_name: PERSON.to_owned(),
            email: None,
            mobile: None,
            comments: String::new(),
            preferences: "{}".to_owned(),
            social_sharing: "{}".to_owned(),
            user_fields: Answers::default(),
            member_number: String::new(),
            notification_emails: false,
            notification_sms: false,
            broadcast_emails: false,
            ..before.clone()
        };
        if after == before && deleted {
            return Ok(());
        }
        // The person may be in other accounts, which keep what they know; this one does not know who it was.
        persons::lock(self.tx, &before.global_id).await?;
        persons::add(self.tx, person, None).await?;
        person.clone_into(&mut after.global_id);
        after.updated = self.origin.at;
        users::writing::write(self.tx, self.account, self.origin, &after, Action::Trashed, &[]).await?;
        if let Some(email) = &before.email {
            let own = normal_email(email);
            jobs::store::forget_mails_to(self.tx, self.account, &|address| normal_email(address) == own).await?;
        }
        for contact in before.contacts() {
            persons::release_if_unknown(self.tx, &before.global_id, &contact).await?;
        }
        Ok(persons::forget_if_nowhere(self.tx, &before.global_id).await?)
    }

    /// Takes note of the files among answers.
    fn take_files(&mut self, answers: &Answers) {
        let files = answers.iter().filter_map(|(field, answer)| file_of(self.program, field, answer));
        self.files.extend(files);
    }

    /// Takes note of the files that these records had before, which only the log knows: of those that were uploaded to them. An import
    /// may have named a file of others.
    async fn earlier_files(&mut self) -> Result<(), Refusal> {
        let (program, files) = (self.program, &mut self.files);
        for (kind, name) in &self.records {
            let mut named = BTreeSet::new();
            let take = |source: &str, document: &str| {
                let document = json::parse_own(document).map_err(|error| DbError::Failed(error.to_string()))?;
                let mut found = BTreeSet::new();
                add_files(program, &Json::Object(document), &mut found);
                if source == API {
                    files.extend(found.difference(&named).cloned());
                }
                named.append(&mut found);
                Ok(())
            };
            log::each_of_record(self.tx, self.account, (*kind, name), take).await?;
        }
        Ok(())
    }

    /// Makes the files empty, in what is known of them here and in the storage soon.
    async fn bytes(&mut self) -> Result<(), Refusal> {
        for token in std::mem::take(&mut self.files) {
            let context = &self.program.context;
            if files::store::empty(self.tx, self.account, self.origin, (&token, ERASED), context).await? {
                self.records.insert((Kind::File, token.as_str().to_owned()));
            }
        }
        Ok(())
    }

    /// Forgets what was written down of these records on the way.
    async fn traces(&mut self, user: Slug) -> Result<(), Refusal> {
        users::store::links::forget_of(self.tx, self.account, user).await?;
        for (kind, name) in self.records.iter().chain(&self.beside) {
            deliveries::store::forget_bodies_of(self.tx, self.account, *kind, name).await?;
        }
        for (kind, name) in &self.records {
            log::erase_documents(self.tx, self.account, *kind, name).await?;
        }
        deliveries::store::count_bodies(self.tx, self.account).await?;
        idempotency::store::forget_bodies(self.tx, self.account).await?;
        Ok(jobs::store::forget_ended(self.tx, self.account).await?)
    }
}

/// The file that an answer to a field is.
fn file_of(program: &Program, field: Slug, answer: &Json<'_>) -> Option<Token> {
    let field = program.fields.any(field).filter(|field| field.kind == FieldType::File);
    field.and_then(|_| Token::parse(answer.as_str()?))
}

/// Adds the files among the answers in a document.
fn add_files(program: &Program, json: &Json<'_>, files: &mut BTreeSet<Token>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| add_files(program, item, files)),
        Json::Object(members) => {
            for (name, member) in members.iter() {
                match Slug::parse(name) {
                    Some(field) => files.extend(file_of(program, field, member)),
                    None => add_files(program, member, files),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Takes the words out of what the judge wrote; what somebody else wrote on the sheet stays.
fn silence(comment: &mut Comment) {
    if comment.user.is_some() && !comment.comment.is_empty() {
        ERASED.clone_into(&mut comment.comment);
    }
}
