//! A database that is put back and goes another way, beside a node that remembers the way that was lost.

use std::fs;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::lists::ask::Ask;
use super::lists::made::{self, ACCOUNT, Size, name};
use super::lists::model::World;
use super::service::{Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Nothing is answered from a history that was lost.
pub(crate) const PROOF: Proof = Proof {
    name: "history",
    claim: "A database that is put back and written to again until its log is as long answers nothing from the lost \
            history, although the node remembers it.",
    run: |context| on_each_engine(context, show),
};

/// The records of the proof.
const SIZE: Size = Size { users: 12, entries: 40, orders: 20 };

/// By how many changes the lost history is longer at first.
const LONGER: u32 = 20;

/// Where every node says that it is, so that their answers can be compared.
const BASE: &str = "http://plaudit.example";

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let rounds = if context.short { 4 } else { 60 };
    let mut random = Random::new(21);
    let (lines, world) = made::population(ACCOUNT, SIZE, &mut random);
    let mut service = Service::new(context, engine)?;
    service.set("PLAUDIT_SERVER_BASE_URL", BASE);
    let file = service.directory().join("account.jsonl");
    fs::write(&file, made::written(&lines))?;
    service.import_file(&file)?.succeeded()?;
    service.start()?;
    let key = service.key(ACCOUNT, "read_write")?;
    let client = service.client(&key);
    let past = Past::keep(context, engine, &service)?;
    let (mut checks, mut differing, mut asked) = (Checks::default(), 0, 0);
    for round in 0..rounds {
        let paths = paths(&world, &mut random);
        asked += paths.len();
        write(&client, &world, 2 * round)?;
        for more in 0..LONGER {
            retitle(&client, &world, &format!("Lost {round} {more}"))?;
        }
        let lost = read(&client, &paths)?;
        let length = sequence(context, &service)?;
        past.put_back(context, &service)?;
        let fresh = service.beside()?;
        let other = fresh.client(&key);
        if round % 2 == 1 {
            // The node learns on the way that its history is lost, while the log is shorter.
            let right = read(&other, &paths)?;
            compare(&client, &paths, (&lost, &right), &mut checks)?;
        }
        write(&other, &world, 2 * round + 1)?;
        for more in 0.. {
            match sequence(context, &service)?.cmp(&length) {
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Less => retitle(&other, &world, &format!("Longer {round} {more}"))?,
                std::cmp::Ordering::Greater => bail!("the second history is longer than the first"),
            }
        }
        let right = read(&other, &paths)?;
        differing += compare(&client, &paths, (&lost, &right), &mut checks)?;
        // And one change further, by the node that remembers.
        retitle(&client, &world, &format!("Further {round}"))?;
        let (right, shown) = (read(&other, &paths)?, read(&client, &paths)?);
        for (path, (right, shown)) in paths.iter().zip(right.iter().zip(&shown)) {
            checks.check(right.body == shown.body, || {
                format!("{path} behind another change: {}", shown.differs_from(right))
            });
        }
        past.put_back(context, &service)?;
    }
    checks.check(differing > asked / 4, || "the two histories are answered alike, so nothing was shown".to_owned());
    println!("  {}: {rounds} histories lost, {asked} answers, {differing} of them others before", engine.name());
    Ok(checks.verdict(&format!("{rounds} histories lost, {asked} answers from the other one")))
}

/// The node that remembers must answer as the one that never knew; gives how many answers the lost history had others.
fn compare(client: &Client, paths: &[String], (lost, right): (&[Read], &[Read]), checks: &mut Checks) -> Result<usize> {
    let mut differing = 0;
    for (path, (lost, right)) in paths.iter().zip(lost.iter().zip(right)) {
        let is_other = lost.body != right.body;
        differing += usize::from(is_other);
        if is_other && !lost.tag.is_empty() {
            let answer = client.send("GET", path, &[("if-none-match", &lost.tag)], None)?;
            checks.check(answer.status != 304, || format!("{path}: the tag of the lost history is good"));
        }
        let shown = Read::of(client, path)?;
        checks.check(shown.body == right.body, || format!("{path}: {}", shown.differs_from(right)));
    }
    Ok(differing)
}

/// What is compared of an answer.
struct Read {
    tag: String,
    body: String,
}

impl Read {
    fn of(client: &Client, path: &str) -> Result<Self> {
        let answer = client.get(path)?;
        let mut body = answer.json()?;
        blank(&mut body);
        let tag = answer.header("etag").unwrap_or_default().to_owned();
        Ok(Self { tag, body: body.to_string() })
    }

    /// Where this parts from what is right.
    fn differs_from(&self, right: &Self) -> String {
        let at = self.body.bytes().zip(right.body.bytes()).take_while(|(one, other)| one == other).count();
        let of = |body: &str| body.chars().skip(at.saturating_sub(20)).take(60).collect::<String>();
        format!("{:?}, not {:?}", of(&self.body), of(&right.body))
    }
}

/// Addresses of files are good for some minutes: they are other ones later.
fn blank(value: &mut Value) {
    match value {
        Value::Object(members) => members
            .iter_mut()
            .for_each(|(name, value)| if name == "download" { *value = Value::Null } else { blank(value) }),
        Value::Array(items) => items.iter_mut().for_each(blank),
        _ => {}
    }
}

fn read(client: &Client, paths: &[String]) -> Result<Vec<Read>> {
    paths.iter().map(|path| Read::of(client, path)).collect()
}

/// What is asked for: lists, the summary, counts of categories and single records.
fn paths(world: &World, random: &mut Random) -> Vec<String> {
    // The counts come first: they would not be asked of a view that a list has found to be of another history.
    let counts =
        ["/entry/summary", "/category?season=all&per_page=100", "/entry/summary?season=all", "/chapter?season=all"];
    let mut paths: Vec<String> = counts.map(str::to_owned).into();
    paths.extend(Ask::each(world).iter().filter(|_| random.below(4) == 0).map(Ask::path));
    for (kind, path) in [
        ("entry", "/entry"),
        ("user", "/user"),
        ("category", "/category"),
        ("contributor", "/contributor"),
        ("attachment", "/attachment"),
    ] {
        paths.extend(world.all(kind).map(|(name, _)| format!("{path}/{name}")).take(30));
    }
    paths
}

/// A history: the same changes with other values.
fn write(client: &Client, world: &World, seed: u32) -> Result<()> {
    let say = |path: &str, body: Value| client.put(path, &body)?.expect_status(200).map(drop);
    // Every other pair of histories leaves the set-up alone, so that its version is the same all along.
    let renamed = if seed / 4 % 2 == 1 { 2 } else { 0 };
    for (number, (category, _)) in (0..).zip(world.all("category").take(renamed)) {
        say(
            &format!("/category/{category}"),
            json!({"translated": {"name": {"en_GB": format!("Cat {}", seed ^ number)}}}),
        )?;
    }
    for (number, (chapter, _)) in (0..).zip(world.all("chapter").take(renamed)) {
        say(
            &format!("/chapter/{chapter}"),
            json!({"translated": {"name": {"en_GB": format!("Chap {}", seed ^ number)}}}),
        )?;
    }
    let live = world.all("entry").filter(|(_, entry)| entry["deleted"] != true && entry["season"] == "SeasonOn");
    for (number, (entry, record)) in (0..).zip(live.take(12)) {
        let path = format!("/entry/{entry}");
        say(
            &path,
            json!({"title": format!("Title {} {number}", (seed ^ number) % 7), "moderation_status": (["approved", "rejected"][(seed ^ number) as usize % 2])}),
        )?;
        // The other way goes on with other entries, as many of them.
        if number % 2 == seed % 2 && number < 8 {
            client.delete(&path)?.expect_status(204)?;
        } else if record["season"] == "SeasonOn" {
            let tag = ["red", "blue"][(seed % 2) as usize];
            client.put(&format!("{path}/tag/{tag}"), &json!({}))?;
        }
    }
    let user = name("User", 1);
    client.put(&format!("/user/{user}"), &json!({"first_name": format!("First {seed}"), "last_name": "Last"}))?;
    for (kind, body) in
        [("attachment", json!({"order": 100 + seed})), ("contributor", json!({"fields": {"FieldNum": seed}}))]
    {
        for (name, _) in world.all(kind).take(4) {
            client.put(&format!("/{kind}/{name}"), &body)?;
        }
    }
    Ok(())
}

/// One change more.
fn retitle(client: &Client, world: &World, title: &str) -> Result<()> {
    for (entry, _) in world
        .all("entry")
        .filter(|(_, entry)| entry["deleted"] != true && entry["season"] == "SeasonOn")
        .skip(12)
        .take(1)
    {
        client.put(&format!("/entry/{entry}"), &json!({"title": title}))?.expect_status(200)?;
    }
    Ok(())
}

fn sequence(context: &Context, service: &Service) -> Result<i64> {
    Ok(service.ask(context, &format!("SELECT sequence FROM accounts WHERE slug = '{ACCOUNT}'"))?.parse()?)
}

/// All rows of the database as they once were, beside those that there are.
struct Past {
    tables: Vec<String>,
}

impl Past {
    fn keep(context: &Context, engine: Engine, service: &Service) -> Result<Self> {
        let names = match engine {
            Engine::Sqlite => {
                "SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            }
            Engine::Postgres => "SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = current_schema()",
        };
        let names = service.ask(context, names)?;
        let tables: Vec<String> =
            names.split(' ').filter(|name| !name.starts_with("refinery")).map(str::to_owned).collect();
        let keep = tables.iter().map(|table| format!("CREATE TABLE kept_{table} AS SELECT * FROM {table};"));
        service.tamper(context, &keep.collect::<String>())?;
        Ok(Self { tables })
    }

    /// Puts every row back in one transaction.
    fn put_back(&self, context: &Context, service: &Service) -> Result<()> {
        let back = self
            .tables
            .iter()
            .map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};"));
        service.tamper(context, &format!("BEGIN; {} COMMIT;", back.collect::<String>()))
    }
}
