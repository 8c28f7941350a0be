//! The course of an apply: the set-up becomes what a file says, and no other record is touched.
//!
//! - The file has the set-up alone: records that people make are a fault.
//! - What the file does not name goes to the trash, unless it is kept, but webhooks that no file has made; what it names
//!   again comes back.
//! - A record without a slug is the one that is known by the same members ([`crate::program::Member::identifies`]), or
//!   a new one, whose slug is made from them: it is the same in every run and wherever the file is applied.
//! - What a record leaves out has its default, but times, and what is changed by commands or people as well
//!   ([`crate::program::Member::is_kept`]): that stays.
//! - A dry run reads and checks in the same way, from a snapshot, and writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::account::AccountOfFile;
use super::fault::{Faults, Report};
use super::import::Import;
use super::plan::{self, Step};
use super::reading::{Held, RecordReader};
use super::schema::members;
use super::setup::{Changes, Rows};
use super::{Deployment, Error, Source};
use crate::program::webhooks::{MadeBy, Webhook};
use crate::program::{Context, store as program_store};
use kernel::document;
use kernel::ids::derived_slug;
use kernel::json::{Json, Object as JsonObject, parse_object};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug};

/// How an apply is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyMode {
    /// Whether what the file does not name is left alone.
    pub keep: bool,
    /// Whether nothing is to be changed.
    pub dry_run: bool,
}

/// What came of an apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The account that the file is about, where that could be told.
    pub account: Option<Slug>,
    /// What was done, or would be in a run that is not dry, by kind and slug.
    pub steps: Vec<Step>,
    /// How many faults were told. With any, nothing was applied.
    pub faults: u64,
}

/// Makes the set-up of an account be what a file says. `account` is the account that it is about where it has no record
/// of it.
pub async fn apply<R: BufRead + Send>(
    deployment: Deployment<'_>,
    mut source: Source<'_, R>,
    account: Option<Slug>,
    mode: ApplyMode,
    report: &mut dyn Report,
) -> Result<Applied, Error> {
    let mut faults = Faults::new(source.name, report);
    let mut reading = RecordReader::new()?;
    reading.is_applied = true;
    reading.read(source.name, &mut source.reader, &mut faults)?;
    if reading.is_empty() && faults.is_empty() {
        faults.file("has no records");
    }
    let tx = if mode.dry_run { deployment.db.snapshot().await? } else { deployment.db.begin().await? };
    let mut import = Import::new(deployment, source.files, (reading, faults), tx);
    import.apply = Some(mode);
    let Some(planned) = import.plan(account).await? else {
        return Ok(Applied { account: None, steps: Vec::new(), faults: import.faults.count() });
    };
    let steps = planned.steps()?;
    let applied = Applied { account: Some(planned.found.account.slug), steps, faults: import.faults.count() };
    if applied.faults == 0 && !applied.steps.is_empty() && !mode.dry_run {
        import.write_account(&planned.found).await?;
        import.write_setup(&planned.changes).await?;
        (deployment.follow)(&mut import.tx, import.id).await?;
        import.tx.commit().await?;
    }
    Ok(applied)
}

/// What an apply is going to do.
struct Planned {
    found: AccountOfFile,
    changes: Changes,
    /// The records that the file has without a slug and that are new.
    given: BTreeSet<(Kind, Slug)>,
}

impl Planned {
    fn steps(&self) -> Result<Vec<Step>, Error> {
        let language = self.found.account.default_language;
        let account = &self.found.account;
        let before = self.found.stored.as_ref().map(program_store::stored);
        let after = program_store::stored(account);
        let mut steps = Vec::new();
        if before.as_ref() != Some(&after) {
            let before = before.as_deref().map(|doc| (doc, false));
            steps.push(Step::new((Kind::Account, account.slug), before, (&after, false), language)?);
        }
        for ((kind, slug), row) in &self.changes.changed {
            let before = self.changes.stored.get(&(*kind, *slug)).map(|row| (row.doc.as_str(), row.deleted));
            let mut step = Step::new((*kind, *slug), before, (&row.doc, row.deleted), language)?;
            step.is_given = self.given.contains(&(*kind, *slug));
            steps.push(step);
        }
        plan::sort(&mut steps);
        Ok(steps)
    }
}

impl Import<'_> {
    /// Finds out what is to be done. `None` where the file is about no account.
    async fn plan(&mut self, account: Option<Slug>) -> Result<Option<Planned>, Error> {
        let Some(found) = self.account(account).await? else { return Ok(None) };
        let stored = self.stored_setup().await?;
        let given = self.name_by_what_they_are(found.account.default_language, &stored)?;
        let (program, changes) = self.setup(&found, stored).await?;
        self.owner(&found).await?;
        self.check_every_manager(&program, &changes).await?;
        self.check_counts().await?;
        Ok(Some(Planned { found, changes, given }))
    }

    /// Gives every record without a slug that of the stored record which is the same by what identifies it, or a new
    /// one; gives the new ones.
    fn name_by_what_they_are(&mut self, language: Locale, stored: &Rows) -> Result<BTreeSet<(Kind, Slug)>, Error> {
        let mut known = Known { language, stored, by_identity: BTreeMap::new(), lines: BTreeMap::new() };
        let mut given = BTreeSet::new();
        loop {
            let nameless = std::mem::take(&mut self.reading.nameless_setup);
            if nameless.is_empty() {
                return Ok(given);
            }
            for Held { location, mut object } in nameless {
                let identity = identity(location.kind, &object, language);
                let first = *known.lines.entry((location.kind, identity.clone())).or_insert(location.line);
                let taken = if first == location.line {
                    self.same(&mut known, location.kind, &identity)?
                } else {
                    Err(format!("is needed: without one it is not told from the record of line {first}"))
                };
                let slug = match taken {
                    Ok(Some(slug)) => slug,
                    Ok(None) => {
                        let slug = self.new_slug(&known, location.kind, &identity)?;
                        given.insert((location.kind, slug));
                        slug
                    }
                    Err(message) => {
                        self.faults.member(&location, "slug", message);
                        // It goes on under some name, so that everything else is told of it.
                        self.deployment.ids.slug()
                    }
                };
                object.set("slug", Json::String(slug.to_string().into()));
                self.reading.record(location, object, None, &mut self.faults)?;
            }
        }
    }

    /// The stored record that is the same by what identifies it: one that is not in the trash before one that is.
    fn same(
        &mut self,
        known: &mut Known<'_>,
        kind: Kind,
        identity: &str,
    ) -> Result<Result<Option<Slug>, String>, Error> {
        let mut candidates = Vec::new();
        for (slug, deleted) in known.of(kind, identity) {
            // A record that the file has with its slug is not this one.
            if !self.reading.names.has(kind, slug.as_str())? {
                candidates.push((slug, deleted));
            }
        }
        if candidates.iter().any(|(_, deleted)| !deleted) {
            candidates.retain(|(_, deleted)| !deleted);
        }
        let derived = derived_slug(kind, identity, 0);
        let slugs: Vec<String> = candidates.iter().map(|(slug, _)| slug.to_string()).collect();
        Ok(match candidates[..] {
            [] => Ok(None),
            [(slug, _)] => Ok(Some(slug)),
            _ if slugs.contains(&derived.to_string()) => Ok(Some(derived)),
            _ => Err(format!("is needed: without one it is not told which of {} it is", slugs.join(", "))),
        })
    }

    fn new_slug(&mut self, known: &Known<'_>, kind: Kind, identity: &str) -> Result<Slug, Error> {
        let mut attempt = 0;
        loop {
            let slug = derived_slug(kind, identity, attempt);
            if !known.stored.contains_key(&(kind, slug)) && !self.reading.names.has(kind, slug.as_str())? {
                return Ok(slug);
            }
            attempt += 1;
        }
    }
}

/// Puts the records that the file does not name into the trash, but webhooks that no file has made.
pub(super) fn leave_out(named: &BTreeSet<(Kind, Slug)>, changes: &mut Changes, context: &Context) -> Result<(), Error> {
    let Changes { stored, changed, .. } = changes;
    for (key, row) in stored.iter().filter(|(key, row)| !row.deleted && !named.contains(key)) {
        if key.0 == Kind::Webhook && program_store::parse::<Webhook>(&row.doc, context)?.made_by != MadeBy::Apply {
            continue;
        }
        let mut row = row.clone();
        row.deleted = true;
        row.doc = document::extended(&row.doc, |object| object.flag("deleted", true));
        changed.insert(*key, row);
    }
    Ok(())
}

/// The stored records by what identifies them, kind by kind as they are asked for, and the nameless ones of the file.
struct Known<'s> {
    language: Locale,
    stored: &'s Rows,
    by_identity: BTreeMap<Kind, BTreeMap<String, Vec<(Slug, bool)>>>,
    lines: BTreeMap<(Kind, String), u64>,
}

impl Known<'_> {
    fn of(&mut self, kind: Kind, wanted: &str) -> Vec<(Slug, bool)> {
        let of_kind = self.by_identity.entry(kind).or_insert_with(|| {
            let mut found: BTreeMap<String, Vec<(Slug, bool)>> = BTreeMap::new();
            for ((_, slug), row) in self.stored.iter().filter(|((other, _), _)| *other == kind) {
                if let Ok(object) = parse_object(row.doc.as_bytes()) {
                    found.entry(identity(kind, &object, self.language)).or_default().push((*slug, row.deleted));
                }
            }
            found
        });
        of_kind.get(wanted).cloned().unwrap_or_default()
    }
}

/// What a record is known by where it has no slug: the members that identify it, translated ones in one language.
fn identity(kind: Kind, object: &JsonObject, language: Locale) -> String {
    let members = members(kind);
    let part = |name: &str| match object.get(name) {
        None | Some(Json::Null) => Json::String("".into()),
        Some(Json::Object(map)) => {
            Json::String(map.get(language.code()).and_then(Json::as_str).unwrap_or_default().trim().to_owned().into())
        }
        Some(json) => json.clone(),
    };
    let parts = members.iter().filter(|member| member.identifies).map(|member| part(member.name));
    Json::Array(parts.collect()).to_string()
}
