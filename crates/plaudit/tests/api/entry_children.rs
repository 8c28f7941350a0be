//! `GetAttachmentCollectionV23` and `GetContributorCollectionV23`: every filter and sort against a model.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::random::Random;
use crate::harness::{BASE, JSON, Server, XML, tree};

/// An attachment or a contributor, with what the lists know of its entry.
#[derive(Clone, Debug)]
struct Known {
    name: String,
    entry: String,
    title: &'static str,
    season: &'static str,
    category: &'static str,
    chapter: &'static str,
    tab: &'static str,
    status: &'static str,
    moderation: &'static str,
    payment: &'static str,
    review: &'static str,
    tag: &'static str,
    order: i64,
    answer: Option<&'static str>,
    created: String,
    updated: String,
    is_listed: bool,
}

const SETUP: &str = r#"{"kind":"tab","slug":"TabAttaX","form":"FormEntr","type":"Attachments","order":4}
{"kind":"tab","slug":"TabContX","form":"FormEntr","type":"Contributors","order":5}
{"kind":"field","slug":"FieldNum","form":"FormEntr","tab":"TabContr","resource":"contributors","type":"numeric","title":{"en_GB":"Share"}}"#;

fn letters(number: usize) -> String {
    [676, 26, 1].iter().map(|unit| char::from(b'a' + u8::try_from(number / unit % 26).unwrap())).collect()
}

fn time(random: &mut Random) -> String {
    format!("2025-0{}-1{}T00:00:00.000000Z", 1 + random.below(3), random.below(3))
}

/// An entry, which nothing belongs to yet.
fn of_entry(number: usize, random: &mut Random) -> Known {
    let (season, category, chapter) = if random.once_in(4) {
        ("SeasonOl", "CategOld", random.pick(&["ChapterO", "ChapterP"]))
    } else {
        ("SeasonAc", random.pick(&["CategChi", "CategPar"]), random.pick(&["ChapterN", "ChapterS"]))
    };
    Known {
        name: String::new(),
        entry: format!("Entri{}", letters(number)),
        title: random.pick(&["Zebra", "ape", "Ape", "Öl", "zebra"]),
        season,
        category,
        chapter,
        tab: "",
        status: random.pick(&["submitted", "in_progress", "resubmission_required", "resubmitted"]),
        moderation: random.pick(&["approved", "undecided", "rejected"]),
        payment: random.pick(&["Paid", "Unpaid"]),
        review: random.pick(&["", "passed", "on hold"]),
        tag: random.pick(&["", "red", "Blue"]),
        order: 0,
        answer: None,
        created: time(random),
        updated: time(random),
        is_listed: !random.once_in(8),
    }
}

fn attachment(of_entry: &Known, number: usize, place: usize, random: &mut Random) -> (String, Known) {
    let deleted = random.once_in(8);
    let known = Known {
        name: format!("TokenOfAttachment{}{}", letters(number), letters(random.below(26) * 26 + place)),
        tab: random.pick(&["TabAttac", "TabAttaX"]),
        order: i64::try_from(random.below(3)).unwrap(),
        created: time(random),
        updated: time(random),
        is_listed: of_entry.is_listed && !deleted,
        ..of_entry.clone()
    };
    let file = json!({"kind": "file", "token": known.name, "filename": "a.txt", "data": "YQ=="});
    let line = json!({"kind": "attachment", "token": known.name, "entry": known.entry, "tab": known.tab,
        "order": known.order, "created": known.created, "updated": known.updated, "deleted": deleted});
    (format!("\n{file}\n{line}"), known)
}

fn contributor(of_entry: &Known, number: usize, place: usize, random: &mut Random) -> (String, Known) {
    let deleted = random.once_in(8);
    let tab = random.pick(&["TabContr", "TabContX"]);
    let answer = random.pick(&[None, Some("2"), Some("-10"), Some("10"), Some("2.50")]);
    let known = Known {
        name: format!("C{}{}x", letters(number), letters(random.below(26) * 26 + place)),
        tab,
        answer: answer.filter(|_| tab == "TabContr"),
        created: time(random),
        updated: time(random),
        is_listed: of_entry.is_listed && !deleted,
        ..of_entry.clone()
    };
    let number: Option<Value> = known.answer.map(|answer| serde_json::from_str(answer).unwrap());
    let line = json!({"kind": "contributor", "slug": known.name, "entry": known.entry, "tab": tab,
        "fields": {"FieldNum": number}, "created": known.created, "updated": known.updated, "deleted": deleted});
    (format!("\n{line}"), known)
}

/// Entries, and what belongs to them: the lines of a program file, the attachments and the contributors.
fn population(count: usize, random: &mut Random) -> (String, Vec<Known>, Vec<Known>) {
    let (mut lines, mut attachments, mut contributors) = (SETUP.to_owned(), Vec::new(), Vec::new());
    for number in 0..count {
        let entry = of_entry(number, random);
        lines.push_str(&format!(
            "\n{}",
            json!({"kind": "entry", "slug": entry.entry, "local_id": number + 100, "title": entry.title,
                "season": entry.season, "category": entry.category, "chapter": entry.chapter, "form": "FormEntr",
                "entrant": "UserEntr", "status": entry.status, "moderation_status": entry.moderation,
                "payment_status": entry.payment, "review_status": entry.review, "tags": entry.tag,
                "deleted": !entry.is_listed})
        ));
        for place in 0..random.below(4) {
            let (line, known) = attachment(&entry, number, place, random);
            lines.push_str(&line);
            attachments.push(known);
        }
        for place in 0..random.below(4) {
            let (line, known) = contributor(&entry, number, place, random);
            lines.push_str(&line);
            contributors.push(known);
        }
    }
    (lines, attachments, contributors)
}

type Keep = Box<dyn Fn(&Known) -> bool>;

/// Filters, with what they keep. The season of the first ones is left out.
fn filters(of: &str) -> Vec<(String, Keep)> {
    fn one(filter: &str, keep: impl Fn(&Known) -> bool + 'static) -> (String, Keep) {
        (filter.to_owned(), Box::new(keep))
    }
    let active = |known: &Known| known.season == "SeasonAc";
    let mut filters = vec![
        one("", active),
        one("season=SeasonOl", |known| known.season == "SeasonOl"),
        one("season=all", |_| true),
        one("season=NoSuchSe", |_| false),
        one("category=CategPar", move |known| active(known) && known.category == "CategPar"),
        one("season=all&chapter=ChapterP", |known| known.chapter == "ChapterP"),
        one("season=all&entry=Entriaab", |known| known.entry == "Entriaab"),
        one("season=all&tab=TabContX", |known| known.tab == "TabContX"),
        one("tab=TabAttac", move |known| active(known) && known.tab == "TabAttac"),
        one("season=all&tab=TabAttac&category=CategChi&chapter=ChapterN", |known| {
            known.tab == "TabAttac" && known.category == "CategChi" && known.chapter == "ChapterN"
        }),
    ];
    if of == "contributor" {
        filters.extend([
            one("season=all&status=resubmitted", |known| known.status == "resubmitted"),
            one("status=in_progress&moderation=approved", move |known| {
                active(known) && known.status == "in_progress" && known.moderation == "approved"
            }),
            one("season=all&payment_status=paid", |known| known.payment == "Paid"),
            one("season=all&payment_status=awaiting_payment", |known| known.payment == "Unpaid"),
            one("season=all&review_status=on%20hold", |known| known.review == "on hold"),
            one("season=all&tag=Blue", |known| known.tag == "Blue"),
            one("tag=blue", |_| false),
            one("season=all&tag=red&entry=Entriaac&moderation=rejected", |known| {
                known.tag == "red" && known.entry == "Entriaac" && known.moderation == "rejected"
            }),
        ]);
    }
    filters
}

/// What a record is sorted by in ascending order, before its name.
fn key(known: &Known, order: &str) -> (i64, String) {
    match order {
        "entry" => (0, known.title.to_lowercase()),
        "tab" => (0, known.tab.to_owned()),
        "created" => (0, known.created.clone()),
        "order" => (known.order, String::new()),
        "FieldNum" => {
            let rank = [None, Some("-10"), Some("2"), Some("2.50"), Some("10")];
            (i64::try_from(rank.iter().position(|answer| *answer == known.answer).unwrap()).unwrap(), String::new())
        }
        _ => (0, known.updated.clone()),
    }
}

/// The names of the records of a list in their order.
fn expected(known: &[Known], keep: &Keep, order: &str, dir: &str) -> Vec<String> {
    let mut kept: Vec<&Known> = known.iter().filter(|known| known.is_listed && keep(known)).collect();
    let is_default = order.is_empty() || order == "updated";
    let is_descending = dir == "desc" || (dir.is_empty() && order.is_empty());
    kept.sort_by(|left, right| {
        let by_key =
            key(left, if is_default { "" } else { order }).cmp(&key(right, if is_default { "" } else { order }));
        let by_key = if is_descending { by_key.reverse() } else { by_key };
        // Ties go by name, whichever comes first.
        by_key.then_with(|| left.name.cmp(&right.name))
    });
    kept.iter().map(|known| known.name.clone()).collect()
}

fn names(page: &Value) -> Vec<String> {
    let name = |record: &Value| record["token"].as_str().or(record["slug"].as_str()).unwrap().to_owned();
    page["data"].as_array().unwrap().iter().map(name).collect()
}

async fn walked(server: &Server, path: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("{path}&per_page=7&cursor={cursor}")).await.expect(200).json();
        all.extend(names(&page));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return all,
        }
    }
}

both_engines! {
    async fn every_filter_and_sort_selects_and_orders_what_the_model_does(server) {
        server.delete("/attachment/TokenOfTheFirstFileOfAll").await.expect(204);
        server.delete("/contributor/Contribu").await.expect(204);
        let (lines, attachments, contributors) = population(60, &mut Random(7));
        server.import(&of_account_a(&lines)).await;
        for (of, known, orders) in [
            ("attachment", &attachments, ["", "created", "entry", "order", "tab", "updated", "colour"]),
            ("contributor", &contributors, ["", "created", "entry", "FieldNum", "tab", "updated", "NoSuchFi"]),
        ] {
            for (filter, keep) in filters(of) {
                for (index, order) in orders.iter().enumerate() {
                    let named = if index == 6 { "" } else { order };
                    for dir in ["", "asc", "desc"] {
                        let wanted = expected(known, &keep, named, dir);
                        let mut path = format!("/{of}?{filter}&order={order}");
                        if !dir.is_empty() {
                            path.push_str(&format!("&dir={dir}"));
                        }
                        let path = path.replace("?&", "?").replace("order=&", "order=x&");
                        let page = server.get(&format!("{path}&per_page=100")).await.expect(200).json();
                        assert_eq!(names(&page), wanted[..wanted.len().min(100)], "{path}");
                        assert_eq!(page["total"], wanted.len(), "{path}");
                        if !wanted.is_empty() && filter.len() < 12 {
                            assert_eq!(walked(&server, &path).await, wanted, "{path}");
                        }
                    }
                }
            }
        }
    }

    async fn pages_by_number_follow_one_another_and_tell_their_place(server) {
        let (lines, attachments, _) = population(40, &mut Random(3));
        server.import(&of_account_a(&lines)).await;
        let keep: Keep = Box::new(|_| true);
        let mut wanted = expected(&attachments, &keep, "entry", "asc");
        wanted.retain(|name| name != "TokenOfTheFirstFileOfAll");
        server.delete("/attachment/TokenOfTheFirstFileOfAll").await.expect(204);
        for (index, chunk) in wanted.chunks(5).enumerate() {
            let path = format!("/attachment?season=all&order=entry&per_page=5&page={}", index + 1);
            let page = server.get(&path).await.expect(200).json();
            assert_eq!(names(&page), chunk);
            assert_eq!(page["from"], index * 5 + 1);
            let page = server.get(&format!("{path}&count=none")).await.expect(200).json();
            assert_eq!(names(&page), chunk);
            assert_eq!(page.get("total"), None);
        }
        let beyond = server.get("/attachment?season=all&per_page=5&page=1000").await.expect(200).json();
        assert_eq!((names(&beyond).len(), &beyond["first_page_url"]), (0, &json!("/attachment?season=all&per_page=5&page=1")));
    }

    async fn a_list_shows_what_a_single_read_shows_in_both_formats(server) {
        for (list, one) in [
            ("/attachment", "/attachment/TokenOfTheFirstFileOfAll"),
            ("/contributor", "/contributor/Contribu"),
        ] {
            let page = server.get(list).await.expect(200).json();
            assert_eq!(page["data"], json!([server.get(one).await.expect(200).json()]));
            assert_eq!(page["path"], format!("{BASE}{list}"));
            for path in [list, one] {
                for language in ["", "all", "de_DE"] {
                    let headers = |format| [("accept", format), ("x-api-language", language)];
                    let json = server.get_with(path, &headers(JSON)).await.expect(200);
                    let xml = server.get_with(path, &headers(XML)).await.expect(200);
                    tree::assert_same(&json.body, &xml.body);
                }
            }
        }
    }

    async fn a_wrong_query_is_told(server) {
        for path in [
            "/attachment?tag=red",
            "/attachment?entry=all",
            "/attachment?status=submitted",
            "/contributor?status=invited",
            "/contributor?payment_status=Paid",
            "/contributor?tag=",
            "/contributor?season=2025",
        ] {
            for format in FORMATS {
                let answer = server.get_with(path, &[("accept", format)]).await.expect(400);
                assert!(error_names(&answer, format).is_some(), "{path}");
            }
        }
        let cursor = server.get("/contributor?cursor=&season=all").await.expect(200).json();
        assert_eq!(cursor["next_cursor"], Value::Null);
        server.get("/attachment?cursor=AAAAAAAAAAAB").await.expect(400);
        server.get("/contributor?order=FieldCtr&cursor=AAAAAAAAAAAB").await.expect(400);
    }

    async fn what_changes_of_an_entry_is_followed_by_what_belongs_to_it(server) {
        let listed = async |path: &str| names(&server.get(path).await.expect(200).json());
        let (token, slug) = ("TokenOfTheFirstFileOfAll", "Contribu");
        let both = async |filter: &str| {
            let of = async |list: &str| listed(&format!("/{list}?{filter}")).await.len();
            (of("attachment").await, of("contributor").await)
        };
        assert_eq!(both("chapter=ChapterN&entry=EntryOne").await, (1, 1));
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        assert_eq!((both("chapter=ChapterN").await, both("chapter=ChapterS").await), ((0, 0), (1, 1)));
        let tag = server.get(&format!("/attachment/{token}")).await.header("etag").unwrap().to_owned();
        server.put("/entry/EntryOne/update-title", r#"{"title":"Another title"}"#).await.expect(200);
        let shown = server.get_with(&format!("/attachment/{token}"), &[("if-none-match", &tag)]).await.expect(200);
        assert_eq!(shown.json()["entry"]["title"], "Another title");
        assert_eq!(server.get(&format!("/contributor/{slug}")).await.json()["entry"]["title"], "Another title");
        let changes = server.changes("AccountA").await;
        let is_written = |change: &String| change.starts_with("attachment") || change.starts_with("contributor");
        assert!(!changes.last_chunk::<3>().unwrap().iter().any(is_written), "{changes:?}");
        assert_eq!(both("order=entry").await, (1, 1));
        server.put("/entry/EntryOne", r#"{"status":"in_progress","moderation_status":"approved"}"#).await.expect(200);
        assert_eq!(listed("/contributor?status=in_progress&moderation=approved").await, [slug]);
        assert_eq!(both("").await, (1, 1));
        server.delete("/entry/EntryOne").await.expect(204);
        assert_eq!(both("season=all").await, (0, 0));
        server.get(&format!("/attachment/{token}")).await.expect(404);
        server.get(&format!("/contributor/{slug}")).await.expect(404);
        server.put(&format!("/attachment/{token}"), "{}").await.expect(404);
        server.delete(&format!("/contributor/{slug}")).await.expect(404);
        server.post("/entry/EntryOne/restore", "").await.expect(204);
        assert_eq!(both("season=all").await, (1, 1));
        server.post("/entry/EntryOne/copy", "").await.expect(201);
        assert_eq!(both("season=all").await, (1, 2));
        let line = r#"{"kind":"entry","slug":"EntryOne","local_id":1,"title":"Imported","status":"submitted","season":"SeasonOl","category":"CategOld","chapter":"ChapterO","form":"FormEntr","entrant":"UserEntr"}"#;
        server.import(&of_account_a(line)).await;
        assert_eq!(both("season=SeasonOl").await, (1, 1));
        assert_eq!(server.get(&format!("/contributor/{slug}")).await.json()["season"]["slug"], "SeasonOl");
    }

    async fn a_page_is_one_statement_however_many_there_are(server) {
        let mut counts = Vec::new();
        for count in [5, 300] {
            let (lines, ..) = population(count, &mut Random(11));
            server.import(&of_account_a(&lines)).await;
            let mut taken = Vec::new();
            for path in [
                "/attachment",
                "/attachment?season=all&order=entry&per_page=100",
                "/attachment?entry=EntryOne&cursor=",
                "/attachment?page=3&per_page=2&order=order&dir=desc",
                "/attachment/TokenOfTheFirstFileOfAll",
                "/contributor?tag=red&season=all",
                "/contributor?order=FieldNum&season=all&per_page=100",
                "/contributor?count=none&order=tab",
                "/contributor/Contribu",
                "/file/TokenOfTheFirstFileOfAll",
            ] {
                server.get(path).await.expect(200);
                taken.push(server.statements_of(path).await);
            }
            counts.push(taken);
        }
        assert_eq!(counts[0], vec![1; 10]);
        assert_eq!(counts[1], counts[0]);
    }

    async fn an_export_of_what_belongs_to_entries_is_a_good_import(server) {
        let (lines, ..) = population(20, &mut Random(5));
        server.import(&of_account_a(&lines)).await;
        let exported = server.export("AccountA").await;
        server.import(&exported).await;
        assert_eq!(server.export("AccountA").await, exported);
    }
}
