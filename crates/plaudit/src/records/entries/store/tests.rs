//! What is stored is what would be made anew, on an embedded database.

use std::sync::Arc;

use crate::log::{self, Actor, Origin};
use crate::program::accounts::{self, Account};
use crate::program::{Context, RecordMembers as _, SetupRecord};
use crate::records::answers::Answers;
use crate::records::entries::Status;
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::store::*;
use crate::records::files::{self, Content, File};
use crate::records::people;
use crate::records::users::{Summary, User};
use db::{Db, Settings, migrate};
use kernel::clock::Clock;
use kernel::input::Members;
use kernel::json::{parse_object, parse_value};
use kernel::kind::Kind;
use kernel::text::{Locale, Timestamp, Token};

struct Bench {
    db: Db,
    program: Program,
    origin: Origin,
    _folder: tempfile::TempDir,
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn record<T: SetupRecord>(doc: &str, context: &Context) -> Record<T> {
    Record { value: program::store::parse(doc, context).unwrap(), revision: 1, deleted: false }
}

async fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::at(&format!("sqlite:{}", folder.path().join("test.db").display()));
    let db = Db::open(&settings).await.unwrap();
    migrate::run(&db, &settings).await.unwrap();
    let clock = Clock::fixed(Timestamp::from_seconds(1_000));
    let context =
        Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now: Timestamp::from_seconds(1) };
    let account: Record<Account> = record(r#"{"slug":"AccounAA","name":"A"}"#, &context);
    let mut tx = db.begin().await.unwrap();
    let id = accounts::store::create(&mut tx, &account.value).await.unwrap();
    tx.commit().await.unwrap();
    let program = Program::load(&mut db.snapshot().await.unwrap(), id, &Arc::from("https://a.example"), &clock)
        .await
        .unwrap()
        .unwrap();
    let origin = Origin { actor: Actor::System, source: "system", at: clock.now() };
    Bench { db, program, origin, _folder: folder }
}

const ENTRY: &str = concat!(
    r#"{"slug":"EntryAAA","local_id":7,"title":"Bridge","entrant":"UserAAAA","category":"CategAAA","#,
    r#""chapter":"ChapteAA","form":"FormAAAA","season":"SeasonAA","entry_fields":{"FieldAAA":"W"}}"#,
);

async fn filled(bench: &Bench) -> Tx {
    let (account, context) = (bench.program.id, &bench.program.context);
    let mut tx = bench.db.begin().await.unwrap();
    let user: Record<User> = record(r#"{"slug":"UserAAAA","first_name":"Ada","last_name":"L"}"#, context);
    users::store::put(&mut tx, account, &user).await.unwrap();
    let entry: Record<Entry> = record(ENTRY, context);
    let around = related(&mut tx, bench.program.id, &bench.program, &entry.value).await.unwrap();
    assert_eq!(around.counts, Counts::default());
    let mut counts = CountChanges::default();
    put(&mut tx, account, &entry, &around, None, &mut counts).await.unwrap();
    write_counts(&mut tx, account, counts).await.unwrap();
    tx
}

async fn add_contributor_and_attachment(tx: &mut Tx, bench: &Bench) {
    let (account, context) = (bench.program.id, &bench.program.context);
    let contributor: Record<Contributor> =
        record(r#"{"slug":"ContriAA","entry":"EntryAAA","tab":"TabAAAAA","fields":{"FieldAAA":1}}"#, context);
    people::put(tx, account, &contributor, None).await.unwrap();
    let token = Token::parse("TokenAAAAAAA").unwrap();
    let object = parse_object(br#"{"filename":"a.gif","size":10}"#).unwrap();
    let mut members = Members::closed(&object);
    let file = File::read(&mut members, token.clone(), context, Some(&Content::of(b"GIF89a\x05\0\x07\0")));
    let file = members.finish().or(file).unwrap();
    files::store::put(tx, account, &file, 1).await.unwrap();
    let object = parse_object(br#"{"entry":"EntryAAA","tab":"TabAAAAA","order":3}"#).unwrap();
    let mut members = Members::closed(&object);
    let attachment = Attachment::read(&mut members, token, context).unwrap();
    let attachment = Record { value: attachment, revision: 1, deleted: false };
    people::put(tx, account, &attachment, None).await.unwrap();
}

#[tokio::test]
async fn a_refreshed_entry_shows_its_records_and_is_logged_once() {
    let bench = bench().await;
    let account = bench.program.id;
    let mut tx = filled(&bench).await;
    let refreshed =
        refresh_detail(&mut tx, bench.program.id, &bench.program, &bench.origin, slug("EntryAAA"), Cause::Import)
            .await
            .unwrap();
    assert_eq!(refreshed.unwrap().counts().unwrap(), Counts::default());
    assert_eq!(tx.head(account).await.unwrap().unwrap().sequence, 0, "nothing changed");
    add_contributor_and_attachment(&mut tx, &bench).await;
    for _ in 0..2 {
        let refreshed =
            refresh_detail(&mut tx, bench.program.id, &bench.program, &bench.origin, slug("EntryAAA"), Cause::Import)
                .await
                .unwrap();
        assert_eq!(refreshed.unwrap().counts().unwrap(), Counts { contributors: 1, files: 1 });
        assert_eq!(tx.head(account).await.unwrap().unwrap().sequence, 1);
    }
    let found = find_for_update(&mut tx, account, slug("EntryAAA")).await.unwrap().unwrap();
    assert_eq!(found.revision, 1);
    assert!(found.detail.contains("\"a.gif\"") && found.detail.contains("ContriAA"), "{}", found.detail);
    let entry = found.entry().unwrap();
    let around = related(&mut tx, bench.program.id, &bench.program, &entry).await.unwrap();
    assert_eq!(entry.document(around.counts, false), found.doc);
    assert_eq!(detail(&entry.entry_fields, &around), found.detail);
    assert_eq!(found.head().unwrap().document(found.counts().unwrap(), false), found.doc);
}

async fn reported(tx: &mut Tx, account: AccountId) -> Vec<String> {
    let mut reported = Vec::new();
    log::each_of_account(tx, account, |change| {
        let [_, _, kind, slug, action, events] = change.texts;
        reported.push(format!("{kind} {slug} {action} {events}").trim_end().to_owned());
        Ok(())
    })
    .await
    .unwrap();
    reported
}

async fn counts(tx: &mut Tx) -> Vec<String> {
    let mut counts = Vec::new();
    tx.each("SELECT category, division, total FROM entry_counts WHERE total <> 0 ORDER BY 1, 2", &[], |row| {
        counts.push(format!("{} {} {}", row.text(0)?, row.integer(1)?, row.integer(2)?));
        Ok(())
    })
    .await
    .unwrap();
    counts
}

async fn tags(tx: &mut Tx) -> Vec<String> {
    let mut tags = Vec::new();
    tx.each("SELECT tag, slug FROM entry_tags ORDER BY 1, 2", &[], |row| {
        tags.push(format!("{} {}", row.text(0)?, row.text(1)?));
        Ok(())
    })
    .await
    .unwrap();
    tags
}

/// What is stored is what would be made anew, in the row and in both documents.
async fn assert_made_anew(tx: &mut Tx, bench: &Bench, stored: &Stored) {
    let account = bench.program.id;
    let entry = stored.entry().unwrap();
    assert_eq!(find_any_for_update(tx, account, entry.slug).await.unwrap().as_ref(), Some(stored));
    let around = related(tx, account, &bench.program, &entry).await.unwrap();
    assert_eq!(entry.document(around.counts, stored.deleted), stored.doc);
    assert_eq!(detail(&entry.entry_fields, &around), stored.detail);
}

#[tokio::test]
async fn whatever_is_written_is_what_it_would_be_if_made_anew() {
    let bench = bench().await;
    let (account, context) = (bench.program.id, &bench.program.context);
    let mut tx = filled(&bench).await;
    add_contributor_and_attachment(&mut tx, &bench).await;
    refresh_detail(&mut tx, account, &bench.program, &bench.origin, slug("EntryAAA"), Cause::EntryChildren("fields"))
        .await
        .unwrap();
    let text =
        r#"{"slug":"UserBBBB","first_name":"B","last_name":"É","global_id":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#;
    let other: Record<User> = record(text, context);
    users::store::put(&mut tx, account, &other).await.unwrap();
    let mut before = find_for_update(&mut tx, account, slug("EntryAAA")).await.unwrap().unwrap();
    let first = before.entry().unwrap();
    assert_eq!(first.updated, bench.origin.at, "a contributor changes its entry");
    let answers = |text: &str| Answers::read(&parse_value(text.as_bytes()).unwrap()).unwrap();
    for after in [
        Entry { chapter: slug("ChapteBB"), ..first.clone() },
        Entry { entry_fields: answers(r#"{"FieldAAA":"other","FieldBBB":[1]}"#), ..first.clone() },
        Entry { entry_fields: Answers::default(), chapter: slug("ChapteCC"), ..first.clone() },
        Entry { title: "T \"\u{7f}".to_owned(), status: Status::Submitted, ..first.clone() },
        Entry { entrant: slug("UserBBBB"), category: slug("CategBBB"), division: Some(2), ..first.clone() },
        Entry { tags: "a, b".to_owned(), archived: true, ..first.clone() },
        Entry { tags: "b,c".to_owned(), ..first.clone() },
        first.clone(),
    ] {
        let change = Change { before: Some(&before), after: after.clone(), deleted: false, is_copy: false };
        let stored = write(&mut tx, account, &bench.program, &bench.origin, change).await.unwrap();
        assert_eq!(stored.entry().unwrap(), Entry { updated: bench.origin.at, ..after.clone() });
        assert_eq!(stored.person.as_ref().map(|person| person.slug), Some(after.entrant));
        assert_made_anew(&mut tx, &bench, &stored).await;
        let sequence = tx.head(account).await.unwrap().unwrap().sequence;
        assert_eq!(sequence, stored.revision);
        let again = Change { before: Some(&stored), after: after.clone(), deleted: false, is_copy: false };
        assert_eq!(write(&mut tx, account, &bench.program, &bench.origin, again).await.unwrap(), stored);
        assert_eq!(tx.head(account).await.unwrap().unwrap().sequence, sequence, "nothing changed");
        let wanted: Vec<String> = rules::tags::split(&after.tags).map(|tag| format!("{tag} EntryAAA")).collect();
        assert_eq!(tags(&mut tx).await, wanted);
        assert_eq!(counts(&mut tx).await, [format!("{} {} 1", after.category, after.division.unwrap_or(0))]);
        before = stored;
    }
    let key = tx.first("SELECT title_key FROM entries", &[], |row| Ok(row.text(0)?.to_owned())).await.unwrap();
    assert_eq!(key.as_deref(), Some("bridge"));
}

#[tokio::test]
async fn an_entry_is_made_trashed_and_restored() {
    let bench = bench().await;
    let account = bench.program.id;
    let mut tx = filled(&bench).await;
    let base = find_for_update(&mut tx, account, slug("EntryAAA")).await.unwrap().unwrap().entry().unwrap();
    let new = Entry { slug: slug("EntryBBB"), local_id: 8, tags: "x".to_owned(), ..base };
    let change = Change { before: None, after: new.clone(), deleted: false, is_copy: false };
    let made = write(&mut tx, account, &bench.program, &bench.origin, change).await.unwrap();
    assert_eq!(made.entry().unwrap(), new);
    assert_made_anew(&mut tx, &bench, &made).await;
    assert_eq!(counts(&mut tx).await, ["CategAAA 0 2"]);
    let head = made.head().unwrap();
    let trashed = write_head(&mut tx, &bench.program, &bench.origin, (&made, &head), head.clone(), true).await.unwrap();
    assert_eq!((trashed.deleted, trashed.entry().unwrap()), (true, new.clone()), "the trash is no member");
    assert_made_anew(&mut tx, &bench, &trashed).await;
    assert_eq!(counts(&mut tx).await, ["CategAAA 0 1"]);
    let head = trashed.head().unwrap();
    write_head(&mut tx, &bench.program, &bench.origin, (&trashed, &head), head.clone(), false).await.unwrap();
    assert_eq!(counts(&mut tx).await, ["CategAAA 0 2"]);
    assert_eq!(
        reported(&mut tx, account).await,
        [
            "entry EntryBBB created entry_created,entry_tagged",
            "entry EntryBBB trashed entry_deleted",
            "entry EntryBBB restored entry_updated"
        ]
    );
    let missing = Entry { entrant: slug("UserZZZZ"), slug: slug("EntryCCC"), local_id: 9, ..new };
    let change = Change { before: None, after: missing, deleted: false, is_copy: false };
    assert!(write(&mut tx, account, &bench.program, &bench.origin, change).await.is_err());
}

#[tokio::test]
async fn what_is_exported_is_what_was_put() {
    let bench = bench().await;
    let (account, context) = (bench.program.id, bench.program.context.clone());
    let mut tx = filled(&bench).await;
    let mut last = String::new();
    let rows = crate::records::store::next(&mut tx, account, Kind::Entry, &mut last).await.unwrap().unwrap();
    let lines: Vec<String> = rows.iter().map(|(_, row)| (ROWS.exported)(row).unwrap()).collect();
    let entry: Record<Entry> = record(ENTRY, &context);
    assert_eq!(lines, [program::store::stored(&entry.value)]);
    assert_eq!(program::store::parse::<Entry>(&lines[0], &context).unwrap(), entry.value);
    assert_eq!(next_local_id(&mut tx, account).await.unwrap(), 8);
    assert_eq!(title(&mut tx, account, slug("EntryAAA")).await.unwrap().as_deref(), Some("Bridge"));
}

#[tokio::test]
async fn managers_are_users_who_are_not_in_the_trash() {
    let bench = bench().await;
    let (account, context) = (bench.program.id, bench.program.context.clone());
    let mut tx = filled(&bench).await;
    let mut gone: Record<User> = record(r#"{"slug":"UserBBBB","first_name":"B","last_name":"B"}"#, &context);
    gone.value.global_id = "another".to_owned();
    gone.deleted = true;
    users::store::put(&mut tx, account, &gone).await.unwrap();
    let asked = [slug("UserCCCC"), slug("UserBBBB"), slug("UserAAAA")];
    let found = users::store::candidates(&mut tx, account, &asked).await.unwrap();
    assert_eq!(found.iter().map(|found| found.slug).collect::<Vec<_>>(), [slug("UserAAAA")]);
    let person = users::store::person(&mut tx, account, slug("UserBBBB")).await.unwrap();
    let User { slug, first_name, last_name, email, global_id, .. } = gone.value;
    assert_eq!(person, Some(Person::from(&Summary { slug, first_name, last_name, email, global_id })));
}
