//! Reads what links depend on.

use std::collections::BTreeSet;

use super::{EntryFacts, Facts, organisation};
use crate::program::Program;
use crate::program::panels::{EntryStatus, Moderation};
use crate::records::entries::contributors;
use crate::records::store::filled;
use crate::records::users;
use db::{AccountId, DbError, Row, Source};
use kernel::text::{Slug, folded};

/// The most records that one statement looks up.
const BATCH_SIZE: usize = 256;

/// Of which entries is read.
#[derive(Clone, Debug)]
pub enum Scope {
    /// Of these.
    These(Vec<Slug>),
    /// Of all of a form in a season.
    Of {
        /// The form.
        form: Slug,
        /// The season.
        season: Slug,
    },
}

/// A statement about entries, each by a column.
struct Asked {
    columns: &'static str,
    from: &'static str,
    which: &'static str,
    /// The column of the entry.
    entry: &'static str,
}

const ENTRIES: Asked = Asked {
    columns: "slug, form, season, category, chapter, division, status, moderation, entrant",
    from: "entries",
    which: "deleted = 0",
    entry: "slug",
};
const TAGS: Asked = Asked { columns: "slug, tag", from: "entry_tags", which: "1 = 1", entry: "slug" };
// The key of a text begins with t.
const ADDRESSES: Asked = Asked {
    columns: "c.entry, a.sort_key",
    from: "contributors c JOIN contributor_answers a ON a.account = c.account AND a.slug = c.slug",
    which: "c.deleted = 0 AND a.sort_key LIKE 't%@%'",
    entry: "c.entry",
};
const DECLARED: Asked = Asked { columns: "entry, judge", from: "conflicts", which: "deleted = 0", entry: "entry" };
const RECUSED: Asked =
    Asked { columns: "entry, judge, score_set", from: "recusals", which: "deleted = 0", entry: "entry" };

/// Reads what is known of entries, and of these judges with them; of no others is known whether they declared a conflict.
pub async fn read(
    source: &mut Source<'_>,
    program: &Program,
    scope: &Scope,
    judges: &[Slug],
) -> Result<Facts, DbError> {
    let account = program.id;
    let mut facts = Facts::default();
    let entries = &mut facts.entries;
    each(source, account, (scope, &ENTRIES), |row| {
        let is_within = |entry: &EntryFacts| match scope {
            Scope::These(_) => true,
            Scope::Of { form, season } => (entry.form, entry.season) == (*form, *season),
        };
        let found = entry(row)?;
        if is_within(&found) {
            entries.insert(row.slug(0)?, found);
        }
        Ok(())
    })
    .await?;
    each(source, account, (scope, &TAGS), |row| {
        if let Some(entry) = entries.get_mut(&row.slug(0)?) {
            entry.tags.insert(row.text(1)?.to_owned());
        }
        Ok(())
    })
    .await?;
    each(source, account, (scope, &ADDRESSES), |row| {
        if let Some(entry) = entries.get_mut(&row.slug(0)?) {
            entry.emails.extend(contributors::text_of(row.text(1)?).map(str::to_owned));
        }
        Ok(())
    })
    .await?;
    let declared = &mut facts.declared;
    each(source, account, (scope, &DECLARED), |row| {
        declared.insert((row.slug(0)?, row.slug(1)?));
        Ok(())
    })
    .await?;
    let recused = &mut facts.recused;
    each(source, account, (scope, &RECUSED), |row| {
        recused.entry((row.slug(0)?, row.slug(1)?)).or_default().push(Slug::parse(row.text(2)?));
        Ok(())
    })
    .await?;
    read_judges(source, account, judges, &mut facts).await?;
    read_organisations(source, program, &mut facts).await?;
    Ok(facts)
}

async fn each<F>(
    source: &mut Source<'_>,
    account: AccountId,
    (scope, asked): (&Scope, &Asked),
    mut row: F,
) -> Result<(), DbError>
where
    F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
{
    let Asked { columns, from, which, entry } = asked;
    let owner = entry.split_once('.').map_or_else(String::new, |(table, _)| format!("{table}."));
    let sql = format!("SELECT {columns} FROM {from} WHERE {owner}account = $1 AND {which}");
    let Scope::These(slugs) = scope else { return source.each(&sql, &[account.into()], row).await };
    for slugs in slugs.chunks(BATCH_SIZE) {
        let (list, values) = filled(slugs, 2, vec![account.into()]);
        source.each(&format!("{sql} AND {entry} IN ({list})"), &values, &mut row).await?;
    }
    Ok(())
}

fn entry(row: &Row<'_>) -> Result<EntryFacts, DbError> {
    Ok(EntryFacts {
        form: row.slug(1)?,
        season: row.slug(2)?,
        category: row.slug(3)?,
        chapter: row.slug(4)?,
        division: row.integer(5)?,
        status: EntryStatus::named(row.text(6)?),
        moderation: Moderation::named(row.text(7)?),
        entrant: row.slug(8)?,
        tags: BTreeSet::new(),
        emails: BTreeSet::new(),
    })
}

/// The users with a role who are not in the trash.
pub async fn users_of_role(source: &mut Source<'_>, account: AccountId, role: Slug) -> Result<Vec<Slug>, DbError> {
    let sql = "SELECT u.slug FROM user_roles r JOIN users u ON u.account = r.account AND u.slug = r.slug \
               WHERE r.account = $1 AND r.role = $2 AND u.deleted = 0 ORDER BY u.slug";
    let mut users = Vec::new();
    source.each(sql, &[account.into(), role.into()], |row| row.slug(0).map(|user| users.push(user))).await?;
    Ok(users)
}

/// Judges who are not in the trash.
async fn read_judges(
    source: &mut Source<'_>,
    account: AccountId,
    judges: &[Slug],
    facts: &mut Facts,
) -> Result<(), DbError> {
    for judges in judges.chunks(BATCH_SIZE) {
        let (list, values) = filled(judges, 2, vec![account.into()]);
        let sql = format!(
            "SELECT u.slug, u.email, r.role FROM users u LEFT JOIN user_roles r ON r.account = u.account AND r.slug = u.slug \
             WHERE u.account = $1 AND u.deleted = 0 AND u.slug IN ({list}) ORDER BY u.slug, r.role"
        );
        let read = |row: &Row<'_>| {
            let judge = facts.judges.entry(row.slug(0)?).or_default();
            judge.email = folded(row.text(1)?);
            judge.roles.extend(row.optional_text(2)?.and_then(Slug::parse));
            Ok(())
        };
        source.each(&sql, &values, read).await?;
    }
    Ok(())
}

/// What judges and entrants answer to the organisation fields of score sets, where there are any.
async fn read_organisations(source: &mut Source<'_>, program: &Program, facts: &mut Facts) -> Result<(), DbError> {
    let fields: BTreeSet<Slug> =
        program.score_sets.all_live().filter_map(|score_set| score_set.organisation_field).collect();
    let fields: Vec<Slug> = fields.into_iter().filter(|field| program.fields.live(*field).is_some()).collect();
    if fields.is_empty() {
        return Ok(());
    }
    let entrants = facts.entries.values().map(|entry| entry.entrant);
    let people: BTreeSet<Slug> = facts.judges.keys().copied().chain(entrants).collect();
    let people: Vec<Slug> = people.into_iter().collect();
    for people in people.chunks(BATCH_SIZE) {
        let (list, values) = filled(people, 2, vec![program.id.into()]);
        let sql = format!("SELECT slug, detail FROM users WHERE account = $1 AND slug IN ({list})");
        let organisations = &mut facts.organisations;
        let read = |row: &Row<'_>| {
            let (user, answers) = (row.slug(0)?, users::answers_in(row.text(1)?)?);
            let of = |field: &Slug| Some(((*field, user), organisation(answers.get(*field)?)?));
            organisations.extend(fields.iter().filter_map(of));
            Ok(())
        };
        source.each(&sql, &values, read).await?;
    }
    Ok(())
}

/// The users who have one of these roles, those in the trash included.
pub async fn with_roles(
    source: &mut Source<'_>,
    account: AccountId,
    roles: &[Slug],
) -> Result<BTreeSet<(Slug, Slug)>, DbError> {
    let mut found = BTreeSet::new();
    for roles in roles.chunks(BATCH_SIZE) {
        let (list, values) = filled(roles, 2, vec![account.into()]);
        let sql = format!("SELECT role, slug FROM user_roles WHERE account = $1 AND role IN ({list})");
        source
            .each(&sql, &values, |row| {
                found.insert((row.slug(0)?, row.slug(1)?));
                Ok(())
            })
            .await?;
    }
    Ok(found)
}
