//! Export of the set-up alone: as JSON Lines exactly what there is, as YAML something to go on from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use super::Error;
use super::export::{account_of, next_forms, write_line};
use super::schema::members;
use super::setup::{Rows, rows_of};
use super::yaml::write;
use crate::program::accounts::Account;
use crate::program::{Context, SetupRecord, for_setup_kind, references, store as program_store};
use crate::records::StoredRow;
use db::{Db, DbError};
use kernel::input::Members;
use kernel::json::parse_own;
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Members that follow from when a record was made and changed, which a file to go on from leaves out.
const TIMES: &[&str] = &["created", "created_at", "updated", "updated_at"];

/// Records as a file says them, each with its owner where it may be nested in one.
type Records = BTreeMap<(Kind, Slug), (JsonObject<'static>, Option<(Kind, Slug)>)>;

/// Writes the account and its set-up as JSON Lines, what is in the trash included.
pub async fn export_setup(db: &Db, account: Slug, out: &mut (dyn Write + Send)) -> Result<(), Error> {
    let mut tx = db.snapshot().await?;
    let (id, record) = account_of(&mut tx, account).await?;
    write_line(out, Kind::Account, &program_store::stored(&record))?;
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_setup()) {
        let mut last = String::new();
        while let Some(forms) = next_forms(&mut tx, id, kind, &mut last).await? {
            forms.iter().try_for_each(|(_, form)| write_line(out, kind, form))?;
        }
    }
    Ok(out.flush()?)
}

/// Writes the account and its set-up as YAML: without times, without people, without what is as it would be anyway, and
/// of the trash only what the rest refers to.
pub async fn export_yaml(db: &Db, account: Slug, out: &mut (dyn Write + Send)) -> Result<(), Error> {
    let mut tx = db.snapshot().await?;
    let (id, record) = account_of(&mut tx, account).await?;
    let rows = rows_of(&mut tx, id).await?;
    let context = record.context(Timestamp::from_microseconds(0));
    let mut root = JsonObject::new();
    let whole = program_store::stored(&record);
    root.set("account", Json::Object(slim::<Account>(&whole, &context)?));
    let mut found = Records::new();
    for key in wanted(&rows)? {
        found.insert(key, record_of(key, &rows, &context)?);
    }
    let keys: Vec<(Kind, Slug)> = found.keys().copied().collect();
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_setup()) {
        let mut records = Vec::new();
        for key in keys.iter().filter(|(other, _)| *other == kind) {
            let has_owner = |(_, owner): &(JsonObject, Option<_>)| owner.is_some_and(|owner| keys.contains(&owner));
            if !found.get(key).is_none_or(has_owner) {
                records.extend(with_owned(*key, &mut found).map(Json::Object));
            }
        }
        if !records.is_empty() {
            root.set(kind.plural(), Json::Array(records));
        }
    }
    let mut text = String::new();
    write::mapping(&root, 0, &mut text);
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// The records that are not in the trash, and what they refer to.
fn wanted(rows: &Rows) -> Result<BTreeSet<(Kind, Slug)>, Error> {
    let mut wanted: BTreeSet<(Kind, Slug)> = rows.iter().filter(|(_, row)| !row.deleted).map(|(key, _)| *key).collect();
    let mut next: Vec<(Kind, Slug)> = wanted.iter().copied().collect();
    while let Some(key) = next.pop() {
        let Some(row) = rows.get(&key) else { continue };
        let object = parse_own(&row.doc).map_err(|error| broken(key, &error.to_string()))?;
        for (_, kind, slug) in references(members(key.0), &object) {
            if rows.contains_key(&(kind, slug)) && wanted.insert((kind, slug)) {
                next.push((kind, slug));
            }
        }
    }
    Ok(wanted)
}

fn broken((kind, slug): (Kind, Slug), message: &str) -> Error {
    DbError::Failed(format!("the {kind} {slug} cannot be read: {message}")).into()
}

/// A record as a file says it, and its owner where it may be nested in one.
fn record_of(
    (kind, slug): (Kind, Slug),
    rows: &Rows,
    context: &Context,
) -> Result<(JsonObject<'static>, Option<(Kind, Slug)>), Error> {
    let missing = || broken((kind, slug), "it is not there");
    let StoredRow { doc, deleted, .. } = rows.get(&(kind, slug)).ok_or_else(missing)?;
    let mut object = for_setup_kind!(kind, T => slim::<T>(doc, context)).ok_or_else(missing)??;
    if *deleted {
        object.set("deleted", Json::Bool(true));
    }
    let owner = kind.owner().and_then(|owner| Some((owner, Slug::parse(object.get(owner.name())?.as_str()?)?)));
    Ok((object, owner))
}

/// Takes a record out, with what it owns nested in it, in its order.
fn with_owned((kind, slug): (Kind, Slug), records: &mut Records) -> Option<JsonObject<'static>> {
    let (mut object, _) = records.remove(&(kind, slug))?;
    for owned in kind.owned() {
        let mut keys: Vec<(i64, (Kind, Slug))> = records
            .iter()
            .filter(|(key, (_, owner))| key.0 == owned && *owner == Some((kind, slug)))
            .map(|(key, (record, _))| (record.get("order").and_then(Json::as_i64).unwrap_or(0), *key))
            .collect();
        keys.sort_unstable();
        let mut nested = Vec::new();
        for mut record in keys.into_iter().filter_map(|(_, key)| with_owned(key, records)) {
            record.remove(kind.name());
            for name in kind.owners().map(Kind::name) {
                // What it does not share it says, because it would be filled in otherwise.
                if record.remove(name).is_none() {
                    record.set(name, Json::Null);
                }
            }
            nested.push(Json::Object(record));
        }
        if !nested.is_empty() {
            object.set(owned.plural(), Json::Array(nested));
        }
    }
    Some(object)
}

/// A record without its times, and without every member without which it is read as the same.
fn slim<T: SetupRecord>(doc: &str, context: &Context) -> Result<JsonObject<'static>, Error> {
    let broken =
        |message: String| Error::from(DbError::Failed(format!("a stored {} cannot be read: {message}", T::KIND)));
    let mut object = parse_own(doc).map_err(|error| broken(error.to_string()))?;
    let slug = object.remove("slug").as_ref().and_then(Json::as_str).and_then(Slug::parse);
    let slug = slug.ok_or_else(|| broken("it has no slug".to_owned()))?;
    let read = |object: &JsonObject| {
        let mut members = Members::closed(object);
        let value = T::read(&mut members, slug, context);
        members.finish().or(value).ok().map(|value| program_store::stored(&value))
    };
    for name in TIMES {
        object.remove(name);
    }
    // Who manages and judges stays where it is applied here, and may not be there elsewhere.
    let of_people = references(T::MEMBERS, &object);
    let of_people = of_people.iter().filter(|(_, kind, _)| *kind == Kind::User);
    let names: BTreeSet<String> =
        of_people.filter_map(|(path, ..)| path.split('.').next().map(str::to_owned)).collect();
    for member in T::MEMBERS.iter().filter(|member| member.is_kept && names.contains(member.name)) {
        let mut without = object.clone();
        without.remove(member.name);
        if read(&without).is_some() {
            object = without;
        }
    }
    let whole = read(&object);
    let names: Vec<String> = object.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let mut without = object.clone();
        without.remove(&name);
        if read(&without) == whole {
            object = without;
        }
    }
    let mut slimmed = JsonObject::new();
    slimmed.set("slug", Json::String(slug.to_string().into()));
    for (name, value) in object.into_owned().into_members() {
        slimmed.set(name, value);
    }
    Ok(slimmed)
}
