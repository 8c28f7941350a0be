//! A person is renamed: one row is written, and every read shows the new name at once.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::lists::ask::{Ask, Place};
use super::lists::made::{self, ACCOUNT, Size, name};
use super::lists::model::{ENTRIES, World};
use super::service::{Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// A renamed person is one row.
pub(crate) const PROOF: Proof = Proof {
    name: "rename",
    claim: "A person with 100,000 entries is renamed by one row and one change of the log, and the next request shows the \
            new name everywhere.",
    run: |context| on_each_engine(context, show),
};

/// How long what follows a write in the background may take to begin.
const REST: Duration = Duration::from_secs(1);

/// The one with many entries, and one with none.
const MANY: u32 = 0;
const NONE: u32 = 1;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let size = Size { users: 3, entries: if context.short { 200 } else { 100_000 }, orders: 20 };
    let mut service = Service::new(context, engine)?;
    service.measure()?;
    let (lines, mut world) = population(size);
    let file = service.directory().join("account.jsonl");
    fs::write(&file, made::written(&lines))?;
    service.import_file(&file)?.succeeded()?;
    service.start()?;
    let client = service.client(&service.key(ACCOUNT, "read_write")?);
    let mut checks = Checks::default();

    let paths = shown(&world)?;
    let before = paths.iter().map(|path| client.get(path)?.expect_status(200)).collect::<Result<Vec<_>>>()?;
    // The first rename of all prepares statements and loads what every one needs.
    rename(&client, &mut world, NONE, "Warm")?;
    let many = written(
        context,
        &service,
        || rename(&client, &mut world, MANY, "Zacharias"),
        || {
            // The very next requests, before anything in the background can have followed.
            for (path, before) in paths.iter().zip(&before) {
                let answer = client.get(path)?.expect_status(200)?;
                checks.check(answer.text().contains("Zacharias"), || format!("{path} does not show the new name"));
                let is_other = answer.header("etag") != before.header("etag");
                checks.check(is_other, || format!("{path} has the ETag from before"));
            }
            Ok(())
        },
    )?;
    applicants(&client, &world, &mut checks)?;
    for (what, found) in
        ["changes of the log", "users", "entries", "orders", "contributors", "attachments"].iter().zip(&many.rows)
    {
        let wanted = i64::from(["changes of the log", "users"].contains(what));
        checks.check(*found == wanted, || format!("{found} rows of {what} were written, not {wanted}"));
    }
    checks.check(many.stored == 1, || format!("{} documents hold the new name, not 1", many.stored));
    let of_few = fewest_statements(&service, &client, &mut world, NONE)?;
    let of_many = fewest_statements(&service, &client, &mut world, MANY)?;
    // One more writes the season in which the person has entries, however many these are.
    checks.check(of_many <= of_few + 1, || {
        format!("the request took {of_many} statements, and {of_few} for a person without entries")
    });
    retitle(&client, &world, &mut checks)?;
    println!(
        "  {}: {} entries: {} changes, {} users and {} entries written, {} documents with the name, {} statements ({} without entries)",
        engine.name(),
        size.entries,
        many.rows[0],
        many.rows[1],
        many.rows[2],
        many.stored,
        of_many,
        of_few
    );
    Ok(checks.verdict(&format!("{} entries, one row, one change, {of_many} statements", size.entries)))
}

/// All entries are the one's, but for a few that show where the name sorts.
fn population(size: Size) -> (Vec<Value>, World) {
    let (mut lines, mut world) = made::population(ACCOUNT, size, &mut Random::new(9));
    for line in &mut lines {
        if line["kind"] == "entry" {
            let is_few = line["local_id"].as_u64().is_some_and(|number| number % 50 == 0);
            line["entrant"] = name("User", if is_few { 2 } else { MANY }).into();
            // There are more entries than made-up numbers.
            line.as_object_mut().map(|line| line.remove("local_id"));
        }
        if line["kind"] == "user" {
            line["deleted"] = false.into();
        }
    }
    made::take(&mut world, &lines);
    (lines, world)
}

fn rename(client: &Client, world: &mut World, user: u32, first_name: &str) -> Result<()> {
    let user = name("User", user);
    let body = json!({"first_name": first_name});
    let shown = client.put(&format!("/user/{user}"), &body)?.expect_status(200)?.json()?;
    world.set("user", &user, &[("first_name", shown["first_name"].clone()), ("updated", shown["updated"].clone())]);
    Ok(())
}

/// What shows the name of the one: the person, an entry, and lists of both.
fn shown(world: &World) -> Result<Vec<String>> {
    let user = name("User", MANY);
    let mut entries = world.all("entry");
    let found = entries.find(|(_, entry)| entry["entrant"] == user.as_str() && entry["deleted"] != true);
    let (entry, _) = found.context("the person has no entry")?;
    Ok(vec![
        format!("/user/{user}"),
        "/user?per_page=100".to_owned(),
        format!("/entry/{entry}"),
        format!("/entry?entrant={user}&season=all"),
        "/entry?season=all&order=title&per_page=100".to_owned(),
        "/order?season=all&deleted=included".to_owned(),
    ])
}

/// What a rename wrote.
struct Written {
    /// New rows of the log, and rows with a new revision.
    rows: Vec<i64>,
    /// Documents of records that hold the new name.
    stored: i64,
}

fn written(
    context: &Context,
    service: &Service,
    rename: impl FnOnce() -> Result<()>,
    at_once: impl FnOnce() -> Result<()>,
) -> Result<Written> {
    let ask = |query: &str| -> Result<i64> { Ok(service.ask(context, query)?.parse()?) };
    let before = ask(&format!("SELECT sequence FROM accounts WHERE slug = '{ACCOUNT}'"))?;
    rename()?;
    at_once()?;
    thread::sleep(REST);
    let mut rows = vec![ask(&format!("SELECT count(*) FROM changes WHERE sequence > {before}"))?];
    for table in ["users", "entries", "orders", "contributors", "attachments"] {
        rows.push(ask(&format!("SELECT count(*) FROM {table} WHERE revision > {before}"))?);
    }
    let holding = ["users", "entries", "orders", "contributors", "attachments"]
        .map(|table| format!("(SELECT count(*) FROM {table} WHERE doc LIKE '%Zacharias%')"));
    let stored = ask(&format!("SELECT {}", holding.join(" + ")))?;
    Ok(Written { rows, stored })
}

/// The fewest statements that a rename takes: what a node does in the background may come in between.
fn fewest_statements(service: &Service, client: &Client, world: &mut World, user: u32) -> Result<i64> {
    let mut fewest = i64::MAX;
    for turn in 0..5 {
        let before = statements(service)?;
        rename(client, world, user, &format!("Zacharias {turn}"))?;
        fewest = fewest.min(statements(service)? - before);
    }
    Ok(fewest)
}

fn statements(service: &Service) -> Result<i64> {
    let text = service.metrics()?;
    let line = text.lines().find_map(|line| line.strip_prefix("plaudit_db_statements_total "));
    Ok(line.context("the statements are not counted")?.parse()?)
}

/// Entries are sorted by the new name at once, in both directions, at the beginning and behind it.
fn applicants(client: &Client, world: &World, checks: &mut Checks) -> Result<()> {
    for dir in ["asc", "desc"] {
        for page in [1, 2, 3] {
            let ask = Ask {
                order: "applicant",
                dir,
                place: Place::Page(page),
                ..Ask::of(&ENTRIES, vec![("season", "all".to_owned())], 100)
            };
            judge(client, world, &ask, checks)?;
        }
    }
    Ok(())
}

fn judge(client: &Client, world: &World, ask: &Ask, checks: &mut Checks) -> Result<()> {
    let path = ask.path();
    let answer = client.get(&path)?.expect_status(200)?.json()?;
    let judged = ask.judge(world, &answer);
    checks.check(judged.is_ok(), || format!("{path}: {}", judged.err().unwrap_or_default()));
    Ok(())
}

/// The title of an entry is shown by what belongs to it at once, too.
fn retitle(client: &Client, world: &World, checks: &mut Checks) -> Result<()> {
    let live = |kind: &'static str| {
        // An entry of a season that is over keeps its title.
        let can_change = |entry: &Value| entry["deleted"] != true && entry["season"] == "SeasonOn";
        let of = |child: &Value| world.get("entry", child["entry"].as_str().unwrap_or_default());
        world.all(kind).find(move |(_, child)| child["deleted"] != true && can_change(of(child)))
    };
    for kind in ["attachment", "contributor"] {
        let Some((child, record)) = live(kind) else { continue };
        let entry = record["entry"].as_str().unwrap_or_default();
        let paths = [format!("/{kind}/{child}"), format!("/{kind}?season=all&entry={entry}")];
        let before = paths.iter().map(|path| client.get(path)?.expect_status(200)).collect::<Result<Vec<_>>>()?;
        let title = format!("Another title for the {kind}");
        client.put(&format!("/entry/{entry}"), &json!({"title": title}))?.expect_status(200)?;
        for (path, before) in paths.iter().zip(&before) {
            let answer = client.get(path)?.expect_status(200)?;
            checks.check(answer.text().contains(&title), || format!("{path} does not show the new title"));
            checks.check(answer.header("etag") != before.header("etag"), || format!("{path} has the ETag from before"));
        }
    }
    Ok(())
}
