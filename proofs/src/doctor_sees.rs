//! `doctor-sees`: whatever is changed behind the service is found and named.
//!
//! The tables and columns come from the schema, so that a new one is changed as well, unless the list of what nothing
//! determines in `docs/database.md` has it.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::service::{Checks, Kind, Program, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "doctor-sees",
    claim: "Every change of a column behind the service is found and named by doctor, and nothing else is.",
    run: |context| on_each_engine(context, show),
};

/// How many changes, each of another row, one run of the doctor is to find.
const TOGETHER: usize = 20;

/// The heading of the list of columns that nothing determines.
const LIST: &str = "## What nothing determines";

/// A column of the schema.
#[derive(Clone)]
struct Column {
    table: String,
    name: String,
    /// What it is called in the migrations.
    holds: Holds,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Integer,
    Text,
    Bytes,
}

/// A change that is to be found: the column, and the record whose row it was.
struct Change {
    column: Column,
    record: String,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let count = if context.short { 20 } else { 500 };
    let mut checks = Checks::default();
    let mut random = Random::new(7);
    let service = prepared(context, engine, &mut checks)?;
    let columns = columns(context, engine, &service)?;
    let undetermined = undetermined(context)?;
    let determined: Vec<_> = columns.iter().filter(|column| !is_listed(&undetermined, column)).cloned().collect();
    for name in &undetermined {
        let is_there = columns.iter().any(|column| name == &column.table || *name == column.full_name());
        checks.check(is_there, || format!("{LIST:?} names {name}, which the schema does not have"));
    }
    let tables: BTreeSet<&str> = columns.iter().map(|column| column.table.as_str()).collect();
    for table in &tables {
        service.tamper(context, &format!("CREATE TABLE saved_{table} AS SELECT * FROM {table}"))?;
    }
    let mut waiting = Vec::new();
    while waiting.len() < count {
        let mut all = determined.clone();
        while !all.is_empty() {
            waiting.push(all.swap_remove(random.below(u32::try_from(all.len())?) as usize));
        }
    }
    waiting.truncate(count);
    // Where the account's own row or its set-up is changed, much of the account is not what it was; so these come one by one.
    let is_alone =
        |column: &Column| ["accounts", "setup_records", "api_keys", "contacts"].contains(&column.table.as_str());
    let (alone, together): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_alone);
    let mut found = 0;
    for (columns, together) in [(alone, 1), (together, TOGETHER)] {
        let mut waiting = VecDeque::from(columns);
        while !waiting.is_empty() {
            found += round(context, (engine, &service), (&mut waiting, together), &mut random, &mut checks)?;
        }
    }
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("after everything was put back: {}", doctor.last_line()));
    let (of, figure) = (determined.len(), format!("{found} of {count} changes found and named"));
    Ok(checks.verdict(&format!("{figure}, of {of} columns in {} tables", tables.len())))
}

/// The letters of a slug.
const SLUG: usize = 8;

/// An installation with records of every kind, of which some were changed through the interface, and nothing wrong.
fn prepared(context: &Context, engine: Engine, checks: &mut Checks) -> Result<Service> {
    let first = Program {
        entries: 60,
        detail_every: 2,
        orders: 40,
        hosts: vec!["awards.example".to_owned()],
        ..Program::small(1)
    };
    let second = Program { entries: 20, detail_every: 3, orders: 10, ..Program::second(2) };
    let mut service = Service::with(context, engine, &[&first, &second])?;
    let client = service.client(&service.key(&first.account, "read_write")?);
    for position in 0..20 {
        let entry = format!("/entry/{}", first.slug(Kind::Entry, position));
        let chapter = json!({"chapter": first.slug(Kind::Chapter, position % (first.chapters - 1))});
        client.put(&format!("{entry}/update-chapter"), &chapter)?;
        client.put(&entry, &json!({"title": format!("Title {position}"), "moderation_status": "approved"}))?;
        client.put(&format!("{entry}/tag/one,two{position}"), &json!({}))?;
        if position % 3 == 0 {
            client.delete(&entry)?;
            client.delete(&format!("/user/{}", first.slug(Kind::User, position / 3)))?;
            client.delete(&format!("/contributor/{}", first.slug(Kind::Contributor, position + 1)))?;
        }
        if position % 6 == 0 {
            client.send("POST", &format!("{entry}/restore"), &[], None)?;
        }
    }
    let path = service.directory().join("judging.jsonl");
    std::fs::write(&path, judging(&first))?;
    service.run(&["import", &path.to_string_lossy(), "--account", &first.account])?.succeeded()?;
    for position in 20..50 {
        let body = json!({"review_stage": "StageOne", "entry": first.slug(Kind::Entry, position)});
        client.post("/review-task", &body)?.expect_status(200)?;
    }
    for feedback in [false, true] {
        let body = json!({"score_set": "ScoreSet", "feedback": feedback, "embargo_until": "2031-01-01T00:00:00Z"});
        client.post("/leaderboard/publish", &body)?.expect_status(201)?;
    }
    service.stop()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || {
        format!("a database that nobody changed: {}", String::from_utf8_lossy(&doctor.stdout))
    });
    Ok(service)
}

/// What is judged and reviewed, as lines of a file.
fn judging(program: &Program) -> String {
    let (season, form) = (program.slug(Kind::Season, 0), program.slug(Kind::Form, 0));
    let name = json!({"en_GB": "Name"});
    let mut records = vec![
        json!({"kind": "review_stage", "slug": "StageOne", "season": season, "form": form, "name": name,
            "timing": "after_submission", "start": "manual", "reviewers": [{"name": "Ada", "email": "ada@example.org"}],
            "reminder_days": 3}),
        json!({"kind": "round", "slug": "RoundJud", "season": season, "form": form, "name": name, "type": "judge"}),
        json!({"kind": "score_set", "slug": "ScoreSet", "season": season, "form": form, "name": name, "mode": "vip_judging"}),
        json!({"kind": "criterion", "slug": "CritOneA", "score_set": "ScoreSet", "name": name, "maximum": 10}),
        json!({"kind": "panel", "slug": "PanelOne", "season": season, "score_set": "ScoreSet", "name": name,
            "judges": [program.slug(Kind::User, 1)], "rounds": ["RoundJud"]}),
    ];
    for position in 20..50_u8 {
        let entry = program.slug(Kind::Entry, position.into());
        // None of them is an x, which a change puts into a text.
        let letters = [position / 10, position % 10].map(|number| char::from(b'a' + number)).iter().collect::<String>();
        records.push(json!({"kind": "assignment", "entry": entry, "judge": program.slug(Kind::User, 1),
            "score_set": "ScoreSet", "panels": ["PanelOne"], "rounds": ["RoundJud"],
            "scores": [{"criterion": "CritOneA", "value": position % 10}]}));
        let judge = program.slug(Kind::User, 2);
        records.push(json!({"kind": "conflict", "slug": format!("Confli{letters}"), "entry": entry, "judge": judge}));
        records.push(json!({"kind": "recusal", "slug": format!("Recuse{letters}"), "entry": entry, "judge": judge,
            "score_set": "ScoreSet"}));
    }
    let entry = program.slug(Kind::Entry, 20);
    records.push(json!({"kind": "casting_vote", "slug": "CastVote", "score_set": "ScoreSet", "entries": [entry], "reason": "Fine."}));
    records.push(json!({"kind": "lot", "slug": "LotOneAa", "score_set": "ScoreSet", "numbers": [9], "source": "A die",
        "entries": [entry]}));
    let file = "TokenOfTheFileOfDocument";
    records.push(json!({"kind": "file", "token": file, "filename": "a.pdf", "data": ""}));
    for slug in ["DocuOneA", "DocuTwoA"] {
        records.push(json!({"kind": "document", "slug": slug, "name": name, "file": file, "filename": "a.pdf",
            "file_type": "PDF", "entry": entry, "recipient": program.slug(Kind::User, 1), "shared_with_user": true}));
    }
    records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Changes a row for each of some of these columns, lets the doctor look, and puts everything back; gives how many were found.
fn round(
    context: &Context,
    (engine, service): (Engine, &Service),
    (waiting, together): (&mut VecDeque<Column>, usize),
    random: &mut Random,
    checks: &mut Checks,
) -> Result<usize> {
    let (mut changes, mut statements, mut records) = (Vec::new(), String::new(), BTreeSet::new());
    let row = match engine {
        Engine::Sqlite => "rowid",
        Engine::Postgres => "ctid",
    };
    for column in waiting.drain(..together.min(waiting.len())).collect::<Vec<_>>() {
        // A few tries, because two changes of one record might hide each other.
        let mut is_changed = false;
        for _ in 0..20 {
            let Column { table, name, .. } = &column;
            let count: u32 = service.ask(context, &format!("SELECT count(*) FROM {table}"))?.parse()?;
            if count == 0 {
                bail!("there is no row of {table} to be changed");
            }
            let (record, skipped) = (record(table), random.below(count));
            let kept = if table == "entry_counts" { "WHERE total > 0" } else { "" };
            let chosen = service.ask(
                context,
                &format!(
                    "SELECT coalesce(max(chosen), '') FROM (SELECT CAST({row} AS TEXT) || '|' || {record} AS chosen \
                     FROM {table} {kept} ORDER BY {record}, {row} LIMIT 1 OFFSET {skipped}) AS rows"
                ),
            )?;
            let Some((place, record)) = chosen.split_once('|') else { continue };
            // What belongs to an entry is called by its slug and more, and a change of the log is of a record.
            let of = match table.as_str() {
                "changes" => service.ask(context, &format!("SELECT slug FROM changes WHERE {row} = '{place}'"))?,
                _ => record.to_owned(),
            };
            if !records.insert(of.chars().take(SLUG).collect::<String>()) {
                continue;
            }
            let value = column.changed(engine, random);
            writeln!(statements, "UPDATE {table} SET {name} = {value} WHERE {row} = '{place}';")?;
            changes.push(Change { column: column.clone(), record: record.to_owned() });
            is_changed = true;
            break;
        }
        if !is_changed {
            // A table of few rows has its turn again.
            waiting.push_back(column);
        }
    }
    if changes.is_empty() {
        bail!("no row can be chosen for {}", waiting.iter().map(Column::full_name).collect::<Vec<_>>().join(", "));
    }
    service.tamper(context, &statements)?;
    let doctor = service.run(&["doctor"])?;
    let printed = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let faults: Vec<_> = printed.lines().filter_map(Fault::read).collect();
    let mut found = 0;
    for change in &changes {
        let is_named = faults.iter().any(|fault| fault.names(change));
        found += usize::from(is_named);
        checks.check(is_named, || {
            let faults: Vec<_> = printed.lines().filter(|line| line.contains(&change.record)).collect();
            format!("{} of {} was changed: {faults:?}", change.column.full_name(), change.record)
        });
    }
    checks.check(doctor.code == Some(1), || format!("the doctor ended with {:?}: {}", doctor.code, doctor.stderr));
    let mut statements = String::new();
    for table in changes.iter().map(|change| change.column.table.as_str()).collect::<BTreeSet<_>>() {
        writeln!(statements, "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved_{table};")?;
    }
    service.tamper(context, &statements)?;
    Ok(found)
}

/// What a row of a table is called by.
fn record(table: &str) -> &'static str {
    match table {
        "hosts" => "name",
        "people" => "global_id",
        "contacts" => "contact",
        "changes" => "CAST(sequence AS TEXT)",
        "entry_counts" => "category || ' ' || CAST(division AS TEXT)",
        "order_entries" => "order_slug",
        "files" | "attachments" | "review_tasks" | "review_task_reviewers" | "review_task_times" => "token",
        _ => "slug",
    }
}

impl Column {
    fn full_name(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }

    /// Another value for it, in SQL.
    fn changed(&self, engine: Engine, random: &mut Random) -> String {
        let name = &self.name;
        match self.holds {
            // So far away that it is no other row's; the largest stands for a time that there is not.
            Holds::Integer => {
                let far = 1_000_000 + random.below(1_000_000);
                format!("CASE WHEN {name} > {} THEN {name} - {far} ELSE {name} + {far} END", i64::MAX / 2)
            }
            Holds::Text => {
                let place = format!("1 + {} % length({name})", random.below(10_000));
                format!(
                    "CASE WHEN {name} = '' THEN 'x' ELSE substr({name}, 1, {place} - 1) || CASE WHEN \
                     substr({name}, {place}, 1) = 'x' THEN 'y' ELSE 'x' END || substr({name}, {place} + 1) END"
                )
            }
            Holds::Bytes => {
                let bytes = (0..8).map(|_| format!("{:08x}", random.below(u32::MAX))).collect::<Vec<_>>().concat();
                match engine {
                    Engine::Sqlite => format!("x'{bytes}'"),
                    Engine::Postgres => format!("'\\x{bytes}'::bytea"),
                }
            }
        }
    }
}

/// What the doctor says in a line: of which table, record and columns.
struct Fault<'l> {
    table: &'l str,
    record: &'l str,
    columns: &'l str,
}

impl<'l> Fault<'l> {
    fn read(line: &'l str) -> Option<Self> {
        let fault = line.strip_prefix("FAULT ")?;
        let fault = fault.strip_prefix("account ").map_or(fault, |fault| fault.get(10..).unwrap_or_default());
        let (table, rest) = fault.split_once(' ')?;
        let (record, rest) = rest.split_once(": ")?;
        Some(Self { table, record, columns: rest.split_once(": ")?.0 })
    }

    fn names(&self, Change { column, record }: &Change) -> bool {
        // A change of the log is called by its number, with the record that it is of behind it. An account whose slug was
        // changed is called by the new one.
        let is_it =
            self.record == record || self.record.starts_with(&format!("{record} (")) || self.table == "accounts";
        self.table == column.table && is_it && self.columns.split(", ").any(|name| name == column.name)
    }
}

/// The columns of all tables but those of the migrations.
fn columns(context: &Context, engine: Engine, service: &Service) -> Result<Vec<Column>> {
    let query = match engine {
        Engine::Sqlite => {
            "SELECT group_concat(m.name || ' ' || c.name || ' ' || c.type, ',') FROM sqlite_master m, \
             pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name <> 'refinery_schema_history'"
        }
        Engine::Postgres => {
            "SELECT string_agg(table_name || ' ' || column_name || ' ' || data_type, ',') FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name <> 'refinery_schema_history'"
        }
    };
    let listed = service.ask(context, query)?;
    let column = |text: &str| {
        let mut parts = text.split(' ').map(str::to_owned);
        let (table, name, holds) = (parts.next()?, parts.next()?, parts.next()?.to_lowercase());
        let holds = match holds.as_str() {
            "bigint" => Holds::Integer,
            "bytea" => Holds::Bytes,
            _ => Holds::Text,
        };
        Some(Column { table, name, holds })
    };
    listed.split(',').map(column).collect::<Option<_>>().context("the schema cannot be read")
}

/// The tables of the schema, but those that nothing determines.
pub(super) fn tables(context: &Context, engine: Engine, service: &Service) -> Result<BTreeSet<String>> {
    let (columns, undetermined) = (columns(context, engine, service)?, undetermined(context)?);
    Ok(columns.into_iter().map(|column| column.table).filter(|table| !undetermined.contains(table)).collect())
}

/// The columns and tables that nothing determines, as the documentation has them.
fn undetermined(context: &Context) -> Result<Vec<String>> {
    let text = fs::read_to_string(context.root.join("docs/database.md"))?;
    let (_, list) = text.split_once(LIST).context("docs/database.md has no list of what nothing determines")?;
    let rows = list.split("\n## ").next().unwrap_or_default().lines().filter(|line| line.starts_with("| `"));
    let names = rows.filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    Ok(names.map(str::to_owned).collect())
}

fn is_listed(undetermined: &[String], column: &Column) -> bool {
    undetermined.iter().any(|name| *name == column.table || *name == column.full_name())
}
