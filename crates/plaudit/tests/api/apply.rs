//! The set-up of an account from a file, on both engines.

use kernel::kind::Kind;
use kernel::text::Slug;
use plaudit::program::fields::Lengths;
use plaudit::transfer::{self, Applied, ApplyMode};

use crate::both_engines;
use crate::harness::{NOW, Server};

const DESIGN_AWARD: &str = include_str!("../../../../examples/design-award.yaml");
const DRY: ApplyMode = ApplyMode { keep: false, dry_run: true };
const FOR_GOOD: ApplyMode = ApplyMode { keep: false, dry_run: false };

async fn apply(server: &Server, name: &str, text: &str, mode: ApplyMode) -> (Applied, Vec<String>) {
    let deployment = transfer::Deployment {
        db: &server.db,
        storage: &server.storage,
        clock: &server.clock,
        ids: &server.ids,
        lengths: Lengths::default(),
        longest_write: std::time::Duration::MAX,
        follow: plaudit::background::follow,
    };
    let files = transfer::FileSource { folder: std::path::Path::new("."), own: &[] };
    let source = transfer::Source { reader: std::io::Cursor::new(text.to_owned()), name, files };
    let mut faults = Vec::new();
    let mut report = |fault: transfer::Fault| faults.push(fault.to_string());
    let applied = transfer::apply(deployment, source, None, mode, &mut report).await.unwrap();
    (applied, faults)
}

async fn export(server: &Server, account: &str) -> String {
    let mut out = Vec::new();
    transfer::export(&server.db, &server.storage, Slug::parse(account).unwrap(), Kind::is_setup, &mut out)
        .await
        .unwrap();
    String::from_utf8(out).unwrap()
}

both_engines! {
    async fn applying_twice_changes_nothing_the_second_time(server) {
        let (planned, faults) = apply(&server, "a.yaml", DESIGN_AWARD, DRY).await;
        assert_eq!(faults, Vec::<String>::new());
        let is_there = server.db.first("SELECT 1 FROM accounts WHERE slug = 'MeridAwd'", &[], |_| Ok(())).await.unwrap();
        assert!(is_there.is_none(), "a dry run has made an account");
        let (applied, _) = apply(&server, "a.yaml", DESIGN_AWARD, FOR_GOOD).await;
        assert_eq!(planned, applied, "a dry run says what is done");
        let changes = server.changes("MeridAwd").await;
        assert_eq!(changes.len(), applied.steps.len());
        assert!(changes.iter().all(|change| change.ends_with(" created")), "{changes:#?}");
        let version = server.version("MeridAwd").await;
        server.clock.advance(3_600);
        let (applied, _) = apply(&server, "a.yaml", DESIGN_AWARD, FOR_GOOD).await;
        assert!(applied.steps.is_empty(), "{:#?}", applied.steps);
        assert_eq!(server.changes("MeridAwd").await, changes);
        assert_eq!(server.version("MeridAwd").await, version);
    }

    async fn an_export_of_the_set_up_is_the_same_set_up_elsewhere(server) {
        apply(&server, "a.yaml", DESIGN_AWARD, FOR_GOOD).await;
        let exported = export(&server, "MeridAwd").await;
        let other = Server::empty(server.db.engine()).await;
        other.clock.advance(3_600);
        let (_, faults) = apply(&other, "a.jsonl", &exported, FOR_GOOD).await;
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(export(&other, "MeridAwd").await, exported);
    }

    async fn a_fault_applies_nothing(server) {
        apply(&server, "a.yaml", DESIGN_AWARD, FOR_GOOD).await;
        let (before, changes) = (export(&server, "MeridAwd").await, server.changes("MeridAwd").await);
        let broken = DESIGN_AWARD.replace("type: voter", "type: vorter").replace("name: Meridian", "name: New Meridian");
        let (applied, faults) = apply(&server, "a.yaml", &broken, FOR_GOOD).await;
        assert_eq!(applied.faults, 1);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("a.yaml:35:5: role RoleVotr: type: must be one of "), "{}", faults[0]);
        assert_eq!(export(&server, "MeridAwd").await, before);
        assert_eq!(server.changes("MeridAwd").await, changes);
    }

    async fn a_service_shows_what_was_applied_with_the_next_request(server) {
        let exported = export(&server, "AccountA").await;
        let before = server.get("/season").await.expect(200).json();
        let slug = before["data"][0]["slug"].as_str().unwrap().to_owned();
        let changed: String = exported
            .lines()
            .map(|line| if line.contains(&format!(r#""kind":"season","slug":"{slug}""#)) {
                let mut season: serde_json::Value = serde_json::from_str(line).unwrap();
                season["name"]["en_GB"] = "Applied".into();
                season.as_object_mut().unwrap().remove("updated");
                format!("{season}\n")
            } else {
                format!("{line}\n")
            })
            .collect();
        let (applied, faults) = apply(&server, "a.jsonl", &changed, FOR_GOOD).await;
        assert_eq!((applied.steps.len(), faults), (1, Vec::new()), "{:#?}", applied.steps);
        let shown = server.get(&format!("/season/{slug}")).await.expect(200).json();
        assert_eq!(shown["name"]["en_GB"], "Applied");
        assert_eq!(shown["updated"], NOW);
    }
}
