//! A request takes as many statements with many records as with few.

use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::of_account_a;

/// Orders, entries and chapters with these numbers.
fn records(numbers: std::ops::Range<usize>) -> String {
    let mut lines = String::from(
        r#"{"kind":"review_stage","slug":"StageOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"S"},"timing":"after_submission","reviewer_kinds":["entrant"]}"#,
    );
    for number in numbers {
        let letters: String = [17_576, 676, 26, 1]
            .iter()
            .map(|unit| char::from(b'a' + u8::try_from(number / unit % 26).unwrap()))
            .collect();
        let status = if number % 3 == 0 { "awaiting_payment" } else { "paid" };
        let season = if number % 5 == 0 { "SeasonOl" } else { "SeasonAc" };
        lines.push_str(&format!(
            r#"
{{"kind":"user","slug":"User{letters}","first_name":"F","last_name":"L","email":"{letters}@example.org","language":"{language}"}}
{{"kind":"chapter","slug":"Chap{letters}","season":"SeasonAc","name":{{"en_GB":"C"}},"status":"active"}}
{{"kind":"category","slug":"Cate{letters}","season":"SeasonAc","name":{{"en_GB":"C"}},"status":"active"}}
{{"kind":"entry","slug":"Entr{letters}","local_id":{local_id},"title":"E","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr"}}
{{"kind":"review_task","token":"TokenOfTask{letters}","review_stage":"StageOne","entry":"Entr{letters}","reviewer":[{{"name":"Ada","email":"ada@example.org"}}]}}
{{"kind":"order","slug":"Orde{letters}","invoice_number":"I{invoice}","season":"{season}","user":"UserEntr","currency":"GBP","payment_status":"{status}","test":{test},"total":{number}.00}}"#,
            local_id = number + 100,
            invoice = number + 100,
            language = if number % 3 == 0 { "de_DE" } else { "en_GB" },
            test = number % 7 == 0,
        ));
    }
    of_account_a(lines.trim_start())
}

/// Imports records with these numbers.
async fn import(server: &Server, numbers: std::ops::Range<usize>) {
    server.import(&records(numbers)).await;
    server.get("/season").await.expect(200);
}

/// The statements of the last of such reads, the first of which fill what is kept in memory.
async fn read(server: &Server, path: &str) -> u64 {
    let mut last = 0;
    for _ in 0..4 {
        last = server.statements_of(path).await;
    }
    last
}

/// The statements of the last of such writes.
async fn written(server: &Server, path: &str, bodies: [&str; 2]) -> u64 {
    let mut last = 0;
    for body in bodies.into_iter().chain(bodies) {
        let before = server.db.statements();
        server.put(path, body).await.expect(200);
        last = server.db.statements() - before;
    }
    last
}

both_engines! {
    async fn a_request_takes_the_same_statements_however_many_records_there_are(server) {
        let mut by_size = Vec::new();
        let mut imported = 0;
        for size in [10, 200, 2_000] {
            import(&server, imported..size).await;
            imported = size;
            let mut counts = Vec::new();
            for path in [
                "/order",
                "/order?per_page=100",
                "/order?page=2&per_page=3",
                "/order?season=all&order=total&dir=desc",
                "/order?season=all&deleted=included&test=hide&order=season",
                "/order?order=payment_status&status=paid",
                "/order?cursor=",
                "/order?count=none",
                "/account",
                "/season",
                "/season/SeasonAc",
                "/form?order=name",
                "/form/FormEntr",
                "/category",
                "/category?season=all&order=entry_count&deleted=included",
                "/category/CategChi",
                "/chapter?order=name",
                "/chapter/ChapterN",
                "/tax?cursor=",
                "/round?season=all",
                "/score-set?season=all",
                "/entry",
                "/entry?per_page=100&include=entry_fields,attachments,contributors",
                "/entry?page=2&per_page=3&order=title&dir=desc",
                "/entry?season=all&order=category&deleted=included",
                "/entry?order=parent_category&cursor=",
                "/entry?title=E&archived=all",
                "/entry?entrant=UserEntr&updated_at[after]=2020-01-01",
                "/entry?count=none",
                "/entry/EntryOne",
                "/entry/summary",
                "/user",
                "/user?per_page=100&order=name&dir=desc",
                "/user?page=2&per_page=3&order=email",
                "/user?entries=none&language=de_DE&trashed=all&cursor=",
                "/user?count=none",
                "/user/UserEntr",
                "/user/mara@example.org",
                "/attachment",
                "/contributor?order=FieldCtr&season=all",
                "/review-task?reviewer=ada&deleted=included",
                "/review-task?season=all&cursor=",
                "/leaderboard/publication?cursor=",
            ] {
                counts.push((path, read(&server, path).await));
            }
            let moves = [r#"{"chapter":"ChapterS"}"#, r#"{"chapter":"ChapterN"}"#];
            counts.push(("move", written(&server, "/entry/EntryOne/update-chapter", moves).await));
            let changes = [r#"{"status":"inactive"}"#, r#"{"status":"active"}"#];
            let answers = [r#"{"value":"a"}"#, r#"{"value":"b"}"#];
            let path = "/attachment/TokenOfTheFirstFileOfAll";
            let order = [r#"{"order":2}"#, r#"{"order":3}"#];
            counts.push(("answer", written(&server, "/entry/EntryOne/update-field/FieldTxt", answers).await));
            counts.push(("attachment", written(&server, path, order).await));
            counts.push(("chapter", written(&server, "/chapter/ChapterN", changes).await));
            let managers = [r#"{"managers":[]}"#, r#"{"managers":["UserMana"]}"#];
            let cookies = [r#"{"marketing_cookies":true}"#, r#"{"marketing_cookies":false}"#];
            counts.push(("user", written(&server, "/user/UserMana", cookies).await));
            counts.push(("managers", written(&server, "/chapter/ChapterN", managers).await));
            by_size.push(counts);
        }
        println!("statements: {:?}", by_size[0]);
        assert_eq!(by_size[0], by_size[1]);
        assert_eq!(by_size[0], by_size[2]);
    }

    async fn a_page_takes_one_statement_wherever_it_is_and_one_more_after_a_change(server) {
        import(&server, 0..2_000).await;
        for order in ["", "title", "category", "chapter"] {
            for page in [1, 20, 100, 190] {
                // In another spelling no answer is repeated.
                let mut taken = Vec::new();
                for per_page in ["per_page", "per%5Fpage", "%70er_page"] {
                    let before = server.db.statements();
                    server.get(&format!("/entry?order={order}&{per_page}=10&page={page}")).await.expect(200);
                    taken.push(server.db.statements() - before);
                }
                assert_eq!(taken[1..], [1, 1], "{order}, page {page}");
            }
        }
        let path = "/entry/EntryOne/update-field/FieldTxt";
        server.send(server.request("PUT", path, &[], Some(r#"{"value":"another"}"#))).await.expect(200);
        // Where the account stands, and what has changed of the entries and of their sets; no user has changed.
        for (path, statements) in [("/entry?per_page=10", 4), ("/entry?%70er_page=10", 1)] {
            let before = server.db.statements();
            server.get(path).await.expect(200);
            assert_eq!(server.db.statements() - before, statements, "{path}");
        }
    }

    async fn the_last_page_takes_the_same_statements_as_the_first(server) {
        import(&server, 0..2_000).await;
        for query in ["season=all", "season=all&order=total", "order=created_at&dir=desc", "season=all&order=season"] {
            let at = async |page: usize| {
                read(&server, &format!("/order?{query}&per_page=10&page={page}")).await
            };
            let first = at(1).await;
            for page in [20, 75, 150] {
                assert_eq!(at(page).await, first, "{query}, page {page}");
            }
        }
    }
}
