//! Retries with an `Idempotency-Key`, whatever became of the service since the first request.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use super::service::{Answer, Checks, Client, JSON, Kind, Program, Random, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// A retry is answered as the first request was, and does nothing.
pub(crate) const PROOF: Proof = Proof {
    name: "idempotent",
    claim: "10,000 retries over restarts, base addresses and two nodes get the first answer byte for byte, or 409 with the \
            Location where it was larger than is kept; nothing is done twice, and what is kept stays within the quota.",
    run: |context| on_each_engine(context, show),
};

/// The longest body that is kept (contract, section 1).
const LONGEST: usize = 64 << 10;
/// Connections at the same time, every other one to the second node.
const THREADS: u32 = 8;
/// How long a text is whose answer is not kept, and one that soon fills the quota.
const TEXTS: (usize, usize) = (70_000, 28_000);

/// What there is of everything.
struct Scale {
    requests: u32,
    rounds: u32,
    retries: u32,
    races: u32,
    megabytes: u32,
}

const WHOLE: Scale = Scale { requests: 500, rounds: 5, retries: 2_000, races: 40, megabytes: 4 };
const SHORT: Scale = Scale { requests: 60, rounds: 2, retries: 150, races: 6, megabytes: 1 };

/// A request with its key.
struct Request {
    name: String,
    method: &'static str,
    path: String,
    body: Option<Value>,
    format: &'static str,
}

impl Request {
    fn send(&self, client: &Client) -> Result<Answer> {
        let headers = [("idempotency-key", self.name.as_str()), ("accept", self.format)];
        let body = self.body.as_ref().map(Value::to_string);
        let client = if body.is_some() { client.with("content-type", "application/json") } else { client.clone() };
        client.send(self.method, &self.path, &headers, body.as_deref().map(str::as_bytes))
    }

    /// Whether a retry is answered as the first time, or that its answer is not kept, which `may_lack` a short one too.
    fn is_answered(&self, first: &Answer, base: &str, again: &Answer, may_lack: bool) -> bool {
        let same = |name| first.header(name) == again.header(name);
        let is_same = first.status == again.status
            && first.body == again.body
            && ["content-type", "etag", "location"].into_iter().all(same);
        let record: Vec<&str> = self.path.split('/').take(3).collect();
        let location = first.header("location").map_or_else(|| format!("{base}{}", record.join("/")), str::to_owned);
        let is_done = again.status == 409 && again.header("location") == Some(location.as_str());
        let is_marked = again.header("idempotency-replayed") == Some("true");
        let is_long = first.body.len() > LONGEST;
        is_marked && (is_same && !is_long || is_done && (is_long || may_lack))
    }
}

/// What both nodes of an installation are.
struct Nodes {
    first: Service,
    second: Service,
}

impl Nodes {
    /// Ends both nodes, as a power failure would every other time, and starts them under another base address.
    fn restart(mut self, round: u32) -> Result<Self> {
        drop(self.second);
        if round.is_multiple_of(2) {
            self.first.kill()?;
        } else {
            self.first.stop()?;
        }
        self.first.set("PLAUDIT_SERVER_BASE_URL", &format!("https://region{round}.awards.example"));
        self.first.start()?;
        Ok(Self { second: self.first.beside()?, first: self.first })
    }

    /// Carries out so many pieces of work on [`THREADS`] connections, and returns what they gave.
    fn at_once<T: Send>(
        &self,
        key: &str,
        count: u32,
        work: impl Fn(&Client, u32) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (next, work) = (&AtomicU32::new(0), &work);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let client = [&self.first, &self.second][usize::from(number % 2 == 1)].client(key);
                    scope.spawn(move || {
                        let mut done = Vec::new();
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            if number >= count {
                                return Ok(done);
                            }
                            done.push(work(&client, number)?);
                        }
                    })
                })
                .collect();
            let done = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?);
            Ok(done.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let program = Program::small(8);
    let mut first = Service::new(context, engine)?;
    first.set("PLAUDIT_LIMITS_IDEMPOTENCY_MEGABYTES", &scale.megabytes.to_string());
    first.set("PLAUDIT_SERVER_BASE_URL", "https://awards.example");
    first.import(&program)?;
    first.start()?;
    let key = first.key(&program.account, "read_write")?;
    let mut nodes = Nodes { second: first.beside()?, first };
    let mut checks = Checks::default();

    let requests: Vec<Request> = (0..scale.requests).map(|number| request(&program, number)).collect();
    let client = nodes.first.client(&key);
    let answers: Vec<Answer> = requests.iter().map(|request| request.send(&client)).collect::<Result<_>>()?;
    for status in [200, 201, 204, 404, 422] {
        let is_there = answers.iter().any(|answer| answer.status == status);
        checks.check(is_there, || format!("no first answer is {status}"));
    }
    let long = answers.iter().filter(|answer| answer.body.len() > LONGEST).count();
    checks.check(long > 0, || "no first answer is longer than is kept".to_owned());
    let changes = sequence(context, &nodes.first)?;
    for round in 1..=scale.rounds {
        nodes = nodes.restart(round)?;
        let outcomes = nodes.at_once(&key, scale.retries, |client, number| {
            let at = usize::try_from(Random::new(u64::from(round) << 32 | u64::from(number)).below(scale.requests))?;
            let again = requests[at].send(client)?;
            Ok((at, requests[at].is_answered(&answers[at], "https://awards.example", &again, false), again))
        })?;
        for (at, is_answered, again) in outcomes {
            checks.check(is_answered, || differs(&requests[at], &answers[at], &again));
        }
        let now = sequence(context, &nodes.first)?;
        checks.check(now == changes, || format!("round {round}: {} changes more than before", now - changes));
        println!(
            "  {}: round {round}: {} retries, {long} of the requests with long answers",
            engine.name(),
            scale.retries
        );
    }
    races(context, &nodes, &program, (&key, scale.races), &mut checks)?;
    let (kept, bytes) = quota(context, &nodes, &program, (&key, scale.megabytes), &mut checks)?;
    println!("  {}: {kept} long answers kept, {bytes} bytes in all", engine.name());
    let retries = scale.rounds * scale.retries;
    Ok(checks.verdict(&format!("{retries} retries over {} restarts, {bytes} bytes kept", scale.rounds)))
}

fn differs(request: &Request, first: &Answer, again: &Answer) -> String {
    let told = |answer: &Answer| {
        let text: String = answer.text().chars().take(200).collect();
        format!("{} {:?} {text}", answer.status, answer.header("location"))
    };
    format!("{} {} was answered {}, and again {}", request.method, request.path, told(first), told(again))
}

/// Requests of every sort: changes, new records, deletions, errors, and answers that are longer than is kept.
fn request(program: &Program, number: u32) -> Request {
    let entry = |first: u32| format!("/entry/{}", program.slug(Kind::Entry, first + number % 12));
    let spare = program.slug(Kind::Field, field::SPARE + number / 8 % (field::COUNT - field::SPARE));
    let (method, path, body) = match number % 8 {
        0 | 1 => ("PUT", entry(0), Some(json!({"title": format!("Title {number}")}))),
        2 => ("POST", "/entry".to_owned(), Some(new_entry(program, &format!("New {number}")))),
        3 => long_text(program, number, TEXTS.0),
        4 => ("DELETE", format!("/field/{spare}"), None),
        5 => ("PUT", entry(0), Some(json!({"title": "", "no such member": number}))),
        6 => ("PUT", "/entry/NoSuchEn".to_owned(), Some(json!({"title": "x"}))),
        _ => ("PUT", format!("{}/tag/tag{number}", entry(0)), None),
    };
    let format = if number.is_multiple_of(3) { XML } else { JSON };
    Request { name: format!("request {number}"), method, path, body, format }
}

fn new_entry(program: &Program, title: &str) -> Value {
    json!({
        "category": program.slug(Kind::Category, 0), "entrant": program.slug(Kind::User, 0),
        "season": program.slug(Kind::Season, 0), "title": title,
    })
}

/// Gives one of the entries that no other request is about a text of this length, which its answers show.
fn long_text(program: &Program, number: u32, length: usize) -> (&'static str, String, Option<Value>) {
    let (entry, field) = (program.slug(Kind::Entry, 12 + number % 12), program.slug(Kind::Field, field::TEXTAREA));
    let body = json!({"value": format!("{number} {}", "x".repeat(length))});
    ("PUT", format!("/entry/{entry}/update-field/{field}"), Some(body))
}

/// One request that both nodes get several times at once is done once, and all who are answered get the same.
fn races(
    context: &Context,
    nodes: &Nodes,
    program: &Program,
    (key, races): (&str, u32),
    checks: &mut Checks,
) -> Result<()> {
    let entries =
        |nodes: &Nodes| -> Result<u32> { Ok(nodes.first.ask(context, "SELECT count(*) FROM entries")?.parse()?) };
    let before = entries(nodes)?;
    for race in 0..races {
        let (name, body) = (format!("race {race}"), Some(new_entry(program, &format!("Race {race}"))));
        let request = Request { name, method: "POST", path: "/entry".to_owned(), body, format: JSON };
        let answers = nodes.at_once(key, THREADS, |client, _| request.send(client))?;
        let done: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
        let is_good = answers.iter().all(|answer| [201, 409].contains(&answer.status));
        checks.check(is_good && !done.is_empty(), || format!("race {race}: {:?}", statuses(&answers)));
        let is_one = done.iter().all(|answer| answer.body == done[0].body && answer.header("etag").is_some());
        checks.check(is_one, || format!("race {race}: two answers differ"));
    }
    let made = entries(nodes)? - before;
    checks.check(made == races, || format!("{made} entries were made by {races} requests"));
    Ok(())
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

/// Fills the quota with answers that are short enough to be kept; gives how many of them were, and the bytes of all.
fn quota(
    context: &Context,
    nodes: &Nodes,
    program: &Program,
    (key, megabytes): (&str, u32),
    checks: &mut Checks,
) -> Result<(usize, usize)> {
    let client = nodes.second.client(key);
    let base = "https://awards.example";
    let mut kept = 0;
    // A quarter more than there is room for.
    let count = megabytes * 24;
    for number in 0..count {
        let (method, path, body) = long_text(program, number, TEXTS.1);
        let request = Request { name: format!("quota {number}"), method, path, body, format: JSON };
        let first = request.send(&client)?.expect_status(200)?;
        checks.check((TEXTS.1..=LONGEST).contains(&first.body.len()), || format!("{} bytes", first.body.len()));
        let again = request.send(&nodes.first.client(key))?;
        kept += usize::from(again.status == 200);
        let base = again.header("location").and_then(|location| location.split("/entry/").next()).unwrap_or(base);
        checks.check(request.is_answered(&first, base, &again, true), || differs(&request, &first, &again));
    }
    checks.check((1..usize::try_from(count)?).contains(&kept), || format!("{kept} of {count} answers are kept"));
    let bytes = nodes.first.ask(context, "SELECT sum(length(body)) FROM idempotent_answers")?.parse()?;
    let used: usize = nodes.first.ask(context, "SELECT bytes FROM idempotent_usage")?.parse()?;
    let most = usize::try_from(megabytes).context("too many megabytes")? << 20;
    // The marks of answers that are not kept, and of errors that are no longer than one, come on top.
    let marks: usize =
        nodes.first.ask(context, "SELECT count(*) FROM idempotent_answers WHERE length(body) < 400")?.parse()?;
    checks.check(used == bytes, || format!("{used} bytes are counted, and there are {bytes}"));
    checks.check(bytes <= most + 400 * marks, || format!("{bytes} bytes are kept, and the quota is {most}"));
    Ok((kept, bytes))
}

fn sequence(context: &Context, service: &Service) -> Result<i64> {
    Ok(service.ask(context, "SELECT sum(sequence) FROM accounts")?.parse()?)
}
