//! `GetEntryCollectionV23` and `GetEntrySummaryV23`.

mod include;
mod model;
mod summary;

use serde_json::{Value, json};

use self::model::{ACCOUNT, Entry, ORDERS, Query, categories, filters, import, population, start};
use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::random::Random;
use crate::harness::{BASE, NOW, Server, XML, tree};

/// More entries than a selection that is gathered whole has.
const MANY: usize = 1_600;

fn slugs(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|entry| entry["slug"].as_str().unwrap().to_owned()).collect()
}

async fn page(server: &Server, query: &str) -> Value {
    server.get(&format!("/entry?{query}")).await.expect(200).json()
}

async fn walked(server: &Server, query: &str, per_page: usize) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = page(server, &format!("{query}&per_page={per_page}&cursor={cursor}")).await;
        found.extend(slugs(&page));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return found,
        }
    }
}

/// Every filter with every value, and some filters together; each with another sort.
fn queries(combinations: usize, random: &mut Random) -> Vec<Query> {
    let filters = filters();
    let mut chosen: Vec<Vec<(&'static str, String)>> = ORDERS.iter().map(|_| Vec::new()).collect();
    for (name, values) in &filters {
        chosen.extend(values.iter().map(|value| vec![(*name, value.clone())]));
        chosen.extend(values.iter().map(|value| match *name {
            "season" => vec![(*name, value.clone()), ("deleted", "included".to_owned())],
            name => vec![(name, value.clone()), ("season", "all".to_owned())],
        }));
    }
    for _ in 0..combinations {
        let mut some = Vec::new();
        for (name, values) in &filters {
            if random.once_in(6) {
                some.push((*name, values[random.below(values.len())].clone()));
            }
        }
        chosen.push(some);
    }
    let sorted = chosen.into_iter().enumerate().map(|(number, filters)| {
        let order = ORDERS[number % ORDERS.len()];
        Query { filters, order, dir: ["", "asc", "desc"][random.below(3)] }
    });
    sorted.collect()
}

/// Compares pages of a query with what the model has.
async fn compare(server: &Server, query: &Query, expected: &[String], per_page: usize) {
    let text = query.text();
    let total = expected.len();
    let slice = |page: usize, size: usize| &expected[total.min((page - 1) * size)..total.min(page * size)];
    let first = page(server, &format!("{text}&per_page={per_page}")).await;
    assert_eq!(first["total"], total, "{text}");
    assert_eq!(slugs(&first), slice(1, per_page), "{text}");
    let last = total.div_ceil(9).max(1);
    for number in [2, last.div_ceil(2), last] {
        let shown = page(server, &format!("{text}&per_page=9&page={number}")).await;
        assert_eq!(slugs(&shown), slice(number, 9), "{text}, page {number}");
    }
    let uncounted = page(server, &format!("{text}&per_page=9&count=none")).await;
    assert_eq!(slugs(&uncounted), slice(1, 9), "{text}");
    assert!(uncounted.get("total").is_none() && (uncounted["next_page_url"] == "") == (total <= 9), "{text}");
}

both_engines! {
    async fn every_filter_and_sort_of_entries_shows_what_the_model_has(server) {
        let mut server = server;
        let mut random = Random(5);
        let entries = population(160, &mut random);
        start(&mut server, &entries).await;
        for query in queries(80, &mut random) {
            let expected = query.expected(&entries, &categories());
            compare(&server, &query, &expected, 100).await;
            assert_eq!(walked(&server, &query.text(), 7).await, expected, "{}", query.text());
        }
    }

    async fn lists_of_many_entries_show_what_the_model_has(server) {
        let mut server = server;
        let mut random = Random(6);
        let entries = population(MANY, &mut random);
        start(&mut server, &entries).await;
        let mut asked = queries(0, &mut random);
        // Those that select many, in every sort and direction.
        for order in ORDERS {
            for dir in ["asc", "desc"] {
                for filters in [vec![("season", "all".to_owned()), ("deleted", "included".to_owned()), ("archived", "all".to_owned())],
                    vec![("archived", "all".to_owned())]] {
                    asked.push(Query { filters, order, dir });
                }
            }
        }
        for text in ["more", "a", "s"] {
            let filters = vec![("title", text.to_owned()), ("season", "all".to_owned()), ("deleted", "included".to_owned()), ("archived", "all".to_owned())];
            asked.extend(["category", "title", ""].map(|order| Query { filters: filters.clone(), order, dir: "" }));
        }
        for query in asked {
            let expected = query.expected(&entries, &categories());
            compare(&server, &query, &expected, 100).await;
            if expected.len() > 1_000 {
                assert_eq!(walked(&server, &query.text(), 100).await, expected, "{}", query.text());
            }
        }
        server.entry_counts(ACCOUNT).await;
    }

    async fn deep_pages_of_entries_are_those_of_the_definition_also_after_changes(server) {
        let mut server = server;
        let mut random = Random(7);
        let mut entries = population(MANY, &mut random);
        let mut held = categories();
        start(&mut server, &entries).await;
        let all = || vec![("season", "all".to_owned()), ("deleted", "included".to_owned()), ("archived", "all".to_owned())];
        let queries: Vec<Query> = ["", "category", "chapter", "applicant", "local_id", "parent_category", "title", "updated"]
            .into_iter()
            .enumerate()
            .map(|(number, order)| Query { filters: if number % 2 == 0 { all() } else { vec![("archived", "all".to_owned())] }, order, dir: ["", "desc"][number / 2 % 2] })
            .collect();
        for round in 0..7 {
            for query in &queries {
                let expected = query.expected(&entries, &held);
                assert!(expected.len() > 1_000, "{}: {}", query.text(), expected.len());
                for (index, slug) in expected.iter().enumerate().rev().step_by(97 + round) {
                    let shown = page(&server, &format!("{}&per_page=1&page={}", query.text(), index + 1)).await;
                    assert_eq!(slugs(&shown), [slug.as_str()], "{}, page {}, round {round}", query.text(), index + 1);
                    assert_eq!(shown["total"], expected.len(), "{}", query.text());
                }
            }
            match round {
                5 => {
                    "Ablaze".clone_into(&mut held[2].name);
                    held[3].parent = Some("CategLow");
                    server.put("/category/CategPos", r#"{"status":"active","translated":{"name":{"en_GB":"Ablaze"}}}"#).await.expect(200);
                    server.put("/category/CategBoo", r#"{"status":"active","translated":{"name":{"en_GB":"Books"}},"parent":"CategLow"}"#).await.expect(200);
                }
                4 => {
                    let changed: Vec<Entry> = population(MANY, &mut Random(99)).into_iter().take(30).collect();
                    for entry in &changed {
                        let place = entries.iter().position(|held| held.slug == entry.slug).unwrap();
                        entries[place] = Entry { prices: entries[place].prices.clone(), ..entry.clone() };
                    }
                    import(&server, &changed).await;
                }
                _ => for _ in 0..25 {
                    let place = random.below(entries.len());
                    change(&server, &mut entries[place], &mut random).await;
                },
            }
        }
    }

    async fn entries_of_a_season_that_had_none_of_the_list_are_on_its_deep_pages_at_once(server) {
        let of = |numbers: std::ops::Range<usize>, place: &str| {
            let lines: Vec<String> = numbers.map(|number| {
                let letters: String = [676, 26, 1].iter().map(|unit| char::from(b'a' + u8::try_from(number / unit % 26).unwrap())).collect();
                format!(
                    r#"{{"kind":"entry","slug":"Entry{letters}","local_id":{},"title":"{}","form":"FormEntr","entrant":"UserEntr","status":"in_progress",{place}}}"#,
                    number + 100,
                    number * 7_919 % 10_007,
                )
            }).collect();
            of_account_a(&lines.join("\n"))
        };
        server.import(&of(0..1_300, r#""season":"SeasonAc","category":"CategChi","chapter":"ChapterN""#)).await;
        for spelling in ["status=in_progress&season=all", "season=all&status=in_progress", "season=all&stat%75s=in_progress"] {
            page(&server, spelling).await;
        }
        server.import(&of(1_300..1_600, r#""season":"SeasonOl","category":"CategOld","chapter":"ChapterO""#)).await;
        let query = "season=all&status=in_progress&order=title";
        for number in [28, 20, 12] {
            let shown = slugs(&page(&server, &format!("{query}&per_page=50&page={number}")).await);
            let expected = walked(&server, query, 100).await;
            assert_eq!(shown, expected[(number - 1) * 50..number * 50], "page {number}");
        }
    }

    async fn pages_of_entries_stay_whole_while_entries_change(server) {
        let mut server = server;
        let entries = population(MANY, &mut Random(8));
        start(&mut server, &entries).await;
        let server = &server;
        let live: Vec<&Entry> = entries.iter().filter(|entry| entry.season == 0 && !entry.deleted).collect();
        let writes = async {
            for (number, entry) in live.iter().take(120).enumerate() {
                server.put(&format!("/entry/{}/update-title", entry.slug), &json!({"title": format!("T {number}")}).to_string()).await.expect(200);
                if number % 3 == 0 {
                    server.delete(&format!("/entry/{}", entry.slug)).await.expect(204);
                }
            }
        };
        let reads = async {
            for number in 0..160_usize {
                let order = ORDERS[number % ORDERS.len()];
                let before = 100 * (number as u64 % 14);
                let shown = page(server, &format!("season=all&archived=all&order={order}&per_page=100&page={}", before / 100 + 1)).await;
                let count = slugs(&shown).len() as u64;
                let total = shown["total"].as_u64().unwrap();
                assert_eq!(count, total.saturating_sub(before).min(100), "{order}: the count and the page are of one time");
            }
        };
        futures_util::future::join(writes, reads).await;
    }

    async fn a_page_of_entries_is_in_its_envelope_in_both_formats(server) {
        let answer = server.get("/entry?per_page=1&order=title").await.expect(200);
        let shown = answer.json();
        let members: Vec<_> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["current_page", "data", "first_page_url", "last_page", "last_page_url", "next_page_url",
            "prev_page_url", "path", "per_page", "from", "to", "total"]);
        assert_eq!((&shown["total"], &shown["last_page"]), (&2.into(), &2.into()));
        assert_eq!(shown["next_page_url"], format!("{BASE}/entry?per_page=1&order=title&page=2"));
        let single = server.get("/entry/EntryOne").await.expect(200).json();
        let mut members = single.as_object().unwrap().clone();
        for member in ["entry_fields", "attachments", "contributors"] {
            members.shift_remove(member);
        }
        assert_eq!(shown["data"][0], Value::Object(members.clone()));
        assert!(shown["data"][0].as_object().unwrap().keys().eq(members.keys()), "in the order of the specification");
        let xml = server.get_with("/entry?per_page=1&order=title", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
        assert_ne!(answer.header("etag"), xml.header("etag"));
        let beyond = server.get("/entry?page=9").await.expect(200).json();
        assert_eq!((&beyond["data"], &beyond["first_page_url"]), (&json!([]), &json!("/entry?page=1")));
        let empty = server.get("/entry?season=NoSuchSe").await.expect(200).json();
        assert_eq!((&empty["total"], &empty["last_page"]), (&0.into(), &1.into()));
    }

    async fn a_page_of_entries_has_another_tag_when_something_has_changed(server) {
        let get = async |tag: &str| server.get_with("/entry?per_page=1", &[("if-none-match", tag)]).await;
        let tag = server.get("/entry?per_page=1").await.expect(200).header("etag").unwrap().to_owned();
        for _ in 0..2 {
            get(&tag).await.expect(304);
        }
        server.put("/entry/EntryTwo/update-title", r#"{"title":"Another"}"#).await.expect(200);
        let changed = get(&tag).await.expect(200);
        assert_eq!(changed.json()["data"][0]["title"], "Another");
        server.put("/category/CategChi", r#"{"status":"active","translated":{"name":{"en_GB":"Bills"}}}"#).await.expect(200);
        let renamed = get(changed.header("etag").unwrap()).await.expect(200).json();
        assert_eq!(renamed["data"][0]["category"]["name"]["en_GB"], "Bills");
    }

    async fn without_an_active_season_the_list_of_entries_is_empty(server) {
        let lines = r#"{"kind":"season","slug":"SeasonAc","name":{"en_GB":"Season 2026"},"status":"archived"}"#;
        server.import(&crate::harness::fixture::of_account_a(lines)).await;
        for path in ["/entry", "/entry?cursor=", "/entry?order=category", "/entry?title=e"] {
            let shown = server.get(path).await.expect(200).json();
            assert_eq!((&shown["total"], &shown["data"]), (&json!(0), &json!([])), "{path}");
        }
        assert_eq!(server.get("/entry?season=all").await.expect(200).json()["total"], 3);
        assert_eq!(server.get("/entry/summary").await.expect(200).json()["total"], 0);
    }

    async fn errors_of_the_list_of_entries_name_each_filter_that_is_unknown_or_wrong(server) {
        for format in FORMATS {
            let get = async |query: &str| server.get_with(&format!("/entry?{query}"), &[("accept", format)]).await;
            for query in ["status=invited", "status=Submitted", "moderation=none", "payment_status=Paid", "entrant=x", "price=all",
                "category=all", "season=x", "archived=included", "deleted=all", "title=", "tag=", "review_status=",
                "updated_at=2026-01-31", "updated_at[on]=x", "include=comments", "include=", "include=entry_fields,x"] {
                let answer = get(query).await.expect(400);
                assert!(answer.text().contains("invalid_filter_values"), "{query}");
            }
            for query in ["Status=submitted", "colour=red", "updated_at[since]=2026-01-31", "trashed=all"] {
                let answer = get(query).await.expect(400);
                assert!(answer.text().contains("invalid_filter_names"), "{query}");
            }
            get("page=0").await.expect(400);
            get("cursor=AAAA").await.expect(400);
            get("order=nothing").await.expect(200);
        }
        let first = server.get("/entry?cursor=&per_page=1").await.expect(200).json();
        let cursor = first["next_cursor"].as_str().unwrap();
        server.get(&format!("/entry?cursor={cursor}&per_page=1")).await.expect(200);
        for order in ["title", "category", "local_id", "parent_category"] {
            server.get(&format!("/entry?order={order}&cursor={cursor}")).await.expect(400);
        }
    }
}

/// Changes an entry through the interface and in the model.
async fn change(server: &Server, entry: &mut Entry, random: &mut Random) {
    let now = kernel::text::Timestamp::parse(NOW).unwrap().as_seconds();
    let path = format!("/entry/{}", entry.slug);
    if entry.deleted {
        server.post(&format!("{path}/restore"), "").await.expect(204);
        entry.deleted = false;
        return;
    }
    if entry.season == 1 {
        return;
    }
    let put = async |path: &str, body: Value| drop(server.put(path, &body.to_string()).await.expect(200));
    match random.below(6) {
        0 => {
            server.delete(&path).await.expect(204);
            entry.deleted = true;
            return;
        }
        1 => {
            entry.title = format!("changed {}", random.below(9));
            put(&format!("{path}/update-title"), json!({"title": entry.title})).await;
        }
        2 if entry.season == 0 => {
            let chapters: Vec<_> =
                ["ChapZulu", "ChapAlph", "ChapAlpi"].into_iter().filter(|to| *to != entry.chapter).collect();
            entry.chapter = random.pick(&chapters);
            put(&format!("{path}/update-chapter"), json!({"chapter": entry.chapter})).await;
        }
        3 if entry.season == 0 => {
            let all: Vec<_> = ["CategTop", "CategLow", "CategPos", "CategBoo", "CategZin"]
                .into_iter()
                .filter(|to| *to != entry.category)
                .collect();
            entry.category = random.pick(&all);
            put(&format!("{path}/update-category"), json!({"category": entry.category})).await;
        }
        4 => {
            entry.moderation = if entry.moderation == "approved" { "rejected" } else { "approved" };
            put(&path, json!({"moderation_status": entry.moderation})).await;
        }
        _ => {
            entry.entrant = (entry.entrant + 1) % 4;
            let entrant = ["UserAsaa", "UserAsab", "UserZoee", "UserBobb"][entry.entrant];
            put(&path, json!({"entrant": entrant})).await;
        }
    }
    entry.updated = now;
}
