//! `panels`: what panels assign follows from what is there, and not from how it came about. After random changes and kills it is
//! held against a new database, which works it out from nothing but the same records and begun sheets.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "panels",
    claim: "After 10,000 random changes of entries, tags, categories, roles, rounds and panels, kills among them, automatic \
            assignments are those that are computed from scratch with the same begun sheets and recusals.",
    run: |context| on_each_engine(context, show),
};

/// Entries, people, and the score set that they are about.
const ENTRIES: u32 = 40;
const USERS: u32 = 12;
const SCORE_SET: &str = "ScoreSet";
const PANELS: [&str; 3] = ["PanelOne", "PanelTwo", "PanelTri"];
/// How long panels may take to come to the end of the log.
const PATIENCE: Duration = Duration::from_mins(2);

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (changes, rounds) = if context.short { (150, 2) } else { (10_000, 20) };
    let program = Program { entries: ENTRIES, orders: 0, users: USERS, ..Program::small(41) };
    let mut service = Service::new(context, engine)?;
    service.import(&program)?;
    let (mut checks, mut random) = (Checks::default(), Random::new(11));
    import(&service, &program, &set_up(&program, &mut random))?;
    let key = service.key(&program.account, "read_write")?;
    let mut compared = 0;
    for round in 0..rounds {
        service.start()?;
        let client = service.client(&key);
        for change in 0..changes / rounds {
            if change % 25 == 24 {
                let slug = PANELS[random.below(3) as usize];
                import(&service, &program, &[panel(&program, &mut random, slug)])?;
            }
            one_change(&client, &program, &mut random)?;
        }
        if round % 2 == 0 {
            // The middle of what panels write is as good a moment as any.
            service.kill()?;
            service.start()?;
        }
        settle(context, &service)?;
        let left = service.export(&program.account)?;
        service.stop()?;
        let is = assigned(&left)?;
        let wants = from_scratch(context, engine, &program, &left)?;
        checks.check(is == wants, || format!("round {round}: {:?}", difference(&is, &wants)));
        compared += is.len();
    }
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || doctor.last_line());
    Ok(checks.verdict(&format!("{changes} changes, {} kills, {compared} assignments as from scratch", rounds / 2)))
}

/// Roles, rounds, a score set, judges and panels.
fn set_up(program: &Program, random: &mut Random) -> Vec<Value> {
    let (season, form, name) = (program.slug(Kind::Season, 0), program.slug(Kind::Form, 0), json!({"en_GB": "Name"}));
    let mut records = vec![
        json!({"kind": "role", "slug": "RoleJury", "name": name, "type": "judge"}),
        json!({"kind": "role", "slug": "RoleLead", "name": name, "type": "lead_judge"}),
        json!({"kind": "round", "slug": "RoundOne", "season": season, "form": form, "name": name, "type": "judge"}),
        json!({"kind": "round", "slug": "RoundTwo", "season": season, "form": form, "name": name, "type": "judge"}),
        json!({"kind": "score_set", "slug": SCORE_SET, "season": season, "form": form, "name": name, "mode": "qualifying"}),
    ];
    records.extend(PANELS.map(|slug| panel(program, random, slug)));
    records
}

/// A panel with members by chance.
fn panel(program: &Program, random: &mut Random, slug: &str) -> Value {
    let some = |random: &mut Random, of: &[String]| -> Vec<String> {
        of.iter().filter(|_| random.below(3) == 0).cloned().collect()
    };
    let categories: Vec<String> = (0..program.categories).map(|at| program.slug(Kind::Category, at)).collect();
    let mut roles = some(random, &["RoleJury".to_owned(), "RoleLead".to_owned()]);
    let judges: Vec<String> = (0..USERS).map(|at| program.slug(Kind::User, at)).collect();
    let judges = some(random, &judges);
    if judges.is_empty() {
        roles = vec!["RoleJury".to_owned()];
    }
    let cap = |random: &mut Random| Some(random.below(4) + 1).filter(|_| random.below(2) == 0);
    let round = ["RoundOne", "RoundTwo"][random.below(2) as usize];
    json!({"kind": "panel", "slug": slug, "season": program.slug(Kind::Season, 0), "score_set": SCORE_SET,
        "name": {"en_GB": slug}, "judges": judges, "roles": roles, "rounds": [round],
        "categories": if random.below(2) == 0 { some(random, &categories) } else { Vec::new() },
        "tags": if random.below(2) == 0 { vec!["one"] } else { Vec::new() },
        "statuses": [], "moderation": ["approved", "undecided"], "status": if random.below(8) == 0 { "inactive" } else { "active" },
        "judges_per_entry": cap(random), "entries_per_judge": cap(random).map(|cap| cap * 3)})
}

fn import(service: &Service, program: &Program, records: &[Value]) -> Result<()> {
    let path = service.directory().join("more.jsonl");
    fs::write(&path, records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"))?;
    service.run(&["import", &path.to_string_lossy(), "--account", &program.account])?.succeeded().map(drop)
}

/// A change by chance; one that is refused is none.
fn one_change(client: &Client, program: &Program, random: &mut Random) -> Result<()> {
    let entry = program.slug(Kind::Entry, random.below(ENTRIES));
    // The first of them manage chapters, and keep the role for that.
    let user = program.slug(Kind::User, 2 + random.below(USERS - 2));
    let of_set = json!({"judge": user, "score_set": SCORE_SET});
    let answer = match random.below(11) {
        0 | 1 => client.put(&format!("/entry/{entry}/tag/one"), &json!({})),
        2 => client.delete(&format!("/entry/{entry}/tag/one")),
        3 => {
            let category = program.slug(Kind::Category, random.below(program.categories));
            client.put(&format!("/entry/{entry}/update-category"), &json!({"category": category}))
        }
        4 => {
            let status = ["approved", "rejected"][random.below(2) as usize];
            client.put(&format!("/entry/{entry}"), &json!({"moderation_status": status}))
        }
        5 => {
            let roles = [json!(["RoleJury"]), json!(["RoleLead"]), json!(["RoleJury", "RoleLead"]), json!([])];
            client.put(&format!("/user/{user}"), &json!({"roles": roles[random.below(4) as usize]}))
        }
        6 => client.put(&format!("/entry/{entry}/recuse"), &of_set),
        7 => client.put(&format!("/entry/{entry}/unrecuse"), &of_set),
        8 => client.delete(&format!("/entry/{entry}")),
        9 => client.send("POST", &format!("/entry/{entry}/restore"), &[], None),
        _ => {
            let page = client.get(&format!("/assignment?score_set={SCORE_SET}&per_page=100"))?.json()?;
            let found = page["data"].as_array().map_or(&[][..], Vec::as_slice);
            let count = u32::try_from(found.len())?.max(1);
            let chosen = found.get(random.below(count) as usize).and_then(|item| item["slug"].as_str());
            client.put(&format!("/assignment/{}/score", chosen.unwrap_or("none")), &json!({"decision": "pass"}))
        }
    };
    let answer = answer?;
    if answer.status >= 500 {
        bail!("a change was answered {} {}", answer.status, answer.text());
    }
    Ok(())
}

/// Waits until panels have read the whole log.
fn settle(context: &Context, service: &Service) -> Result<()> {
    let sql = "SELECT count(*) FROM leases l JOIN accounts a ON a.id = l.account \
               WHERE l.name = 'panels' AND (l.position < a.sequence OR l.owner <> '')";
    let deadline = Instant::now() + PATIENCE;
    while service.ask(context, sql)? != "0" {
        if Instant::now() > deadline {
            bail!("panels do not come to the end of the log");
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// The records of an export.
fn records(export: &[u8]) -> Result<Vec<Value>> {
    let lines = std::str::from_utf8(export)?.lines();
    lines.map(|line| serde_json::from_str(line).context("a line of an export is no JSON")).collect()
}

/// What is linked, by the slug of the assignment: how, by which panels, in which rounds.
fn assigned(export: &[u8]) -> Result<BTreeMap<String, Value>> {
    let is_there = |record: &Value| {
        record["kind"] == "assignment" && record["deleted"] != true && record["score_set"] == SCORE_SET
    };
    let of = |record: Value| {
        let slug = record["slug"].as_str().unwrap_or_default().to_owned();
        (slug, json!([record["method"], record["panels"], record["rounds"]]))
    };
    Ok(records(export)?.into_iter().filter(is_there).map(of).collect())
}

/// What a new database comes to, that has everything but the sheets that were not begun.
fn from_scratch(
    context: &Context,
    engine: Engine,
    program: &Program,
    export: &[u8],
) -> Result<BTreeMap<String, Value>> {
    let is_unbegun = |record: &Value| {
        record["kind"] == "assignment" && record["method"] != "recused" && record["decision"].is_null()
    };
    let kept = records(export)?.into_iter().filter(|record| !is_unbegun(record));
    let mut service = Service::new(context, engine)?;
    let path = service.directory().join("scratch.jsonl");
    fs::write(&path, kept.map(|record| record.to_string()).collect::<Vec<_>>().join("\n"))?;
    service.import_file(&path)?.succeeded()?;
    service.start()?;
    settle(context, &service)?;
    let export = service.export(&program.account)?;
    service.stop()?;
    assigned(&export)
}

/// The first assignment that differs.
fn difference<'m>(
    is: &'m BTreeMap<String, Value>,
    wants: &'m BTreeMap<String, Value>,
) -> Option<(&'m String, Option<&'m Value>, Option<&'m Value>)> {
    let slugs = is.keys().chain(wants.keys());
    slugs.map(|slug| (slug, is.get(slug), wants.get(slug))).find(|(_, is, wants)| is != wants)
}
