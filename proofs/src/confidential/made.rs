//! Random programs: people of every role, chapters with managers, entries with answers that applicants may or may not read.

use serde_json::{Value, json};

use super::reference::Reader;
use crate::service::Random;

/// The types of roles.
pub(super) const ROLES: [&str; 9] =
    ["program_manager", "chapter_manager", "entrant", "judge", "lead_judge", "voter", "guest", "bookkeeper", "auditor"];

/// The fields: whether applicants read and whether they write the answers.
pub(super) const FIELDS: [(&str, bool, bool); 4] =
    [("FieldBot", true, true), ("FieldRea", true, false), ("FieldWri", false, true), ("FieldNei", false, false)];

/// The score sets with their modes.
pub(super) const SCORE_SETS: [(&str, &str); 2] = [("ScoreAaA", "vip_judging"), ("ScoreBbB", "qualifying")];

/// The file of all documents.
const DOCUMENT: &str = "TokenOfTheFileOfDocument";

const TIME: &str = "2026-01-01T00:00:00.000000Z";

/// The records of an account.
#[derive(Clone)]
pub(super) struct World {
    pub(super) account: String,
    pub(super) people: Vec<String>,
    pub(super) lines: Vec<Value>,
}

/// A slug of these letters and a number.
fn named(beginning: &str, number: u32) -> String {
    let letter = |part: u32| char::from(b'a' + u8::try_from(part % 26).unwrap_or_default());
    let digits = 8 - beginning.len();
    let places: Vec<char> =
        (0..digits).rev().map(|place| letter(number / 26_u32.pow(u32::try_from(place).unwrap_or_default()))).collect();
    format!("{beginning}{}", places.into_iter().collect::<String>())
}

/// The slug of a record or of what is shown.
pub(super) fn slug(record: &Value) -> &str {
    record["slug"].as_str().unwrap_or_default()
}

impl World {
    /// The program of this number.
    pub(super) fn random(number: u32, random: &mut Random) -> Self {
        let account = named("Acco", number);
        let mut world = Self { account: account.clone(), people: Vec::new(), lines: Vec::new() };
        world.set_up(number, random);
        world.add_people(number, random);
        let managers: Vec<String> =
            world.of("user").filter(|user| has(user, "chapter_manager")).map(slug).map(str::to_owned).collect();
        for chapter in 0..3 {
            let managing: Vec<&String> = managers.iter().filter(|_| random.below(2) == 0).collect();
            world.add(
                "chapter",
                &named("Chap", chapter),
                json!({
                "season": "SeasonAa", "name": {"en_GB": "C"}, "status": "active", "managers": managing}),
            );
        }
        for entry in 0..12 {
            let entrant = world.any_user(random);
            let slug = named("Entr", entry);
            let answers: serde_json::Map<String, Value> =
                FIELDS.iter().map(|(field, ..)| ((*field).to_owned(), json!("a"))).collect();
            world.add("entry", &slug, json!({
                "local_id": entry + 1, "title": format!("T{}", random.below(5)), "season": "SeasonAa", "category": "CategoAa",
                "chapter": named("Chap", random.below(3)), "form": "FormAaAa", "entrant": entrant, "entry_fields": answers}));
            if random.below(2) == 0 {
                world.add(
                    "contributor",
                    &named("Cont", entry),
                    json!({
                    "entry": slug, "tab": "TabConAa", "fields": {"FieldHid": "x", "FieldSee": "y"}}),
                );
            }
        }
        world.add_judging(random);
        for order in 0..8 {
            let user = world.any_user(random);
            let entries: Vec<u32> = (0..random.below(3)).map(|_| random.below(12)).collect();
            let item =
                |entry: &u32| json!({"description": "E", "amount": 1.00, "name": "E", "entry": named("Entr", *entry)});
            world.add(
                "order",
                &named("Orde", order),
                json!({
                "invoice_number": (order + 1).to_string(), "season": "SeasonAa", "user": user, "currency": "GBP",
                "items": entries.iter().map(item).collect::<Vec<_>>(), "created_at": TIME}),
            );
        }
        world.lines.push(json!({"kind": "file", "token": DOCUMENT, "filename": "a.pdf", "data": "", "created": TIME}));
        for document in 0..8 {
            let user = world.any_user(random);
            let entry = (random.below(2) == 0).then(|| named("Entr", random.below(12)));
            let about = if entry.is_none() { json!(user) } else { Value::Null };
            world.add(
                "document",
                &named("Docu", document),
                json!({
                "name": {"en_GB": "D"}, "file": DOCUMENT, "filename": "a.pdf", "file_type": "PDF", "entry": entry, "user": about,
                "recipient": user, "shared_with_user": random.below(2) == 0, "deleted": random.below(4) == 0,
                "created_at": TIME}),
            );
        }
        world
    }

    /// Score sets that show what they show, assignments with sheets of one of them, and review tasks.
    fn add_judging(&mut self, random: &mut Random) {
        let when = ["never", "after_own", "always"];
        for (set, mode) in SCORE_SETS {
            let shows = json!({
                "others_scores": when[random.below(3) as usize], "others_comments": when[random.below(3) as usize],
                "names_of_judges": random.below(2) == 0, "entrants": random.below(2) == 0});
            self.add(
                "score_set",
                set,
                json!({
                "season": "SeasonAa", "form": "FormAaAa", "name": {"en_GB": "S"}, "mode": mode, "shows": shows}),
            );
        }
        let judging = ["judge", "lead_judge", "voter"];
        let judges = self.of("user").filter(|user| judging.iter().any(|role| has(user, role)));
        let judges: Vec<String> = judges.map(slug).map(str::to_owned).collect();
        for entry in 0..12 {
            for judge in &judges {
                for (set, mode) in SCORE_SETS {
                    if random.below(4) != 0 {
                        continue;
                    }
                    let entry = named("Entr", entry);
                    let method = ["manual", "manual", "manual", "stray", "recused"][random.below(5) as usize];
                    let mut assignment = json!({"entry": entry, "judge": judge, "score_set": set, "method": method,
                        "is_conflicted": random.below(5) == 0});
                    if mode == "qualifying" && random.below(2) == 0 {
                        let slug = named("Comm", random.below(26 * 26 * 26 * 26));
                        assignment["decision"] = "pass".into();
                        assignment["comment"] = json!({
                            "slug": slug, "comment": "said", "user": judge, "created_at": TIME, "updated_at": TIME});
                    }
                    self.add("assignment", &format!("{entry}{judge}{set}J"), assignment);
                }
            }
        }
        self.add("review_stage", "StageAaA", json!({
            "season": "SeasonAa", "form": "FormAaAa", "name": {"en_GB": "R"}, "timing": "after_submission", "start": "manual",
            "reviewers": [{"name": "N", "email": "nobody@example.org"}]}));
        for task in 0..6 {
            let user = self.any_user(random);
            let email = self.of("user").find(|record| slug(record) == user).map(|user| user["email"].clone());
            self.lines.push(json!({
                "kind": "review_task", "token": format!("Task{}TaskTaskTaskTask", named("Toke", task)).get(..24),
                "entry": named("Entr", task), "review_stage": "StageAaA", "reviewer": [{"name": "N", "email": email}],
                "created": TIME, "updated": TIME}));
        }
    }

    fn set_up(&mut self, number: u32, random: &mut Random) {
        let account = self.account.clone();
        self.add("account", &account, json!({
            "name": "A", "default_language": "en_GB", "languages": ["en_GB", "de_DE"], "timezone": "Europe/London",
            "features": ["api"], "rate_limit": 1_000_000, "global_id": format!("00000000-0000-4000-8000-{number:012}")}));
        self.add("season", "SeasonAa", json!({"name": {"en_GB": "S"}, "status": "active"}));
        self.add(
            "form",
            "FormAaAa",
            json!({"season": "SeasonAa", "name": {"en_GB": "F"}, "type": "entry", "chapter_option": "all"}),
        );
        for (tab, kind) in [("TabGenAa", "General"), ("TabConAa", "Contributors")] {
            self.add(
                "tab",
                tab,
                json!({"form": "FormAaAa", "type": kind, "order": 1, "created_at": TIME, "updated_at": TIME}),
            );
        }
        self.add(
            "category",
            "CategoAa",
            json!({"season": "SeasonAa", "form": "FormAaAa", "name": {"en_GB": "C"}, "status": "active"}),
        );
        let field = |resource: &str, tab: &str, read: bool, write: bool| {
            json!({"form": "FormAaAa", "season": "SeasonAa", "tab": tab, "resource": resource, "type": "text", "title": {"en_GB": "Q"},
                "applicant_read_access": read, "applicant_write_access": write})
        };
        for (slug, read, write) in FIELDS {
            let mut field = field("entries", "TabGenAa", read, write);
            let modes = ["scoring", "qualifying", "top_pick"].into_iter().filter(|_| random.below(2) == 0);
            field["visibility"] = modes.collect::<Vec<_>>().into();
            self.add("field", slug, field);
        }
        self.add("field", "FieldHid", field("contributors", "TabConAa", false, false));
        self.add("field", "FieldSee", field("contributors", "TabConAa", true, true));
        for role in ROLES {
            self.add("role", &role_slug(role), json!({"name": {"en_GB": role}, "type": role}));
        }
    }

    fn add_people(&mut self, number: u32, random: &mut Random) {
        for user in 0..14 {
            let single = usize::try_from(user).unwrap_or_default();
            let roles: Vec<&str> = match ROLES.get(single) {
                Some(role) => vec![role],
                None => ROLES.into_iter().filter(|_| random.below(4) == 0).collect(),
            };
            let slug = named("User", user);
            self.add_user(number, user, &roles);
            self.people.push(slug);
        }
    }

    fn add_user(&mut self, number: u32, user: u32, roles: &[&str]) {
        let slugs: Vec<String> = roles.iter().map(|role| role_slug(role)).collect();
        self.add("user", &named("User", user), json!({
            "first_name": format!("N{user}"), "last_name": "L", "email": format!("u{user}.{number}@example.org"), "roles": slugs,
            "global_id": format!("00000000-0000-4000-9000-{number:06}{user:06}"), "created_at": TIME}));
    }

    fn any_user(&self, random: &mut Random) -> String {
        self.people[random.below(14) as usize % self.people.len()].clone()
    }

    fn add(&mut self, kind: &str, slug: &str, mut members: Value) {
        members["kind"] = kind.into();
        members["slug"] = slug.into();
        for time in ["created", "updated"] {
            if !["tab", "user", "order", "document"].contains(&kind) || time == "updated" && kind != "tab" {
                members[time] = TIME.into();
            }
        }
        self.lines.push(members);
    }

    /// The records of a kind.
    pub(super) fn of<'w>(&'w self, kind: &'w str) -> impl Iterator<Item = &'w Value> {
        self.lines.iter().filter(move |record| record["kind"] == kind)
    }

    /// What is named by records that a reader sees.
    fn shown_by_others<'w>(&'w self, reader: &Reader<'_>) -> Vec<&'w Value> {
        // An order that is seen shows the titles of its entries and the name of who ordered.
        let orders = self.of("order").filter(|order| reader.sees(order));
        orders
            .flat_map(|order| {
                let items = order["items"].as_array().into_iter().flatten().map(|item| &item["entry"]);
                items.chain([&order["user"]])
            })
            .chain(self.of("assignment").filter(|found| reader.sees(found)).map(|found| &found["entry"]))
            .chain(self.of("review_task").filter(|found| reader.sees_task(found)).map(|found| &found["entry"]))
            .chain(
                self.of("document")
                    .filter(|found| reader.lists(found))
                    .flat_map(|found| [&found["entry"], &found["user"]]),
            )
            // Who manages a chapter sees who else does.
            .chain(
                self.of("chapter")
                    .filter(|found| reader.manages(slug(found)))
                    .flat_map(|found| found["managers"].as_array().into_iter().flatten()),
            )
            // An entry that is judged can show its entrant, and an assignment its judge.
            .chain(self.of("entry").filter(|found| reader.sees(found)).map(|found| &found["entrant"]))
            .chain(
                self.of("assignment")
                    .filter(|found| reader.sheet(found).is_some_and(|(_, names)| names))
                    .map(|found| &found["judge"]),
            )
            .collect()
    }

    /// The same world to a reader, and another one to those who see more: what the reader does not see is changed, and more
    /// of it is there.
    pub(super) fn with_other_secrets(&self, reader: &Reader<'_>, random: &mut Random) -> Self {
        let mut other = self.clone();
        let shown = self.shown_by_others(reader);
        for record in &mut other.lines {
            let is_seen = reader.sees(record) || shown.contains(&&record["slug"]);
            match record["kind"].as_str() {
                Some("entry") if !is_seen => record["title"] = format!("secret {}", random.below(100)).into(),
                // What is shown of an entry by an order alone has no answers.
                Some("entry") => {
                    if !reader.holds(record) {
                        record["tags"] = "secret".into();
                        record["updated"] = format!("2026-02-{:02}T00:00:00.000000Z", 1 + random.below(28)).into();
                    }
                    let answers = reader.answers(record).into_iter().map(str::to_owned).collect::<Vec<_>>();
                    for (field, ..) in FIELDS.iter().filter(|(field, ..)| !answers.iter().any(|seen| seen == field)) {
                        record["entry_fields"][*field] = format!("secret {}", random.below(100)).into();
                    }
                }
                Some("assignment")
                    if reader.sheet(record).is_none_or(|(comments, _)| !comments) && !record["comment"].is_null() =>
                {
                    record["comment"]["comment"] = "secret".into();
                }
                Some("contributor") if !is_seen => record["fields"]["FieldSee"] = "secret".into(),
                Some("document") if !reader.lists(record) => record["name"]["en_GB"] = "secret".into(),
                Some("user") if !is_seen => record["last_name"] = "Secret".into(),
                _ => {}
            }
        }
        // Somebody whom nobody knows enters in a chapter that is not the reader's.
        let chapter = self.of("chapter").map(slug).find(|chapter| !reader.manages(chapter));
        if let Some(chapter) = chapter {
            let number = self.account.bytes().fold(7, |sum, byte| sum * 31 % 900_000 + u32::from(byte));
            other.add_user(number, 77, &["entrant"]);
            other.add(
                "entry",
                "SecretAa",
                json!({
                "local_id": 90, "title": "secret", "season": "SeasonAa", "category": "CategoAa", "chapter": chapter,
                "form": "FormAaAa", "entrant": named("User", 77)}),
            );
            other.add(
                "contributor",
                "SecretBb",
                json!({"entry": "SecretAa", "tab": "TabConAa", "fields": {"FieldSee": "z"}}),
            );
            other.add(
                "document",
                "SecretDd",
                json!({
                "name": {"en_GB": "secret"}, "file": DOCUMENT, "filename": "a.pdf", "file_type": "PDF", "entry": "SecretAa",
                "recipient": named("User", 77), "shared_with_user": true, "created_at": TIME}),
            );
            if !reader.has("bookkeeper") {
                other.add("order", "SecretCc", json!({
                    "invoice_number": "90", "season": "SeasonAa", "user": named("User", 77), "currency": "GBP", "created_at": TIME,
                    "items": [{"description": "E", "amount": 1.00, "name": "E", "entry": "SecretAa"}]}));
            }
        }
        other
    }

    /// The program file.
    pub(super) fn written(&self) -> String {
        self.lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
    }
}

/// The slug of the role of a type.
pub(super) fn role_slug(role: &str) -> String {
    let number = ROLES.iter().position(|name| *name == role).unwrap_or_default();
    named("Role", u32::try_from(number).unwrap_or_default())
}

/// Whether a user has a role of a type.
pub(super) fn has(user: &Value, role: &str) -> bool {
    let slug = role_slug(role);
    user["roles"].as_array().is_some_and(|roles| roles.iter().any(|held| held == slug.as_str()))
}
