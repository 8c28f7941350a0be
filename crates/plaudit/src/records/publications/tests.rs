//! Bundles that are right are verified, and a change of any value is named.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bundle::{self, Signed, text};
use super::verify::verify;
use super::{Head, Publication};
use crate::program::store::parse;
use crate::program::testing::{context, program, read, reads_back};
use crate::records::assignments::Assignment;
use crate::records::lots::drawn;
use crate::records::standings::board::Decided;
use crate::signing::results::ResultSigner;
use kernel::text::Slug;

const OF_SET: &str = r#""season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Secret"}"#;
const OF_CRITERION: &str = r#""score_set":"ScoreAAA","name":{"en_GB":"Secret"},"created":"2026-01-01T00:00:00Z""#;

fn signer() -> ResultSigner {
    ResultSigner::new(&[7; 32]).unwrap()
}

/// Points of two judges for three entries; two of these are equal but for one criterion.
fn made() -> String {
    let set = format!(
        r#"{OF_SET},"mode":"vip_judging","vip_judging":{{"trim":12.5}},"tie_break":[{{"by":"median"}},{{"by":"criterion","criterion":"CritBBBB"}}]"#
    );
    let program = program(&[
        ("score_set", "ScoreAAA", &set),
        ("criterion", "CritAAAA", &format!(r#"{OF_CRITERION},"maximum":10,"step":0.5"#)),
        ("criterion", "CritBBBB", &format!(r#"{OF_CRITERION},"maximum":10,"weight":1"#)),
    ]);
    let sheet = |(entry, judge, one, other): (&str, &str, &str, i64)| -> Assignment {
        let doc = format!(
            r#"{{"slug":"{entry}{judge}ScoreAAAJ","entry":"{entry}","judge":"{judge}","score_set":"ScoreAAA","status":"complete",
            "scores":[{{"criterion":"CritAAAA","value":{one}}},{{"criterion":"CritBBBB","value":{other}}}],
            "created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z"}}"#
        );
        parse(&doc, &context()).unwrap()
    };
    let sheets: Vec<Assignment> = [
        ("EntryAAA", "JudgeAAA", "7.5", 2),
        ("EntryAAA", "JudgeBBB", "4", 3),
        ("EntryBBB", "JudgeAAA", "4.5", 5),
        ("EntryBBB", "JudgeBBB", "2", 5),
        ("EntryCCC", "JudgeAAA", "10", 9),
    ]
    .map(sheet)
    .into();
    let entries: BTreeSet<Slug> =
        ["EntryAAA", "EntryBBB", "EntryCCC", "EntryDDD"].map(|slug| Slug::parse(slug).unwrap()).into();
    let score_set = program.score_sets.any(Slug::parse("ScoreAAA").unwrap()).unwrap();
    let numbers = vec![9, 18, 26];
    let casting_vote = entries.iter().rev().copied().collect();
    let decided = Decided { casting_vote, lot: drawn(&numbers, entries.iter().copied().collect()), numbers };
    let head = Head { sequence: 12, hash: "0b".repeat(32) };
    bundle::make(&program, (score_set, &decided), (&entries, &sheets), head, &signer()).unwrap()
}

/// The values within, by the way to them.
fn leaves(value: &Value, way: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{way}/{name}"), found));
        }
        Value::Array(items) => {
            (0..).zip(items).for_each(|(at, item): (usize, _)| leaves(item, &format!("{way}/{at}"), found));
        }
        _ => found.push(way.to_owned()),
    }
}

fn change(value: &mut Value) {
    *value = match &*value {
        Value::String(text) if text.starts_with(char::is_alphabetic) => json!(format!("Z{}", &text[1..])),
        Value::String(text) => json!(format!("{text}1")),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        _ => json!(1),
    };
}

#[test]
fn a_bundle_is_canonical_and_verified_by_itself() {
    let bundle = made();
    let value: Value = serde_json::from_str(&bundle).unwrap();
    assert_eq!(text(&value).unwrap(), bundle);
    assert!(!bundle.contains("Secret"));
    let verified = verify(bundle.as_bytes(), Some(&signer().public_key())).unwrap();
    assert_eq!((verified.entries, verified.public_key), (4, signer().public_key()));
    let results = &value["bundle"]["results"];
    let of = |name: &str| results.as_array().unwrap().iter().map(|result| result[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("entry"), ["EntryCCC", "EntryBBB", "EntryAAA", "EntryDDD"]);
    assert_eq!(of("rank"), [json!(1), json!(2), json!(3), Value::Null]);
    assert_eq!(of("score"), [json!("19"), json!("33/4"), json!("33/4"), Value::Null]);
    // Blanks are no part of what is signed, and a name that is there twice is refused.
    assert!(verify(serde_json::to_string_pretty(&value).unwrap().as_bytes(), None).is_ok());
    let twice = bundle.replacen("\"form\":1", "\"form\":1,\"form\":1", 1);
    assert!(verify(twice.as_bytes(), None).unwrap_err().starts_with("the file is no JSON"));
}

#[test]
fn a_change_of_any_value_is_named() {
    let value: Value = serde_json::from_str(&made()).unwrap();
    let mut ways = Vec::new();
    leaves(&value, "", &mut ways);
    assert!(ways.len() > 80);
    for way in ways {
        let mut forged = value.clone();
        change(forged.pointer_mut(&way).unwrap());
        let told = verify(forged.to_string().as_bytes(), None).expect_err(&way);
        if way.starts_with("/bundle/results") {
            assert!(told.starts_with("results."), "{way}: {told}");
            // Signed again it is named all the same.
            let Signed { bundle, mut signature } = serde_json::from_value(forged).unwrap();
            let other = ResultSigner::new(&[8; 32]).unwrap();
            (signature.public_key, signature.value) = (other.public_key(), other.sign(&text(&bundle).unwrap()));
            let again = serde_json::to_string(&Signed { bundle, signature }).unwrap();
            assert_eq!(verify(again.as_bytes(), None).expect_err(&way), told);
        }
    }
}

#[test]
fn the_first_difference_is_told_with_its_entry() {
    let bundle = made();
    let told = |old: &str, new: &str| verify(bundle.replacen(old, new, 1).as_bytes(), None).unwrap_err();
    assert_eq!(told("\"rank\":2", "\"rank\":1"), "results.2 (entry EntryBBB).rank is 1 and must be 2");
    assert_eq!(
        told("\"CritAAAA\":\"4.5\"", "\"CritAAAA\":\"9\""),
        "results.2 (entry EntryBBB).score is \"33/4\" and must be \"21/2\""
    );
    assert_eq!(
        told("\"sequence\":12", "\"sequence\":13"),
        "signature.value is not the signature of the bundle by signature.public_key"
    );
}

#[test]
fn a_publication_reads_back_and_is_of_its_bundle() {
    let bundle = serde_json::to_string(&made()).unwrap();
    let members = |set: &str, sequence: i64| {
        format!(
            r#""score_set":"{set}","published":"2026-01-01T00:00:00Z","embargo_until":null,"feedback":true,
            "head":{{"hash":"{}","sequence":{sequence}}},"bundle":{bundle}"#,
            "0b".repeat(32)
        )
    };
    let publication: Publication = read("PubliAAA", &members("ScoreAAA", 12)).unwrap();
    reads_back(&publication);
    assert!(
        read::<Publication>("PubliAAA", &members("ScoreBBB", 12)).unwrap_err().contains("must be that of the bundle")
    );
    assert!(
        read::<Publication>("PubliAAA", &members("ScoreAAA", 13)).unwrap_err().contains("must be that of the bundle")
    );
}
