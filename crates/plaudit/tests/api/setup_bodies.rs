//! Every body of the set-up's writing operations: unknown members, wrong types and missing members, one by one and many
//! at once, each told under `errors` by its path.

#[path = "../../../../proofs/src/setup_bodies/table.rs"]
mod table;

use std::collections::BTreeSet;

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::random::Random;
use crate::harness::{Answer, JSON, Server};

/// How many bodies with several faults are sent for each operation.
const SEVERAL: usize = 40;

/// What the table's names stand for in the program of the tests.
fn fill(name: &str) -> String {
    match name {
        "season" => "SeasonAc",
        "form" => "FormEntr",
        "tab" => "TabGener",
        "chapter" => "ChapterN",
        "category" => "CategChi",
        "field" => "FieldTxt",
        "other_field" => "FieldOth",
        "user" => "UserMana",
        "language" => "en_GB",
        "other_language" => "de_DE",
        name => panic!("{name} stands for nothing"),
    }
    .to_owned()
}

async fn send(server: &Server, operation: &table::Operation, body: &str, format: &str) -> Answer {
    server.send(server.request(&operation.method, &operation.path, &[("accept", format)], Some(body))).await
}

#[track_caller]
fn assert_told(operation: &table::Operation, case: &table::Case, answer: &Answer, format: &str) {
    let asked = format!("{} {}: {}", operation.id, case.body, answer.text());
    assert_eq!(answer.status, 422, "{asked}");
    let told: BTreeSet<String> = error_names(answer, format).unwrap_or_default().into_iter().collect();
    assert_eq!(told, case.errors, "{asked}");
}

both_engines! {
    async fn every_fault_of_a_body_is_told_by_its_member(server) {
        server.import(&of_account_a(
            r#"{"kind":"field","slug":"FieldOth","form":"FormEntr","tab":"TabGener","type":"text","title":{"en_GB":"x"}}"#,
        ))
        .await;
        let changes = server.changes("AccountA").await.len();
        let operations = table::operations(&fill).unwrap();
        let mut random = Random(3);
        for operation in &operations {
            for (index, case) in operation.each().iter().enumerate() {
                let format = if index % 8 == 0 { FORMATS[1] } else { JSON };
                assert_told(operation, case, &send(&server, operation, &case.body.to_string(), format).await, format);
            }
            for _ in 0..SEVERAL {
                let case = operation.several(&mut |below| random.below(below));
                assert_told(operation, &case, &send(&server, operation, &case.body.to_string(), JSON).await, JSON);
            }
            for format in FORMATS {
                let case = operation.all();
                assert_told(operation, &case, &send(&server, operation, &case.body.to_string(), format).await, format);
            }
        }
        assert_eq!(server.changes("AccountA").await.len(), changes, "nothing has changed");
        for operation in &operations {
            let answer = send(&server, operation, &operation.right.to_string(), JSON).await;
            assert!([200, 201].contains(&answer.status), "{}: {}", operation.id, answer.text());
        }
    }
}
