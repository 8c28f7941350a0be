//! A statement about what one record has looks nowhere else. SQLite chooses an index by its columns alone, and takes one
//! that sorts all of an account where that suits the order or the groups of a statement.

use std::path::{Path, PathBuf};

use db::{Engine, Value};

use crate::harness::{self, Server};

/// What a statement is about, and the end of the name of the index that finds it.
const OWNED: &[(&str, &str)] =
    &[("entry = $", "_of_entry"), ("entrant = $", "_of_entrant"), ("person = $", "_of_person")];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The texts between quotation marks that begin like a statement and are one as they stand.
fn statements(source: &str) -> Vec<String> {
    let mut statements = Vec::new();
    for text in source.split('"') {
        let lines = text.split("\\\n").map(str::trim_start);
        let statement = lines.collect::<String>();
        if ["SELECT ", "UPDATE ", "DELETE "].iter().any(|verb| statement.starts_with(verb)) && !statement.contains('{')
        {
            statements.push(statement);
        }
    }
    statements
}

async fn plan(server: &Server, statement: &str) -> Vec<String> {
    let parameters = (1..20).filter(|number| statement.contains(&format!("${number}"))).max().unwrap_or(0);
    let values = vec![Value::Null; parameters];
    let mut steps = Vec::new();
    let explained = format!("EXPLAIN QUERY PLAN {statement}");
    server
        .db
        .each(&explained, &values, |row| {
            steps.push(row.text(3)?.to_owned());
            Ok(())
        })
        .await
        .unwrap_or_else(|error| panic!("{error}: {statement}"));
    steps
}

async fn check(server: &Server) {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &mut files);
    let (mut checked, mut elsewhere) = (0, Vec::new());
    for file in files {
        for statement in statements(&std::fs::read_to_string(&file).unwrap()) {
            let conditions = statement.split("WHERE").skip(1).collect::<String>();
            let Some((_, index)) = OWNED.iter().find(|(column, _)| conditions.contains(column)) else { continue };
            let steps = plan(server, &statement).await;
            let searches: Vec<_> =
                steps.iter().filter(|step| step.contains("SEARCH") || step.contains("SCAN")).collect();
            let finds = |step: &str| {
                step.contains(&format!("{index} (")) || step.contains("_1 (") && !step.contains("(account=?)")
            };
            if !searches.iter().all(|step| finds(step)) {
                elsewhere.push(format!("{statement}: {steps:#?}"));
            }
            checked += 1;
        }
    }
    assert_eq!(elsewhere, Vec::<String>::new());
    assert!(checked > 10, "only {checked} statements were found");
}

#[test]
fn a_statement_about_what_one_record_has_looks_nowhere_else() {
    harness::run(Engine::Sqlite, |server| Box::pin(async move { check(&server).await }));
}
