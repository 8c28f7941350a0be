//! What the key of a person sees and does is what the contract says of the roles of the person, and nothing tells of the
//! rest: a reference of our own, written from the contract (section 11, "Keys of persons"), decides.

mod made;
mod reference;

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use self::made::{SCORE_SETS, World};
use self::reference::Reader;
use super::service::{Checks, Client, JSON, Random, Service, XML, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Keys of persons keep what is confidential.
pub(crate) const PROOF: Proof = Proof {
    name: "confidential",
    claim: "For every role, every operation and 1,000 random programs a person's key sees exactly what a reference says, and \
            answers of two worlds that differ only in what is hidden from the person are the same bytes.",
    run: |context| on_each_engine(context, show),
};

/// The lists of people's records, with the kind of what they show.
const LISTS: [(&str, &str); 6] = [
    ("/entry", "entry"),
    ("/contributor", "contributor"),
    ("/order", "order"),
    ("/user", "user"),
    ("/assignment", "assignment"),
    ("/document", "document"),
];

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let programs = if context.short { 4 } else { 500 };
    let (mut checks, mut asked) = (Checks::default(), 0);
    let mut random = Random::new(24);
    let mut services = [Service::new(context, engine)?, Service::new(context, engine)?];
    for service in &mut services {
        service.set("PLAUDIT_SERVER_BASE_URL", "http://proof.example");
        service.start()?;
    }
    let document = services[0].bare().get("/openapi.json")?.expect_status(200)?.json()?;
    for number in 0..programs {
        let world = World::random(number, &mut random);
        let person = &world.people[random.below(u32::try_from(world.people.len())?) as usize];
        let reader = Reader::of(&world, person);
        let other = world.with_other_secrets(&reader, &mut random);
        let [one, two] = [(&services[0], &world), (&services[1], &other)].map(|(service, world)| {
            let file = service.directory().join("account.jsonl");
            fs::write(&file, world.written())?;
            service.import_file(&file)?.succeeded()?;
            Ok::<_, anyhow::Error>(service.client(&key(service, &world.account, person)?))
        });
        let (one, two) = (one?, two?);
        asked += sees(&one, &world, &reader, &mut checks)?;
        asked += may(&one, &document, &reader, &mut checks)?;
        if !reader.sees_all() {
            asked += tells_nothing(&one, &two, &world, &mut checks)?;
        }
        let manager = services[0].client(&services[0].key(&world.account, "read_write")?);
        asked += published(&manager, &one, &world, &reader, &mut checks)?;
    }
    Ok(checks.verdict(&format!("{programs} programs, {asked} requests")))
}

/// A key of a person.
fn key(service: &Service, account: &str, user: &str) -> Result<String> {
    let made = service.run(&["key", "create", "--account", account, "--name", "proof", "--user", user])?.succeeded()?;
    Ok(String::from_utf8(made.stdout)?.trim().to_owned())
}

/// Every list and every record is seen where the reference says so, and of entries the answers that it says.
fn sees(client: &Client, world: &World, reader: &Reader<'_>, checks: &mut Checks) -> Result<usize> {
    let mut asked = 0;
    for (path, kind) in LISTS {
        if !reader.may("GET", path) {
            continue;
        }
        let names = |record: &&Value| kind != "assignment" || reader.sheet(record).is_some_and(|(_, names)| names);
        let seen: Vec<&Value> = world.of(kind).filter(|record| reader.sees(record)).collect();
        // What has no slug to the reader is counted.
        let mut wanted: Vec<&str> =
            seen.iter().map(|record| if names(record) { made::slug(record) } else { "" }).collect();
        wanted.sort_unstable();
        let season = if ["user", "document"].contains(&kind) { "" } else { "&season=all" };
        let page = client.get(&format!("{path}?per_page=100{season}"))?.expect_status(200)?.json()?;
        let data = page["data"].as_array().context("a page has no data")?;
        let mut found: Vec<&str> = data.iter().map(made::slug).collect();
        found.sort_unstable();
        checks.check(found == wanted, || format!("{} {path} shows {found:?}, not {wanted:?}", reader.about()));
        checks.check(page["total"] == wanted.len(), || format!("{path} has the total {}", page["total"]));
        asked += 1;
        if kind == "order" {
            continue;
        }
        for record in world.of(kind) {
            let answer = client.get(&format!("{path}/{}", made::slug(record)))?;
            let wanted = if reader.sees(record) && names(&record) { 200 } else { 404 };
            asked += 1;
            checks.check(answer.status == wanted, || format!("{} {record}: {}", reader.about(), answer.status));
            if answer.status == 200 && kind == "entry" {
                let shown = answer.json()?;
                let fields = shown["entry_fields"].as_array().context("an entry has no answers")?;
                let found: BTreeSet<&str> = fields.iter().map(made::slug).collect();
                let wanted = reader.answers(record);
                checks.check(found == wanted, || format!("{} {record} shows {found:?}", reader.about()));
                if let Some(wanted) = reader.members(record) {
                    let members = shown.as_object().context("an entry is no object")?.keys().map(String::as_str);
                    let mut found: Vec<&str> = members.collect();
                    found.sort_unstable();
                    checks.check(found == wanted, || format!("{} {record} has {found:?}", reader.about()));
                }
            }
            if answer.status == 200 && kind == "assignment" {
                let is_shown = !answer.json()?["comments"].is_null();
                let comments = reader.sheet(record).is_some_and(|(comments, _)| comments);
                let wanted = comments && !record["comment"].is_null();
                checks.check(is_shown == wanted, || format!("{} {record} shows comments: {is_shown}", reader.about()));
            }
        }
    }
    if reader.may("GET", "/entry/summary") {
        let live = world.of("entry").filter(|record| reader.holds(record)).count();
        let summary = client.get("/entry/summary?season=all")?.expect_status(200)?.json()?;
        checks.check(summary["total"] == live, || format!("{}: the summary has {}", reader.about(), summary["total"]));
        asked += 1;
    }
    let wanted = world.of("review_task").filter(|task| reader.sees_task(task));
    let wanted: BTreeSet<&str> = wanted.filter_map(|task| task["token"].as_str()).collect();
    let page = client.get("/review-task?season=all&per_page=100")?.expect_status(200)?.json()?;
    let data = page["data"].as_array().context("a page has no data")?;
    let found: BTreeSet<&str> = data.iter().filter_map(|task| task["token"].as_str()).collect();
    checks.check(found == wanted, || format!("{} sees the tasks {found:?}, not {wanted:?}", reader.about()));
    Ok(asked + 1)
}

/// A published result is seen by all once no embargo is on it; what judges wrote, by who entered, where that was said.
fn published(
    manager: &Client,
    client: &Client,
    world: &World,
    reader: &Reader<'_>,
    checks: &mut Checks,
) -> Result<usize> {
    let mut wanted = Vec::new();
    for (embargo, feedback) in [(Value::Null, true), (Value::Null, false), (json!("2099-01-01T00:00:00Z"), true)] {
        let body = json!({"score_set": SCORE_SETS[1].0, "embargo_until": embargo, "feedback": feedback});
        let made = manager.post("/leaderboard/publish", &body)?.expect_status(201)?.json()?;
        let slug = made::slug(&made).to_owned();
        let answer = client.get(&format!("/leaderboard/publication/{slug}"))?;
        let is_seen = reader.sees_all() || embargo.is_null();
        let about = format!("{} the publication with {body}", reader.about());
        checks.check(answer.status == if is_seen { 200 } else { 404 }, || format!("{about}: {}", answer.status));
        if !is_seen {
            continue;
        }
        let shown = answer.expect_status(200)?.json()?;
        let entries = |of: &str| -> BTreeSet<String> {
            let found = shown[of].as_array().into_iter().flatten();
            found.map(|found| made::slug(&found["entry"]).to_owned()).collect()
        };
        let is_own = |entry: &&Value| feedback && reader.has("entrant") && reader.is_entrant_of(entry);
        let own: BTreeSet<String> =
            world.of("entry").filter(is_own).map(|entry| made::slug(entry).to_owned()).collect();
        let own: BTreeSet<String> = own.intersection(&entries("places")).cloned().collect();
        checks.check(entries("comments") == own, || format!("{about}: comments {}, not of {own:?}", shown["comments"]));
        let is_whole = !shown["head"].is_null() && !shown["bundle"].is_null();
        checks.check(is_whole == reader.sees_all(), || format!("{about}: {shown}"));
        wanted.push(slug);
    }
    let page = client.get("/leaderboard/publication?per_page=100")?.expect_status(200)?.json()?;
    let mut found: Vec<&str> = page["data"].as_array().context("a page has no data")?.iter().map(made::slug).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    checks.check(found == wanted && page["total"] == wanted.len(), || {
        format!("{} sees the publications {found:?}, not {wanted:?}", reader.about())
    });
    Ok(4)
}

/// Every operation is refused where no role has it, and nowhere else.
fn may(client: &Client, document: &Value, reader: &Reader<'_>, checks: &mut Checks) -> Result<usize> {
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().context("no paths")? {
        for method in ["get", "put", "post", "delete"] {
            if item.get(method).is_none()
                || path.ends_with("/stream")
                || path.ends_with("{id}")
                || path.ends_with("/replay")
            {
                continue;
            }
            let asking = match path.as_str() {
                "/assignment/progress"
                | "/leaderboard"
                | "/leaderboard/analysis"
                | "/leaderboard/casting-vote"
                | "/leaderboard/lot" => {
                    format!("{path}?score_set=ZzZzZzZz")
                }
                path => path.replace("/assignment/{slug}", "/assignment/ZzZzZzZzZzZzZzZzZzZzZzZzJ"),
            };
            let asking =
                asking.replace("{slug}", "ZzZzZzZz").replace("{field}", "ZzZzZzZy").replace("{tab}", "ZzZzZzZx");
            let asking = asking.replace("{token}", "ZzZzZzZzZzZzZzZzZzZz").replace("{tags}", "a");
            let method = method.to_uppercase();
            let headers = [("content-type", "application/json")];
            // No body can be written: an operation that is not refused says what its body lacks.
            let body = matches!(method.as_str(), "PUT" | "POST").then_some(b"[]".as_slice());
            let answer = client.send(&method, &asking, &headers, body)?;
            let is_refused = answer.status == 403;
            let wanted = !reader.may(&method, path);
            checks.check(is_refused == wanted, || format!("{} {method} {path}: {}", reader.about(), answer.status));
            asked += 1;
        }
    }
    Ok(asked)
}

/// Requests to both worlds are answered with the same bytes and tags.
fn tells_nothing(one: &Client, two: &Client, world: &World, checks: &mut Checks) -> Result<usize> {
    let mut questions: Vec<(&str, String, Option<Value>)> = Vec::new();
    for path in PATHS {
        questions.push(("GET", (*path).to_owned(), None));
    }
    for (path, kind) in LISTS {
        let records = world.of(kind).map(made::slug).chain(["ZzZzZzZz"]);
        questions.extend(records.map(|slug| ("GET", format!("{path}/{slug}"), None)));
    }
    for entry in world.of("entry").map(made::slug) {
        // What is answered with success shows the time of the request.
        questions.push(("PUT", format!("/entry/{entry}"), Some(json!({"title": 1, "entry_fields": {"ZzZzZzZz": 1}}))));
        questions.push(("POST", "/contributor".to_owned(), Some(json!({"entry": entry, "tab": "ZzZzZzZz"}))));
    }
    let mut asked = 0;
    for (method, path, body) in &questions {
        let text = body.as_ref().map(Value::to_string);
        for format in [JSON, XML] {
            let mut headers = vec![("accept", format)];
            headers.extend(text.is_some().then_some(("content-type", "application/json")));
            let [one, two] =
                [one, two].map(|client| client.send(method, path, &headers, text.as_deref().map(str::as_bytes)));
            let (one, two) = (one?, two?);
            asked += 2;
            let told = |answer: &super::service::Answer| {
                // Each service signs the addresses of files by a secret of its own.
                let text = answer.text();
                let mut parts = text.split("signature=");
                let first = parts.next().unwrap_or_default().to_owned();
                let rest: Vec<&str> = parts.map(|part| part.get(SIGNATURE..).unwrap_or_default()).collect();
                let tag = answer.header("etag").filter(|_| rest.is_empty()).map(str::to_owned);
                (answer.status, tag, first + &rest.concat())
            };
            checks.check(told(&one) == told(&two), || {
                format!("{method} {path}:\n  {:?}\n  {:?}", told(&one), told(&two))
            });
        }
    }
    Ok(asked)
}

/// The length of the signature of an address.
const SIGNATURE: usize = 43;

/// Reads whose answers are compared.
const PATHS: &[&str] = &[
    "/account",
    "/entry?season=all&per_page=2",
    "/entry?season=all&include=entry_fields,contributors&order=title",
    "/entry?season=all&cursor=&per_page=1",
    "/entry?season=all&tag=secret",
    "/entry?season=all&order=updated",
    "/entry?season=all&moderation=undecided",
    "/assignment?season=all",
    "/assignment?season=all&order=status",
    "/assignment?season=all&tag=secret",
    "/assignment?season=all&cursor=&per_page=2",
    "/review-task?season=all",
    "/entry/summary",
    "/contributor?season=all&order=FieldHid",
    "/contributor?season=all&order=entry&dir=desc",
    "/order?season=all&order=total",
    "/order?count=none&season=all",
    "/user?order=name",
    "/user?entries=none",
    "/user?entries=current_season",
    "/document?deleted=included",
    "/document?order=name&per_page=2",
    "/category?order=entry_count",
    "/field?season=all",
    "/chapter",
    "/event",
    "/job",
    "/webhook",
];
