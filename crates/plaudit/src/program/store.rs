//! The table of set-up records, of every kind.

use super::{Context, Record, RecordKey as _, SetupRecord, StoredRecord};
use crate::log::{self, Action, Change, Origin};
use db::{AccountId, DbError, Tx};
use kernel::document;
use kernel::input::{self, Members, Violations};
use kernel::json::parse_own;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The stored form of a record that is not in the trash: its program-file form without the kind.
pub fn stored<T: StoredRecord>(value: &T) -> String {
    stored_as(value, false)
}

/// The stored form of a record, which says so where it is in the trash.
pub fn stored_as<T: StoredRecord>(value: &T, deleted: bool) -> String {
    document::object(|object| {
        object.text(T::Key::MEMBER, value.key().as_str());
        value.write(object);
        if deleted {
            object.flag("deleted", true);
        }
    })
}

/// Reads the stored form.
pub fn parse<T: StoredRecord>(doc: &str, context: &Context) -> Result<T, DbError> {
    read::<T>(doc, context)?.map_err(|(key, violations)| broken::<T>(&format!("{}: {violations:?}", key.as_str())))
}

/// What of the stored form is not as it must be in this context; nothing where it can be read.
pub fn violations<T: StoredRecord>(doc: &str, context: &Context) -> Result<Violations, DbError> {
    Ok(read::<T>(doc, context)?.err().map(|(_, violations)| violations).unwrap_or_default())
}

fn broken<T: StoredRecord>(what: &str) -> DbError {
    DbError::Failed(format!("a stored {} cannot be read: {what}", T::KIND))
}

fn read<T: StoredRecord>(doc: &str, context: &Context) -> Result<Result<T, (T::Key, Violations)>, DbError> {
    let object = parse_own(doc).map_err(|error| broken::<T>(&error.to_string()))?;
    let mut members = Members::closed(&object);
    let key = members.required(T::Key::MEMBER, T::Key::READ).ok_or_else(|| broken::<T>("nothing identifies it"))?;
    members.optional("deleted", input::flag);
    let value = T::read(&mut members, key.clone(), context);
    Ok(members.finish().or(value).map_err(|violations| (key, violations)))
}

/// The set-up records of the account that were changed after the change of this number, with the name of their kind and
/// their slug, in their stored form: after 0 all of them, mostly in the order in which they lie.
pub async fn each_since(
    tx: &mut Tx,
    account: AccountId,
    sequence: i64,
    mut each: impl FnMut(&str, Slug, Record<&str>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(
        "SELECT kind, slug, deleted, revision, doc FROM setup_records WHERE account = $1 AND revision > $2",
        &[account.into(), sequence.into()],
        |row| {
            let record = Record { value: row.text(4)?, revision: row.integer(3)?, deleted: row.flag(2)? };
            each(row.text(0)?, row.slug(1)?, record)
        },
    )
    .await
}

/// The records of a kind that are not in the trash, by slug.
pub async fn live<T: SetupRecord>(tx: &mut Tx, account: AccountId, context: &Context) -> Result<Vec<T>, DbError> {
    let sql = "SELECT doc FROM setup_records WHERE account = $1 AND kind = $2 AND deleted = 0 ORDER BY slug";
    let mut records = Vec::new();
    tx.each(sql, &[account.into(), T::KIND.name().into()], |row| {
        records.push(parse(row.text(0)?, context)?);
        Ok(())
    })
    .await?;
    Ok(records)
}

/// A record that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update<T: SetupRecord>(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<Record<T>>, DbError> {
    let sql = "SELECT revision, doc FROM setup_records WHERE account = $1 AND kind = $2 AND slug = $3 AND deleted = 0";
    tx.first_for_update(sql, &[account.into(), T::KIND.name().into(), slug.into()], |row| {
        Ok(Record { value: parse(row.text(1)?, context)?, revision: row.integer(0)?, deleted: false })
    })
    .await
}

/// A record, even one that is in the trash, locked until the end of the transaction.
pub async fn find_any_for_update<T: SetupRecord>(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<Record<T>>, DbError> {
    tx.first_for_update(
        "SELECT deleted, revision, doc FROM setup_records WHERE account = $1 AND kind = $2 AND slug = $3",
        &[account.into(), T::KIND.name().into(), slug.into()],
        |row| Ok(Record { value: parse(row.text(2)?, context)?, revision: row.integer(1)?, deleted: row.flag(0)? }),
    )
    .await
}

/// Adds or replaces a record whose change is logged.
pub async fn save<T: SetupRecord>(tx: &mut Tx, account: AccountId, record: &Record<T>) -> Result<(), DbError> {
    let doc = stored_as(&record.value, record.deleted);
    let stored = Record { value: &*doc, revision: record.revision, deleted: record.deleted };
    put(tx, account, (T::KIND, record.value.slug()), &stored).await
}

/// Adds or replaces a record, whose change is logged, by its kind and slug and in its stored form.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    (kind, slug): (Kind, Slug),
    record: &Record<&str>,
) -> Result<(), DbError> {
    let row = vec![
        ("account", account.into()),
        ("kind", kind.name().into()),
        ("slug", slug.into()),
        ("deleted", record.deleted.into()),
        ("revision", record.revision.into()),
        ("doc_form", log::FORM.into()),
        ("doc", record.value.to_owned().into()),
    ];
    tx.put("setup_records", 3, row).await
}

/// Logs and saves a record that a request has made, changed or put into the trash; gives its revision.
pub async fn change<T: SetupRecord>(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    action: Action,
    value: T,
) -> Result<i64, DbError> {
    let deleted = action == Action::Trashed;
    let (slug, document) = (value.slug(), stored_as(&value, deleted));
    let change = Change { kind: T::KIND, slug: slug.as_str(), action, events: &[], document };
    let revision = log::append(tx, account, origin, change).await?;
    save(tx, account, &Record { value, revision, deleted }).await?;
    Ok(revision)
}
