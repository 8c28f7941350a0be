//! The schema says what the readers do.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::program::accounts::Account;
use crate::program::{Context, Member, Presence, SetupRecord, Shape, for_setup_kind, references};
use crate::transfer::schema::{members, schema};
use kernel::input::{Members, Violations};
use kernel::json::{Object as JsonObject, parse_object};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp};

/// Members of which the reader knows more than a schema can say, and what.
const FINER: &[(Kind, &str, &str)] = &[
    (Kind::Account, "timezone", "the names of time zones"),
    (Kind::Account, "hosts", "what a host name is"),
    (Kind::Account, "default_language", "that it is one of the languages"),
    (Kind::DocumentTemplate, "body", "that it stands where there is no layout"),
    (Kind::Field, "tab", "that an entry's field stands somewhere"),
    (Kind::Field, "conditional_field", "that it is the field of conditional"),
    (Kind::Field, "options", "that no value comes twice"),
    (Kind::Field, "minimum_characters", "that it is not above the maximum"),
    (Kind::Field, "minimum_words", "that it is not above the maximum"),
    (Kind::Field, "file_types", "how long one is, and that capitals tell none apart"),
    (Kind::Field, "columns", "that the key of a column does not end in a digit"),
    (Kind::Price, "tag", "that the type tag needs one"),
    (Kind::Discount, "code", "that there are no blanks around it"),
    (Kind::Discount, "amounts", "that something is taken off, and how many decimals an amount has"),
    (Kind::Price, "amounts", "how many decimals an amount has, and what a day is"),
    (Kind::Panel, "tags", "that there are neither commas nor blanks around them"),
    (Kind::Panel, "judges", "that there are judges or roles"),
    (Kind::ReviewStage, "reviewers", "what an e-mail address is, that nobody is named twice, and that somebody is"),
    (Kind::ReviewStage, "on_proceed", "that it says nothing before the submission"),
    (Kind::ReviewStage, "on_stop", "that it says nothing before the submission"),
    (Kind::ReviewStage, "deadline_days", "that it stands with on_deadline"),
    (Kind::ReviewStage, "on_deadline", "that it stands with deadline_days"),
    (Kind::ScoreSet, "vip_judging", "that less than half is trimmed, and with how many decimals"),
    (Kind::ScoreSet, "tie_break", "what a step needs, and that none comes twice"),
    (Kind::Webhook, "headers", "which names and characters are those of a header, and which names are not ours"),
    (Kind::Webhook, "notification_emails", "what an e-mail address is"),
    (Kind::Webhook, "replaced_keys", "what a time is"),
    (Kind::Webhook, "url", "what a web address is"),
];

/// Rules of every kind that a schema cannot say: what a day is, how many decimals a number has.
fn is_finer(kind: Kind, member: &Member) -> bool {
    let by_shape = matches!(member.shape, Shape::Time | Shape::LocalTime | Shape::Date | Shape::Number(..));
    by_shape || FINER.iter().any(|(other, name, _)| *other == kind && *name == member.name)
}

fn kinds() -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| *kind == Kind::Account || kind.is_setup()).collect()
}

fn context() -> Context {
    Context { languages: Locale::ALL.to_vec(), default_language: Locale::EnGb, now: Timestamp::from_seconds(1_000) }
}

/// Reads a record as an apply does; gives what is wrong, and every member that was asked for.
fn read(kind: Kind, record: &Value) -> (Violations, BTreeSet<String>) {
    fn typed<T: SetupRecord>(record: &Value) -> (Violations, BTreeSet<String>) {
        let context = context();
        let text = record.to_string();
        let object = parse_object(text.as_bytes()).unwrap();
        let mut members = Members::closed(&object).noting();
        let _ = T::read(&mut members, Slug::parse("RecordAA").unwrap(), &context);
        let asked = members.asked();
        (members.finish(), asked)
    }
    if kind == Kind::Account {
        return typed::<Account>(record);
    }
    for_setup_kind!(kind, T => typed::<T>(record)).unwrap()
}

/// A value of a shape.
fn sample(shape: &Shape) -> Value {
    match shape {
        Shape::Any | Shape::Text(_) | Shape::FilledText(_) => json!("text"),
        Shape::Pattern(pattern) => json!(if pattern.contains('@') { "a@example.org" } else { "GB" }),
        Shape::Flag => json!(true),
        Shape::Integer(minimum, _) => json!(minimum),
        Shape::Number(minimum, _) => json!(minimum.unwrap_or(1)),
        Shape::Ref(kind) => json!(format!("{}AAAAAAAA", kind.name().replace('_', ""))[..8]),
        Shape::Slug => json!("AnySlugA"),
        Shape::Token => json!("TokenTokenToken"),
        Shape::Time => json!("2026-01-31T08:30:00.000000Z"),
        Shape::LocalTime => json!("2026-01-31 08:30:00"),
        Shape::Date => json!("2026-01-31"),
        Shape::OneOf(names) => json!(names()[0]),
        Shape::Translated(_) => json!({ "en_GB": "text" }),
        Shape::List(item, _) | Shape::Set(item, _) | Shape::FilledSet(item, _) => json!([sample(item)]),
        Shape::Object(members) | Shape::OpenObject(members) => {
            let stated = members.iter().filter(|member| member.presence != Presence::Computed);
            Value::Object(stated.map(|member| (member.name.to_owned(), sample(&member.shape))).collect())
        }
        Shape::Either(shapes) => sample(&shapes[shapes.len() - 1]),
        Shape::Texts(..) => json!({ "X-Name": "text" }),
        Shape::Only(text) => json!([text]),
        Shape::Component(name) => panic!("{name} stands in no program file"),
    }
}

/// Values at the bounds of a shape and behind them.
fn bounds(shape: &Shape) -> Vec<Value> {
    let text = |length: usize| json!("é".repeat(length));
    match shape {
        Shape::Text(max) | Shape::FilledText(max) => vec![text(*max), text(max + 1), json!(""), json!("  \t")],
        Shape::Integer(minimum, maximum) => {
            [minimum - 1, *minimum, *maximum, maximum + 1].into_iter().map(|number| json!(number)).collect()
        }
        Shape::Number(minimum, maximum) => {
            let bounds = minimum.iter().flat_map(|bound| [bound - 1, *bound]);
            bounds.chain(maximum.iter().flat_map(|bound| [*bound, bound + 1])).map(|bound| json!(bound)).collect()
        }
        Shape::OneOf(names) => names().into_iter().map(|name| json!(name)).collect(),
        Shape::Translated(max) => {
            vec![
                json!({ "de_DE": text(*max) }),
                json!({ "de_DE": text(max + 1) }),
                json!({ "en": "x" }),
                json!({ "de_DE": 1 }),
            ]
        }
        Shape::List(item, max) | Shape::Set(item, max) | Shape::FilledSet(item, max) => {
            let mut values: Vec<Value> = bounds(item).into_iter().map(|value| json!([value])).collect();
            values.push(json!(["?", sample(item)]));
            values.push(json!([sample(item), sample(item)]));
            values.push(json!([]));
            if *max <= 1_000 {
                values.push(json!(vec![json!("?"); max + 1]));
            }
            values
        }
        Shape::Texts(most, length) => {
            let many = |count: usize| (0..count).map(|number| (format!("X-{number}"), text(1))).collect::<Value>();
            let of_name = |value| json!({ "X-Name": value });
            vec![of_name(text(*length)), of_name(text(length + 1)), of_name(json!(1)), many(*most), many(most + 1)]
        }
        Shape::Object(members) | Shape::OpenObject(members) => {
            let whole = sample(shape);
            let with = |name: &str, value: Value| {
                let mut changed = whole.clone();
                changed[name] = value;
                changed
            };
            let mut values = vec![with("stranger", json!(1)), json!({})];
            for member in *members {
                values.extend(bounds(&member.shape).into_iter().map(|value| with(member.name, value)));
                values.extend(probes().into_iter().map(|value| with(member.name, value)));
                let mut without = whole.clone();
                if let Some(object) = without.as_object_mut() {
                    object.remove(member.name);
                }
                values.push(without);
            }
            values
        }
        Shape::Either(shapes) => shapes.iter().flat_map(bounds).collect(),
        _ => Vec::new(),
    }
}

/// Values of every type, and those that are something for some member.
fn probes() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(2.0),
        json!(1e30),
        json!(""),
        json!("x"),
        json!("NZ"),
        json!("EUR"),
        json!("en_GB"),
        json!("AbCdEfGh"),
        json!("Ab-dEfGh"),
        json!("TokenToken"),
        json!("2026-01-31"),
        json!("2026-01-31T08:30:00.000000Z"),
        json!("2026-01-31T08:30:00.123456+01:00"),
        json!("2026-01-31 08:30:00"),
        json!([]),
        json!([null]),
        json!([[]]),
        json!({}),
        json!({ "en_GB": "x" }),
        json!({ "en_GB": null }),
    ]
}

/// Records with every member that does not follow from others: one, or several where members exclude each other.
fn wholes(kind: Kind) -> Vec<Map<String, Value>> {
    let stated = members(kind).iter().filter(|member| member.presence != Presence::Computed);
    let whole: Map<String, Value> = stated.map(|member| (member.name.to_owned(), sample(&member.shape))).collect();
    let with = |set: &[(&str, Value)], left_out: &[&str]| {
        let mut changed = whole.clone();
        changed.retain(|name, _| !left_out.contains(&name.as_str()));
        changed.extend(set.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        changed
    };
    match kind {
        Kind::Account => vec![with(&[("timezone", json!("Europe/Berlin"))], &[])],
        Kind::Price => vec![with(&[("tag", Value::Null)], &[]), with(&[("type", json!("tag"))], &[])],
        Kind::Discount => {
            let half = [("percent", json!(50)), ("amounts", json!([]))];
            let fixed = [("percent", Value::Null), ("amounts", json!([{ "currency": "EUR", "amount": 5 }]))];
            [half, fixed].map(|set| with(&[&set[..], &period()[..]].concat(), &[])).to_vec()
        }
        Kind::Round => vec![with(&[&[("type", json!("judge"))][..], &period()[..]].concat(), &[])],
        Kind::Criterion => vec![with(&[("maximum", json!(10)), ("step", json!(1))], &[])],
        Kind::ScoreSet => {
            let modes = ["qualifying", "top_pick", "vip_judging", "voting", "gallery"];
            let of_mode = |mode: &&str| {
                let others: Vec<&str> = modes.into_iter().filter(|other| other != mode).collect();
                let steps = if *mode == "gallery" { json!([]) } else { json!([{ "by": "lot", "source": "text" }]) };
                with(&[("mode", json!(mode)), ("tie_break", steps)], &others)
            };
            modes.iter().map(of_mode).collect()
        }
        Kind::ReviewStage => {
            vec![with(&[("timing", json!("after_submission"))], &[])]
        }
        Kind::DocumentTemplate => vec![with(&[("body", json!({ "en_GB": "For #entry.title" }))], &["layout"])],
        Kind::Webhook => vec![with(&[("url", json!("https://example.org/"))], &[])],
        _ => vec![whole],
    }
}

/// Members that a period is made of.
fn period() -> [(&'static str, Value); 2] {
    [("start_date", json!("2026-01-31 08:30:00")), ("end_date", json!("2026-02-28 08:30:00"))]
}

fn validator(definition: &str) -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(&schema()).unwrap();
    for name in ["type", "properties", "additionalProperties"] {
        schema.as_object_mut().unwrap().remove(name);
    }
    schema["$ref"] = json!(format!("#/$defs/{definition}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn the_shipped_schema_is_the_one_that_is_made() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/program-file.schema.json");
    let shipped = std::fs::read_to_string(path).unwrap_or_default();
    assert!(shipped == schema(), "write it anew: plaudit schema > docs/program-file.schema.json");
}

#[test]
fn the_schema_is_one_and_takes_a_file() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let season = json!({ "slug": "SeasonAA", "name": { "en_GB": "2026" }, "status": "active" });
    let tab = json!({ "type": "General", "fields": [{ "type": "text", "title": { "en_GB": "Why" } }] });
    let form = json!({ "name": { "en_GB": "Entry" }, "tabs": [tab] });
    let file = json!({ "account": { "name": "Awards" }, "seasons": [season], "forms": [form], "taxes": null });
    assert!(validator.is_valid(&file));
    let lonely = json!({ "tabs": [{ "type": "General" }] });
    assert!(!validator.is_valid(&lonely), "a tab outside its form names it");
    assert!(!validator.is_valid(&json!({ "users": [] })));
    let line = self::validator("line");
    assert!(line.is_valid(&json!({ "kind": "season", "name": {}, "status": "draft" })));
    assert!(!line.is_valid(&json!({ "name": {}, "status": "draft" })));
}

#[test]
fn every_member_is_described_and_read_and_no_others() {
    for kind in kinds() {
        let described: BTreeSet<&str> = members(kind).iter().map(|member| member.name).collect();
        assert_eq!(described.len(), members(kind).len(), "{kind}: a member comes twice");
        assert!(members(kind).iter().all(|member| member.about.ends_with('.')), "{kind}: a description is a sentence");
        let mut asked = BTreeSet::new();
        for record in wholes(kind) {
            let record = Value::Object(record);
            let (violations, of_record) = read(kind, &record);
            assert!(violations.is_empty(), "{kind}: {violations:?} in {record}");
            asked.extend(of_record);
        }
        // A gallery has nothing particular to it, and its name is asked for to say so.
        asked.retain(|name| (kind, name.as_str()) != (Kind::ScoreSet, "gallery"));
        let asked: BTreeSet<&str> = asked.iter().map(String::as_str).collect();
        assert_eq!(described, asked, "{kind}");
    }
}

#[test]
fn what_is_required_is_required_by_both() {
    for kind in kinds() {
        for (member, record) in
            members(kind).iter().flat_map(|member| wholes(kind).into_iter().map(move |r| (member, r)))
        {
            let mut record = record;
            record.remove(member.name);
            let (violations, _) = read(kind, &Value::Object(record));
            let is_missed = violations.iter().any(|(name, message)| name == member.name && message == "is required");
            assert_eq!(is_missed, member.presence == Presence::Required, "{kind}: {}", member.name);
        }
    }
}

#[test]
fn values_are_taken_by_the_reader_and_the_schema_or_by_neither() {
    for kind in kinds() {
        let validator = validator(kind.name());
        for whole in wholes(kind) {
            assert!(validator.is_valid(&Value::Object(whole.clone())), "{kind}: {whole:?}");
            for member in members(kind).iter().filter(|member| whole.contains_key(member.name)) {
                for value in probes().into_iter().chain(bounds(&member.shape)) {
                    agree(kind, member, &validator, &whole, &value);
                }
            }
        }
    }
}

/// Fails where one of the two takes what the other refuses.
fn agree(kind: Kind, member: &Member, validator: &jsonschema::Validator, whole: &Map<String, Value>, value: &Value) {
    let mut record = whole.clone();
    record.insert(member.name.to_owned(), value.clone());
    let record = Value::Object(record);
    let (violations, _) = read(kind, &record);
    let is_of_member =
        |name: &str| name.strip_prefix(member.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let is_read = !violations.iter().any(|(name, _)| is_of_member(name));
    // Another member can be wrong because of this one, which the schema tells as well.
    let is_whole = violations.is_empty();
    let is_valid = validator.is_valid(&record);
    let text: String = value.to_string().chars().take(200).collect();
    if is_whole {
        assert!(is_valid, "{kind}.{}: an editor would refuse {text}", member.name);
    } else if !is_read {
        assert!(!is_valid || is_finer(kind, member), "{kind}.{}: an editor would take {text}", member.name);
    }
}

#[test]
fn what_is_stored_is_taken_by_the_schema() {
    fn typed<T: SetupRecord>(record: &JsonObject) -> String {
        let slug = Slug::parse("RecordAA").unwrap();
        crate::program::store::stored(&T::read(&mut Members::closed(record), slug, &context()).unwrap())
    }
    for kind in kinds() {
        let validator = validator(kind.name());
        for record in wholes(kind) {
            let text = Value::Object(record).to_string();
            let record = parse_object(text.as_bytes()).unwrap();
            let stored = match kind {
                Kind::Account => typed::<Account>(&record),
                _ => for_setup_kind!(kind, T => typed::<T>(&record)).unwrap(),
            };
            let stored: Value = serde_json::from_str(&stored).unwrap();
            let faults: Vec<String> = validator.iter_errors(&stored).map(|error| error.to_string()).collect();
            assert!(faults.is_empty(), "{kind}: {faults:?} in {stored}");
        }
    }
}

#[test]
fn references_are_those_that_the_members_say() {
    fn typed<T: SetupRecord>(record: &JsonObject) -> BTreeSet<(Kind, Slug)> {
        let context = context();
        let mut members = Members::closed(record);
        let value = T::read(&mut members, Slug::parse("RecordAA").unwrap(), &context).unwrap();
        value.references().into_iter().map(|(_, kind, slug)| (kind, slug)).collect()
    }
    for kind in kinds() {
        for record in wholes(kind) {
            let text = Value::Object(record).to_string();
            let record = parse_object(text.as_bytes()).unwrap();
            let of_value = match kind {
                Kind::Account => typed::<Account>(&record),
                _ => for_setup_kind!(kind, T => typed::<T>(&record)).unwrap(),
            };
            let of_members = references(members(kind), &record);
            let of_members: BTreeSet<_> = of_members.into_iter().map(|(_, kind, slug)| (kind, slug)).collect();
            assert_eq!(of_value, of_members, "{kind}");
        }
    }
}

#[test]
fn the_examples_fit_the_schema() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for text in [
        include_str!("../../../../../examples/design-award.yaml"),
        include_str!("../../../../../examples/scholarship.yaml"),
    ] {
        let (root, problems) = crate::transfer::yaml::read(text);
        assert!(problems.is_empty());
        let file: Value = serde_json::from_str(&crate::transfer::yaml::json(root.unwrap()).to_string()).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&file).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:#?}");
        let first = text.lines().next().unwrap();
        let path = first.strip_prefix("# yaml-language-server: $schema=").unwrap();
        assert!(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(path).is_file());
    }
}
