mod agreement;
mod apply;
mod files;
mod imports;
mod schema;
mod staging;

use std::io::Cursor;
use std::time::Duration;

use tempfile::TempDir;

use super::fault::Faults;
use super::reading::RecordReader;
use super::*;
use crate::log;
use crate::program::bounds::{CHAIN, RECORDS};
use crate::program::fields::Lengths;
use crate::program::testing::numbered;
use db::{AccountId, Settings, migrate};
use kernel::text::Timestamp;

/// A deployment on a temporary folder.
struct Place {
    folder: TempDir,
    db: Db,
    storage: Storage,
    clock: Clock,
    ids: Ids,
}

impl Place {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let settings = Settings::at(&format!("sqlite:{}", folder.path().join("plaudit.db").display()));
        let db = Db::open(&settings).await.unwrap();
        migrate::run(&db, &settings).await.unwrap();
        let storage =
            Storage::open(&crate::storage::Settings::at(&format!("file:{}", folder.path().join("files").display())))
                .unwrap();
        let clock = Clock::fixed(Timestamp::parse("2026-01-31T08:30:00.000000Z").unwrap());
        Self { folder, db, storage, clock, ids: Ids::seeded(1) }
    }
    async fn import_for(&self, text: &str, account: Option<&str>) -> (Outcome, Vec<String>) {
        let (outcome, reported) = self.import_with(text, account, |_, _| Box::pin(async { Ok(()) })).await;
        let outcome = outcome.unwrap();
        assert_eq!(outcome.faults, reported.len() as u64);
        (outcome, reported)
    }
    async fn import_with(
        &self,
        text: &str,
        account: Option<&str>,
        follow: for<'t> fn(&'t mut Tx, AccountId) -> BoxFuture<'t, Result<(), DbError>>,
    ) -> (Result<Outcome, Error>, Vec<String>) {
        let mut reported = Vec::new();
        let mut report = |fault: Fault| reported.push(fault.to_string());
        let deployment = Deployment {
            db: &self.db,
            storage: &self.storage,
            clock: &self.clock,
            ids: &self.ids,
            lengths: Lengths::default(),
            longest_write: Duration::ZERO,
            follow,
        };
        let own = [self.folder.path().join("plaudit.db").canonicalize().unwrap()];
        let files = FileSource { folder: self.folder.path(), own: &own };
        let name =
            if text.trim_start().starts_with(['{', '[']) || text.trim().is_empty() { "a.jsonl" } else { "a.yaml" };
        let source = Source { reader: Cursor::new(text), name, files };
        (import(deployment, source, account.and_then(Slug::parse), &mut report).await, reported)
    }
    async fn import(&self, text: &str) -> Outcome {
        let (outcome, reported) = self.import_for(text, None).await;
        assert_eq!(reported, Vec::<String>::new());
        outcome
    }

    async fn faults(&self, text: &str) -> Vec<String> {
        self.import_for(text, None).await.1
    }

    async fn export(&self) -> String {
        let mut out = Vec::new();
        export(&self.db, &self.storage, Slug::parse("AccountA").unwrap(), |_| true, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    }

    async fn write(&self, sql: &'static str, time: Timestamp) {
        let written = self.db.write(AccountId::NONE, (sql, time), |tx, (sql, time)| {
            Box::pin(async move { tx.execute(sql, &[(*time).into()]).await })
        });
        let written: Result<u64, DbError> = written.await;
        written.unwrap();
    }

    async fn count(&self, table: &str) -> i64 {
        self.db
            .fetch_pipelined(&format!("SELECT count(*) FROM {table}"), &[], |row| row.integer(0))
            .await
            .unwrap()
            .unwrap()
    }

    /// The number of the account's last change, and the name of the last one of its set-up.
    async fn head(&self) -> (i64, i64) {
        let sql = "SELECT sequence, version FROM accounts";
        self.db.fetch_pipelined(sql, &[], |row| Ok((row.integer(0)?, row.integer(1)?))).await.unwrap().unwrap()
    }
}

const ACCOUNT: &str = r#"{"kind":"account","slug":"AccountA","name":"Awards","languages":["en_GB","de_DE"]}"#;

/// A set-up, one user, and nothing else.
const SETUP: &str = r#"
{"kind":"content_block","slug":"BlockAAA","name":{"en_GB":"Welcome"},"content":{"en_GB":"<p>Read this.</p>"}}
{"kind":"tab","slug":"TabGener","form":"FormAAAA","type":"General"}
{"kind":"tab","slug":"TabContr","form":"FormAAAA","type":"Contributors"}
{"kind":"tab","slug":"TabAttac","form":"FormAAAA","type":"Attachments"}
{"kind":"category","slug":"CategAAA","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Film"},"chapters":["ChapterA"],"parent":"CategBBB"}
{"kind":"category","slug":"CategBBB","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Arts"}}
{"kind":"chapter","slug":"ChapterA","season":"SeasonAA","name":{"en_GB":"North","de_DE":"Norden"},"managers":["UserAAAA"]}
{"kind":"form","slug":"FormAAAA","season":"SeasonAA","name":{"en_GB":"Entry"}}
{"kind":"season","slug":"SeasonAA","name":{"en_GB":"2026"},"status":"active"}
{"kind":"field","slug":"FieldAAA","type":"text","resource":"entries","tab":"TabGener","title":{"en_GB":"Why"}}
{"kind":"field","slug":"FieldBBB","type":"text","resource":"contributors","tab":"TabContr","title":{"en_GB":"Who"}}
{"kind":"role","slug":"RoleAAAA","name":{"en_GB":"Manager"},"type":"chapter_manager"}
{"kind":"tax","slug":"TaxAAAAA","country":"GB","rate":20,"term":"VAT"}
{"kind":"price","slug":"PriceAAA","season":"SeasonAA","title":{"en_GB":"Fee"},"amounts":[{"currency":"GBP","amount":10.50},{"currency":"GBP","amount":12.00,"from":"2026-02-01 00:00:00"}]}
{"kind":"panel","slug":"PanelAAA","season":"SeasonAA","score_set":"ScoreAAA","name":{"en_GB":"Jury"},"judges":["UserAAAA"],"roles":["RoleBBBB"],"rounds":["RoundAAA"],"categories":["CategAAA"],"chapters":["ChapterA"],"divisions":[1,2],"tags":["late"],"statuses":["submitted"],"moderation":[],"judges_per_entry":3}
{"kind":"criterion","slug":"CritAAAA","score_set":"ScoreAAA","name":{"en_GB":"Craft"},"minimum":1,"maximum":5,"step":0.5,"weight":30,"order":1}
{"kind":"score_set","slug":"ScoreAAA","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Final"},"mode":"vip_judging","vip_judging":{"aggregation":"mean","trim":12.5},"order":1,"tie_break":[{"by":"criterion","criterion":"CritAAAA"},{"by":"casting_vote","judge":"UserAAAA"},{"by":"lot","source":"Lottery of 1 June"}],"cut_line":3}
{"kind":"round","slug":"RoundAAA","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Judging"},"type":"judge","chapters":["ChapterA"],"start_date":"2026-03-01 09:00:00","end_date":"2026-04-01 17:00:00"}
{"kind":"role","slug":"RoleBBBB","name":{"en_GB":"Judge"},"type":"judge"}
{"kind":"review_stage","slug":"StageAAA","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Consent"},"timing":"before_submission","reviewers":[{"name":"Grace","email":"grace@example.org"}]}
{"kind":"document_template","slug":"TemplAAA","name":{"en_GB":"Certificate"},"resource":"entry","file_types":["PDF","accessible-pdf"],"body":{"en_GB":"For {{entry.title}}"}}
{"kind":"discount","slug":"DiscAAAA","season":"SeasonAA","code":"EARLY","percent":12.5,"end_date":"2026-03-01 00:00:00","prices":["PriceAAA"],"limit":100}
{"kind":"webhook","slug":"HookAAAA","name":"CRM","method":"post","url":"https://crm.example.org/hook","events":["entry_submitted"],"form":"FormAAAA","fields":["FieldAAA","FieldBBB"],"headers":{"Authorization":"Bearer x"},"notification_emails":["ops@example.org"],"replaced_keys":[{"key":"OldKey12","until":"2026-02-01T08:30:00.000000Z"}]}
{"kind":"user","slug":"UserAAAA","first_name":"Ada","last_name":"Lovelace","email":"ada@example.org","roles":["RoleAAAA"]}
"#;

/// People's records, each before what it refers to.
const PEOPLE: &str = r#"
{"kind":"order_item","order":"OrderAAA","name":"Second","amount":1.00}
{"kind":"order","slug":"OrderAAA","season":"SeasonAA","user":"UserAAAA","currency":"GBP","tax_rate_details":"TaxAAAAA","items":[{"name":"First","entry":"EntryAAA","price":"PriceAAA"}]}
{"kind":"attachment","token":"TokenTokenToken","entry":"EntryAAA","tab":"TabAttac","order":1}
{"kind":"file","token":"TokenTokenToken","filename":"a.txt","data":"SGVsbG8sIHdvcmxk"}
{"kind":"contributor","slug":"ContrAAA","entry":"EntryAAA","tab":"TabContr","fields":{"FieldBBB":"Grace \u007f"}}
{"kind":"entry","slug":"EntryBBB","title":"Second","category":"CategAAA","entrant":"UserAAAA","deleted":true}
{"kind":"entry","slug":"EntryAAA","title":"First","category":"CategAAA","entrant":"UserAAAA","entry_fields":{"FieldAAA":"Because"}}
{"kind":"user","slug":"UserBBBB","first_name":"Alan","last_name":"Turing","deleted":true}
"#;

/// What is judged, each before what it refers to.
const JUDGING: &str = r#"
{"kind":"score","assignment":"EntryAAAUserAAAAScoreAAAJ","criterion":"CritAAAA","value":4.5,"comment":{"slug":"CommentA","comment":"Fine","user":"UserAAAA","created_at":"2026-01-02T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"}}
{"kind":"assignment","entry":"EntryAAA","judge":"UserAAAA","score_set":"ScoreAAA","method":"automatic","cause":"automatic","panels":["PanelAAA"],"rounds":["RoundAAA"]}
{"kind":"assignment","entry":"EntryAAA","role":"RoleBBBB","score_set":"ScoreAAA","deleted":true}
{"kind":"conflict","slug":"ConflAAA","entry":"EntryBBB","judge":"UserAAAA"}
{"kind":"recusal","slug":"RecusAAA","entry":"EntryBBB","judge":"UserAAAA","score_set":"ScoreAAA"}
{"kind":"casting_vote","slug":"CastVote","score_set":"ScoreAAA","entries":["EntryBBB","EntryAAA"],"reason":"The bolder one."}
{"kind":"lot","slug":"LotOneAA","score_set":"ScoreAAA","numbers":[9,18],"source":"Lottery of 1 June","entries":["EntryBBB","EntryAAA"]}
"#;
/// A review task, a publication and a document, behind everything that counts lines.
const LAST: &str = r#"{"kind":"payment","order":"OrderAAA","provider":"bank","reference":"1","status":"success","amount":2,"date":"2026-01-01T10:00:00Z"}
{"kind":"document","slug":"DocuAAAA","name":{"en_GB":"Certificate"},"file":"TokenTokenToken","file_type":"PDF","filename":"a.pdf","entry":"EntryAAA","recipient":"UserAAAA","shared_with_user":true}
{"kind":"review_task","token":"TokenOfATask","review_stage":"StageAAA","entry":"EntryAAA","reviewer":[{"name":"Grace","email":"grace@example.org"}],"decision":"proceed","action_at":"2026-01-03T08:00:00.000000Z","comment":"Fine."}
{"kind":"publication","slug":"PubliAAA","score_set":"ScoreAAA","embargo_until":"2026-01-03T08:00:00.000000Z","feedback":true,"head":{"hash":"0a","sequence":9},"bundle":"{\"bundle\":{\"head\":{\"hash\":\"0a\",\"sequence\":9},\"inputs\":{\"entries\":[],\"score_set\":{\"slug\":\"ScoreAAA\"}},\"results\":[]},\"signature\":{}}"}"#;

fn whole() -> String {
    format!("{PEOPLE}{SETUP}\n{ACCOUNT}\n")
}

#[tokio::test]
async fn a_file_with_every_kind_comes_back_and_again_as_the_same_bytes() {
    let first = Place::new().await;
    let outcome = first.import(&format!("{JUDGING}{}{LAST}\n", whole())).await;
    assert_eq!(outcome.account, Slug::parse("AccountA"));
    let is_line = |kind: Kind| [Kind::OrderItem, Kind::Payment, Kind::Score].contains(&kind);
    let is_new = |count: &Count| is_line(count.kind) || count.read == count.changed;
    assert!(outcome.counts.iter().all(is_new), "{:?}", outcome.counts);
    let kinds: Vec<_> = outcome.counts.iter().map(|count| count.kind).collect();
    assert_eq!(kinds, Kind::ALL.into_iter().filter(|kind| kind.is_in_files()).collect::<Vec<_>>());
    let text = first.export().await;
    let order: Vec<_> = text.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
    let position = |name: &str| Kind::ALL.iter().position(|kind| kind.name() == name).unwrap();
    assert!(order.is_sorted_by_key(|name| position(name)), "{order:?}");
    assert!(text.starts_with(r#"{"kind":"account","slug":"AccountA","name":"Awards","#), "{text}");
    for line in [
        r#""managers":["UserAAAA"]"#,
        r#""data":"SGVsbG8sIHdvcmxk"}"#,
        r#""deleted":true}"#,
        r#""invoice_number":"1""#,
        r#""total":13.80"#,
        r#""name":"Second""#,
        r#""reference":"1","status":"success","amount":2.00"#,
        r#""slug":"EntryAAAUserAAAAScoreAAAJ""#,
        r#""status":"complete","scores":[{"criterion":"CritAAAA","value":4.5,"comment":{"slug":"CommentA""#,
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let turned = text.lines().rev().collect::<Vec<_>>().join("\n");
    for imported in [&text, &turned] {
        let place = Place::new().await;
        place.import(imported).await;
        assert_eq!(place.export().await, text);
    }
}

#[tokio::test]
async fn what_is_there_already_is_neither_written_nor_logged() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let (text, head) = (place.export().await, place.head().await);
    place.clock.advance(3600);
    for again in [whole(), text.clone()] {
        let outcome = place.import(&again).await;
        let changed: Vec<_> = outcome.counts.iter().filter(|count| count.changed > 0).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }
    assert_eq!((place.export().await, place.head().await), (text, head));
}

#[tokio::test]
async fn every_change_is_in_the_log_once_and_the_version_is_the_name_of_the_last_of_the_set_up() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let (sequence, version) = place.head().await;
    let (mut names, mut last_of_setup) = (std::collections::BTreeSet::new(), 0);
    let mut tx = place.db.snapshot().await.unwrap();
    log::each_of_account(&mut tx, AccountId(1), |entry| {
        names.insert((entry.kind().to_owned(), entry.slug().to_owned()));
        assert_eq!(
            (entry.texts[0], entry.texts[1], entry.texts[4], entry.texts[5]),
            ("operator", "system", "imported", "")
        );
        if Kind::named(entry.kind()).unwrap().is_in_program() {
            last_of_setup = log::name_of(entry.hash.try_into().unwrap());
        }
        Ok(())
    })
    .await
    .unwrap();
    let records = whole().lines().filter(|line| !line.is_empty() && !line.contains("order_item")).count();
    assert_eq!((names.len(), sequence), (records, i64::try_from(records).unwrap()));
    assert_eq!(version, last_of_setup);
}

#[tokio::test]
async fn an_entry_shows_what_belongs_to_it_and_its_counts() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let sql = "SELECT doc, detail FROM entries WHERE slug = 'EntryAAA'";
    let read = place.db.fetch_pipelined(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())));
    let (doc, detail) = read.await.unwrap().unwrap();
    assert!(doc.contains(r#""contributor_count":1,"files_count":1"#), "{doc}");
    assert!(doc.contains("\u{7f}eUserAAAA") && !doc.contains("Lovelace"), "{doc}");
    assert!(detail.contains("Grace") && detail.contains("a.txt"), "{detail}");

    // A changed contributor or file changes the entry, although the file does not have it; a changed user does not.
    let contributor =
        r#"{"kind":"contributor","slug":"ContrAAA","entry":"EntryAAA","tab":"TabContr","fields":{"FieldBBB":"Mary"}}"#;
    let user = r#"{"kind":"user","slug":"UserAAAA","first_name":"Ada","last_name":"King","email":"ada@example.org","roles":["RoleAAAA"]}"#;
    let (_, reported) = place.import_for(&format!("{contributor}\n{user}\n"), Some("AccountA")).await;
    assert!(reported.is_empty(), "{reported:?}");
    let read = place.db.fetch_pipelined(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())));
    let (doc, detail) = read.await.unwrap().unwrap();
    assert!(detail.contains("Mary") && !detail.contains("Grace"), "{detail}");
    assert!(!doc.contains("King"), "{doc}");
    let text =
        async |sql| place.db.fetch_pipelined(sql, &[], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
    assert!(text("SELECT names FROM users WHERE slug = 'UserAAAA'").await.contains("King"));
    let chapter = text("SELECT doc FROM setup_records WHERE kind = 'chapter'").await;
    assert!(chapter.contains(r#""managers":["UserAAAA"]"#), "{chapter}");
}

#[tokio::test]
async fn every_fault_is_told_with_its_line_and_nothing_is_applied() {
    let place = Place::new().await;
    let faulty = [
        r#"{"kind":"entry","slug":"EntryCCC","title":5,"category":"CategAAA","entrant":"UserAAAA"}"#,
        r#"{"kind":"entry","slug":"EntryDDD","title":"A","category":"NoSuchCa","chapter":"ChapterA","form":"FormAAAA","season":"SeasonAA","entrant":"NoSuchUs","entry_fields":{"NoSuchFi":"x"}}"#,
        r#"{"kind":"entry","slug":"EntryDDD","title":"#,
        r#"{"slug":"EntryDDD"}"#,
        r#"{"kind":"trophy"}"#,
        r"[1]",
        r#"{"kind":"contributor","slug":"ContrAAA","entry":"EntryAAA","tab":"TabContr"}"#,
        r#"{"kind":"user","slug":"short","first_name":"A","last_name":"B"}"#,
        r#"{"kind":"user","slug":"UserCCCC","first_name":"A","last_name":"B","email":"ADA@example.org","surname":"C"}"#,
        r#"{"kind":"account","slug":"AccountB","name":"Other"}"#,
        r#"{"kind":"order_item","order":"NoSuchOr","name":"A","amount":1}"#,
        r#"{"kind":"file","token":"OtherOtherOther","filename":"b.txt","path":"../b.txt"}"#,
        r#"{"kind":"file","token":"FilesFilesFiles","filename":"b.txt"}"#,
        r#"{"kind":"season","slug":"SeasonBB","name":{"en_GB":"2027"},"status":"active"}"#,
        r#"{"kind":"category","slug":"CategCCC","season":"SeasonBB","name":{"fr_FR":"Film"}}"#,
        r#"{"kind":"category","slug":"CategDDD","season":"SeasonBB","name":{"en_GB":"Film"},"chapters":["ChapterA"],"parent":"CategDDD"}"#,
    ];
    let before = whole().lines().count();
    let mut reported = place.faults(&format!("{}{}\n", whole(), faulty.join("\n"))).await;
    reported.sort_by_key(|fault| fault.split(':').nth(1).unwrap().parse::<usize>().unwrap());
    let expected = [
        (1, "entry EntryCCC: title: "),
        (2, "entry EntryDDD: "),
        (2, "entry EntryDDD: category: there is no category NoSuchCa"),
        (2, "entry EntryDDD: entrant: there is no user NoSuchUs"),
        (2, "entry EntryDDD: entry_fields.NoSuchFi: "),
        (3, "43: expected a value"),
        (4, "kind: is required"),
        (5, "kind: is \"trophy\""),
        (6, "1: expected an object"),
        (7, "contributor ContrAAA: slug: is given twice; the first record of it is on line 6"),
        (8, "user: slug: must be a slug"),
        (9, "user UserCCCC: surname: "),
        (10, "account AccountB: slug: "),
        (11, "order_item: order: the file has no order NoSuchOr"),
        (12, "file OtherOtherOther: path: "),
        (13, "file FilesFilesFiles: data: is required"),
        (14, "season SeasonBB: status: "),
        (15, "category CategCCC: name: "),
        (16, "category CategDDD: parent: "),
    ];
    for (line, text) in expected {
        let start = format!("a.jsonl:{}:", before + line);
        let found = reported
            .iter()
            .any(|fault| fault.strip_prefix(&start).is_some_and(|rest| rest.trim_start().starts_with(text)));
        assert!(found, "{start} {text} is not in {reported:#?}");
    }
    for table in ["accounts", "changes", "setup_records", "users", "entries", "orders", "files"] {
        assert_eq!(place.count(table).await, 0, "{table}");
    }
    let stored = place.storage.exists("AccountA", "TokenTokenToken").await.unwrap();
    assert!(!stored, "the bytes of a refused file are not kept");
}

#[tokio::test]
async fn criteria_may_be_nested_in_their_score_set() {
    let place = Place::new().await;
    let text = r#"
{"kind":"account","slug":"AccountA","name":"Awards"}
{"kind":"season","slug":"SeasonAA","name":{"en_GB":"2026"},"status":"active"}
{"kind":"form","slug":"FormAAAA","name":{"en_GB":"Entry"},"season":"SeasonAA"}
{"kind":"score_set","slug":"ScoreAAA","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Final"},"mode":"vip_judging","criteria":[{"slug":"CritAAAA","name":{"en_GB":"Craft"},"maximum":10},{"name":{"en_GB":"Idea"},"maximum":5}]}
"#;
    let outcome = place.import(text).await;
    let criteria = outcome.counts.iter().find(|count| count.kind == Kind::Criterion).unwrap();
    assert_eq!((criteria.read, criteria.changed), (2, 2));
    let export = place.export().await;
    assert_eq!(export.matches(r#""kind":"criterion""#).count(), 2);
    assert_eq!(export.matches(r#""score_set":"ScoreAAA""#).count(), 2);
}

#[tokio::test]
async fn set_up_records_that_do_not_belong_together_are_told() {
    let place = Place::new().await;
    let faulty = [
        r#"{"kind":"season","slug":"SeasonBB","name":{"en_GB":"2027"},"status":"draft"}"#,
        r#"{"kind":"round","slug":"RoundBBB","season":"SeasonBB","form":"FormAAAA","name":{"en_GB":"Entry"},"type":"entry"}"#,
        r#"{"kind":"criterion","slug":"CritBBBB","score_set":"ScoreBBB","name":{"en_GB":"Craft"},"maximum":5}"#,
        r#"{"kind":"score_set","slug":"ScoreBBB","season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"Public"},"mode":"voting"}"#,
        r#"{"kind":"panel","slug":"PanelBBB","season":"SeasonAA","score_set":"ScoreBBB","name":{"en_GB":"Jury"},"judges":["NoSuchUs"],"rounds":["RoundBBB"]}"#,
        r#"{"kind":"discount","slug":"DiscBBBB","season":"SeasonAA","code":"early","percent":5}"#,
    ];
    let before = whole().lines().count();
    let reported = place.faults(&format!("{}{}\n", whole(), faulty.join("\n"))).await;
    for (line, text) in [
        (2, "round RoundBBB: form: FormAAAA must belong to the season of the round"),
        (3, "criterion CritBBBB: score_set: must be a score set of the mode vip_judging"),
        (5, "panel PanelBBB: rounds: RoundBBB must be a round of the type judge"),
        (5, "panel PanelBBB: judges.1: there is no user NoSuchUs"),
        (6, "discount DiscBBBB: code: is that of the discount DiscAAAA too"),
    ] {
        let start = format!("a.jsonl:{}: {text}", before + line);
        assert!(reported.iter().any(|fault| fault.starts_with(&start)), "{start} is not in {reported:#?}");
    }
}

#[tokio::test]
async fn what_is_nested_belongs_to_what_it_is_nested_in() {
    let place = Place::new().await;
    let text = r#"
{"kind":"account","slug":"AccountA","name":"Awards"}
{"kind":"season","slug":"SeasonAA","name":{"en_GB":"2026"},"status":"active"}
{"kind":"form","name":{"en_GB":"Entry"},"season":"SeasonAA","tabs":[{"type":"General","fields":[{"slug":"FieldAAA","type":"text","title":{"en_GB":"Why"}}]},{"slug":"TabContr","type":"Contributors"}]}
{"kind":"category","slug":"CategAAA","season":"SeasonAA","name":{"en_GB":"Film"}}
{"kind":"chapter","slug":"ChapterA","season":"SeasonAA","name":{"en_GB":"North"}}
{"kind":"user","slug":"UserAAAA","first_name":"Ada","last_name":"Lovelace"}
"#;
    place.import(text).await;
    let form = place.export().await.lines().find(|line| line.contains(r#""kind":"form""#)).unwrap()[23..31].to_owned();
    let entry = format!(
        r#"{{"kind":"entry","title":"A","category":"CategAAA","form":"{form}","entrant":"UserAAAA","contributor_count":2,"contributors":[{{"tab":"TabContr"}},{{"slug":"ContrAAA","tab":"TabContr"}}]}}"#
    );
    let (outcome, reported) = place.import_for(&entry, Some("AccountA")).await;
    assert_eq!((reported, outcome.counts.len()), (Vec::new(), 2));
    let export = place.export().await;
    let tabs: Vec<_> = export.lines().filter(|line| line.contains(r#""kind":"tab""#)).collect();
    assert!(tabs.len() == 2 && tabs.iter().all(|tab| tab.contains(&format!(r#""form":"{form}""#))), "{tabs:?}");
    let field = export.lines().find(|line| line.contains(r#""kind":"field""#)).unwrap();
    assert!(field.contains(&format!(r#""form":"{form}","tab":""#)), "{field}");
    let entry = &export.lines().find(|line| line.contains(r#""kind":"entry""#)).unwrap()[24..32];
    let contributors = export.lines().filter(|line| line.contains(&format!(r#""entry":"{entry}""#)));
    assert_eq!(contributors.count(), 2);

    let wrong = format!(
        r#"{{"kind":"entry","slug":"EntryAAA","title":"A","category":"CategAAA","form":"{form}","entrant":"UserAAAA","contributors":[{{"tab":"TabContr","entry":"EntryBBB"}},5],"attachments":{{}}}}"#
    );
    let reported = place.import_for(&wrong, Some("AccountA")).await.1;
    for member in ["contributors.1.entry", "contributors.2", "attachments"] {
        assert!(
            reported.iter().any(|fault| fault.contains(&format!("entry EntryAAA: {member}: "))),
            "{member}: {reported:?}"
        );
    }
    let childless = format!(
        r#"{{"kind":"entry","slug":"EntryCCC","title":"B","category":"CategAAA","form":"{form}","entrant":"UserAAAA","contributors":[],"attachments":null}}"#
    );
    assert_eq!(place.import_for(&childless, Some("AccountA")).await.1, Vec::<String>::new());
}

#[tokio::test]
async fn numbers_are_given_in_the_order_of_the_file_after_the_highest() {
    let place = Place::new().await;
    let entry = |slug: &str, more: &str| {
        format!(r#"{{"kind":"entry","slug":"{slug}","title":"A","category":"CategAAA","entrant":"UserAAAA"{more}}}"#)
    };
    let order = |slug: &str, more: &str| {
        format!(
            r#"{{"kind":"order","slug":"{slug}","season":"SeasonAA","user":"UserAAAA","currency":"GBP","total":1{more}}}"#
        )
    };
    let lines = [
        entry("EntryCCC", ""),
        entry("EntryBBB", r#","local_id":7"#),
        entry("EntryAAA", ""),
        order("OrderCCC", ""),
        order("OrderBBB", r#","invoice_number":"041""#),
        order("OrderAAA", ""),
    ];
    place.import(&format!("{ACCOUNT}\n{SETUP}\n{}\n", lines.join("\n"))).await;
    let export = place.export().await;
    let number = |slug: &str| {
        let line = export.lines().find(|line| line.contains(&format!(r#""slug":"{slug}""#))).unwrap();
        line.split([',', ':']).nth(5).unwrap().trim_matches('"').to_owned()
    };
    assert_eq!(["EntryAAA", "EntryBBB", "EntryCCC"].map(number), ["9", "7", "8"]);
    assert_eq!(["OrderAAA", "OrderBBB", "OrderCCC"].map(number), ["43", "041", "42"]);

    let taken =
        format!("{}\n{}\n", entry("EntryDDD", r#","local_id":7"#), order("OrderDDD", r#","invoice_number":"43""#));
    let reported = place.import_for(&taken, Some("AccountA")).await.1;
    assert_eq!(
        reported,
        [
            "a.jsonl:1: entry EntryDDD: local_id: is that of the entry EntryBBB",
            "a.jsonl:2: order OrderDDD: invoice_number: is that of the order OrderAAA",
        ]
    );
}

#[tokio::test]
async fn the_highest_number_there_is_can_change_hands_and_is_not_given_twice() {
    let place = Place::new().await;
    let highest = (1 << 53) - 1;
    let entry = |slug: &str, number: i64| {
        format!(
            r#"{{"kind":"entry","slug":"{slug}","title":"A","category":"CategAAA","entrant":"UserAAAA","local_id":{number}}}"#
        )
    };
    let two = |first, second| format!("{}\n{}\n", entry("EntryAAA", first), entry("EntryBBB", second));
    place.import(&format!("{ACCOUNT}\n{SETUP}\n{}", two(7, highest))).await;
    let reported = place.import_for(&two(highest, 7), Some("AccountA")).await.1;
    assert_eq!(reported, Vec::<String>::new());
    let reported = place.import_for(&entry("EntryCCC", highest), Some("AccountA")).await.1;
    assert_eq!(reported, ["a.jsonl:1: entry EntryCCC: local_id: is that of the entry EntryAAA"]);
}

#[tokio::test]
async fn unique_values_can_change_hands_within_a_file() {
    let place = Place::new().await;
    let user = |slug: &str, email: &str| {
        format!(r#"{{"kind":"user","slug":"{slug}","first_name":"A","last_name":"B","email":"{email}"}}"#)
    };
    place.import(&format!("{ACCOUNT}\n{}\n{}\n", user("UserAAAA", "a@x.org"), user("UserBBBB", "b@x.org"))).await;
    place.import(&format!("{ACCOUNT}\n{}\n{}\n", user("UserAAAA", "b@x.org"), user("UserBBBB", "a@x.org"))).await;
    let export = place.export().await;
    let line = export.lines().find(|line| line.contains("UserAAAA")).unwrap();
    assert!(line.contains("b@x.org"), "{line}");
    let reported = place.faults(&format!("{ACCOUNT}\n{}\n", user("UserCCCC", "A@x.org"))).await;
    assert_eq!(reported, ["a.jsonl:2: user UserCCCC: email: is that of the user UserBBBB"]);
}

#[tokio::test]
async fn a_file_is_about_one_account_that_it_or_the_command_names() {
    let place = Place::new().await;
    let user = r#"{"kind":"user","slug":"UserAAAA","first_name":"A","last_name":"B"}"#;
    assert!(place.faults(user).await[0].starts_with("a.jsonl: is about no account"));
    let reported = place.import_for(user, Some("AccountA")).await.1;
    assert!(reported[0].contains("does not exist"), "{reported:?}");
    let (_, reported) = place.import_for(ACCOUNT, Some("AccountB")).await;
    assert!(reported[0].starts_with("a.jsonl:1: account AccountA: slug: "), "{reported:?}");
    place.import(ACCOUNT).await;
    let reported = place.import_for(user, Some("AccountA")).await.1;
    assert!(reported.is_empty(), "{reported:?}");
}

#[tokio::test]
async fn a_language_that_stored_records_use_stays_and_each_of_them_is_told() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let before = place.head().await;
    let account = r#"{"kind":"account","slug":"AccountA","name":"Awards","languages":["en_GB"]}"#;
    assert_eq!(
        place.faults(account).await,
        ["a.jsonl:1: chapter ChapterA: name: de_DE is no language of the account; its languages are en_GB"]
    );
    assert_eq!(place.head().await, before);
    let chapter = r#"{"kind":"chapter","slug":"ChapterA","season":"SeasonAA","name":{"en_GB":"North"}}"#;
    place.import(&format!("{chapter}\n{account}")).await;
}

#[tokio::test]
async fn what_answers_have_their_meaning_from_stays_as_soon_as_there_are_entries() {
    let field = |kind: &str| {
        format!(
            r#"{{"kind":"field","slug":"FieldAAA","type":"{kind}","resource":"entries","tab":"TabGener","title":{{"en_GB":"Why"}}}}"#
        )
    };
    let place = Place::new().await;
    place.import(&format!("{SETUP}\n{ACCOUNT}")).await;
    place.import_for(&field("checkbox"), Some("AccountA")).await;
    let (_, reported) = place.import_for(&field("text"), Some("AccountA")).await;
    assert_eq!(reported, Vec::<String>::new());
    place.import_for(PEOPLE, Some("AccountA")).await;
    let (_, reported) = place.import_for(&field("checkbox"), Some("AccountA")).await;
    assert_eq!(reported, ["a.jsonl:1: field FieldAAA: type: must stay text, so that answers keep their meaning"]);
    let (_, reported) = place.import_for(&field("text"), Some("AccountA")).await;
    assert_eq!(reported, Vec::<String>::new());
}

#[tokio::test]
async fn the_highest_local_id_leaves_room_for_those_that_follow() {
    let place = Place::new().await;
    place.import(&whole()).await;
    let entry = |slug: &str, local_id: &str| {
        format!(
            r#"{{"kind":"entry","slug":"{slug}","title":"T","category":"CategAAA","entrant":"UserAAAA"{local_id}}}"#
        )
    };
    let (_, reported) = place.import_for(&entry("EntryCCC", r#","local_id":9007199254740992"#), Some("AccountA")).await;
    assert_eq!(reported, ["a.jsonl:1: entry EntryCCC: local_id: must be an integer from 1 to 9007199254740991"]);
    for (slug, local_id) in [("EntryCCC", r#","local_id":9007199254740990"#), ("EntryDDD", "")] {
        let (_, reported) = place.import_for(&entry(slug, local_id), Some("AccountA")).await;
        assert_eq!(reported, Vec::<String>::new());
    }
}

#[test]
fn no_more_of_a_set_up_is_read_than_an_account_can_have() {
    let mut reported = Vec::new();
    let mut report = |fault: Fault| reported.push(fault.to_string());
    let mut reader = RecordReader::new().unwrap();
    let lines = "{\"kind\":\"role\"}\n".repeat(RECORDS + 5);
    reader.read("a.jsonl", &mut lines.as_bytes(), &mut Faults::new("a.jsonl", &mut report)).unwrap();
    let expected = "a.jsonl:50002: role: kind: is beyond the 50000 records of a set-up; what follows is not read";
    assert_eq!((reader.nameless_setup.len(), reported), (RECORDS + 1, vec![expected.to_owned()]));
}

#[tokio::test]
async fn each_field_behind_more_conditions_than_may_follow_one_another_is_told() {
    let place = Place::new().await;
    let name = |at: usize| numbered("FieldQ", at);
    let field = |at: usize| {
        let condition = if at == 0 { String::new() } else { format!(r#","conditional_field":"{}""#, name(at - 1)) };
        let slug = name(at);
        format!(
            r#"{{"kind":"field","slug":"{slug}","type":"text","tab":"TabGener","title":{{"en_GB":"Q"}}{condition}}}"#
        )
    };
    let chain = |length: usize| (0..=length).map(field).collect::<Vec<_>>().join("\n");
    let reported = place.faults(&format!("{ACCOUNT}\n{SETUP}\n{}", chain(CHAIN + 2))).await;
    assert_eq!(reported.len(), 2, "{reported:#?}");
    assert!(reported.iter().all(|fault| fault.ends_with("makes more than 50 conditions follow one another")));
    place.import(&format!("{ACCOUNT}\n{SETUP}\n{}", chain(CHAIN))).await;
}
