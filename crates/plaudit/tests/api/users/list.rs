//! The list of users: every filter and sort against a model.

use serde_json::Value;

use super::wrong;
use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::random::Random;
use crate::harness::{BASE, Server, XML, tree};

/// A user as the model has it.
#[derive(Clone, Debug)]
struct Known {
    slug: String,
    first_name: String,
    last_name: String,
    email: String,
    mobile: String,
    language: &'static str,
    roles: Vec<&'static str>,
    created_by: &'static str,
    created_at: String,
    confirmed_at: Option<String>,
    confirmed: bool,
    updated: String,
    season_joined: Option<&'static str>,
    deleted: bool,
    seasons: Vec<&'static str>,
}

const SEASONS: [&str; 3] = ["SeasonAc", "SeasonOl", "SeasonDr"];
const ROLES: [&str; 3] = ["RoleMana", "RoleJudg", "RoleEntr"];
const NAMES: [&str; 8] = ["Åsa", "asa", "Zoë", "zoe", "", "Straße", "strasse", "李"];

fn letters(number: usize) -> String {
    [26, 1].iter().map(|unit| char::from(b'a' + u8::try_from(number / unit % 26).unwrap())).collect()
}

fn time(number: usize) -> String {
    format!("2025-0{}-1{}T00:00:00.000000Z", 1 + number / 10 % 9, number % 10)
}

fn population(count: usize, random: &mut Random) -> Vec<Known> {
    let user = |number: usize, random: &mut Random| {
        let confirmed = random.once_in(2);
        let mut roles: Vec<_> = ROLES.into_iter().filter(|_| random.once_in(2)).collect();
        if random.once_in(2) {
            roles.reverse();
        }
        Known {
            slug: format!("Person{}", letters(number)),
            first_name: random.pick(&NAMES).to_owned(),
            last_name: random.pick(&NAMES).to_owned(),
            email: if random.once_in(5) {
                String::new()
            } else {
                format!("{}{number}@x.org", random.pick(&["B", "a", "Ä"]))
            },
            mobile: if random.once_in(2) {
                String::new()
            } else {
                format!("+4416{:06}", random.below(1_000) * 1_000 + number)
            },
            language: random.pick(&["en_GB", "de_DE", "ar_AR"]),
            roles,
            created_by: random.pick(&["manual", "registration", "invited", "api"]),
            created_at: time(random.below(30)),
            confirmed_at: (confirmed && !random.once_in(4)).then(|| time(random.below(30))),
            confirmed,
            updated: time(random.below(20)),
            season_joined: [Some("SeasonAc"), Some("SeasonOl"), None][random.below(3)],
            deleted: random.once_in(4),
            seasons: Vec::new(),
        }
    };
    (0..count).map(|number| user(number, random)).collect()
}

fn line(user: &Known) -> String {
    let optional = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
    serde_json::json!({
        "kind": "user", "slug": user.slug, "first_name": user.first_name, "last_name": user.last_name,
        "email": optional(&user.email), "mobile": optional(&user.mobile), "language": user.language,
        "roles": user.roles, "created_by": user.created_by, "created_at": user.created_at,
        "confirmed_at": user.confirmed_at, "confirmation": if user.confirmed { "Confirmed" } else { "Invited" },
        "updated": user.updated, "season_joined": user.season_joined, "deleted": user.deleted,
    })
    .to_string()
}

/// Gives users entries, some of them in the trash.
fn entries(users: &mut [Known], random: &mut Random) -> String {
    let mut lines = String::new();
    for number in 0..users.len() * 2 {
        let user = random.below(users.len());
        let (season, category, chapter) =
            [("SeasonAc", "CategChi", "ChapterN"), ("SeasonOl", "CategOld", "ChapterO")][random.below(2)];
        let deleted = random.once_in(3);
        if !deleted && !users[user].seasons.contains(&season) {
            users[user].seasons.push(season);
        }
        lines.push_str(&format!(
            "\n{{\"kind\":\"entry\",\"slug\":\"Entrie{}\",\"title\":\"E\",\"season\":\"{season}\",\"category\":\"{category}\",\"chapter\":\"{chapter}\",\"form\":\"FormEntr\",\"entrant\":\"{}\",\"deleted\":{deleted}}}",
            letters(number), users[user].slug,
        ));
    }
    lines
}

const SETUP: &str = r#"{"kind":"role","slug":"RoleEntr","name":{"en_GB":"Entrant"},"type":"entrant"}
{"kind":"role","slug":"RoleJudg","name":{"en_GB":"Judge"},"type":"judge"}
{"kind":"season","slug":"SeasonDr","name":{"en_GB":"Season 2027"},"status":"draft"}
{"kind":"user","slug":"UserMana","first_name":"Mara","last_name":"Nolan","email":"mara@example.org","roles":["RoleMana"],"deleted":true,"created_at":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"user","slug":"UserEntr","first_name":"Åse","last_name":"O'Neil <&>","email":"ase@example.org","deleted":true,"created_at":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}"#;

async fn peopled(server: &Server, count: usize) -> Vec<Known> {
    let mut random = Random(7);
    let mut users = population(count, &mut random);
    let mut lines = SETUP.to_owned();
    for user in &users {
        lines.push('\n');
        lines.push_str(&line(user));
    }
    lines.push_str(&entries(&mut users, &mut random));
    server.import(&of_account_a(&lines)).await;
    users
}

fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// What a sort compares: a number of microseconds is compared as its text here, which has one form.
fn key(user: &Known, order: &str) -> String {
    match order {
        "first_name" => fold(&user.first_name),
        "last_name" => fold(&user.last_name),
        "name" => fold([user.first_name.as_str(), &user.last_name].join(" ").trim()),
        "email" => user.email.to_lowercase(),
        "mobile" => user.mobile.clone(),
        "created_by" => user.created_by.to_owned(),
        "created_at" => user.created_at.clone(),
        "confirmed_at" => user.confirmed_at.clone().unwrap_or_default(),
        _ => user.updated.clone(),
    }
}

fn holds(user: &Known, filters: &[(&str, &str)]) -> bool {
    let (active, archived) = ("SeasonAc", "SeasonOl");
    let trash = |name: &str| filters.iter().find(|(filter, _)| *filter == name).map(|(_, value)| *value);
    let is_shown = match (trash("deleted"), trash("trashed")) {
        (None, None) => !user.deleted,
        (one, other) => [one, other].iter().flatten().all(|word| match *word {
            "only" => user.deleted,
            "none" => !user.deleted,
            _ => true,
        }),
    };
    is_shown
        && filters.iter().all(|(name, value)| match (*name, *value) {
            ("active_in_season", season) => user.seasons.contains(&season),
            ("season_joined", season) => user.season_joined == Some(season),
            ("confirmation", word) => user.confirmed == (word == "confirmed"),
            ("entries", "current_season") => user.seasons.contains(&active),
            ("entries", "none_current_season") => !user.seasons.contains(&active),
            ("entries", "archived_season") => user.seasons.contains(&archived),
            ("entries", _) => user.seasons.is_empty(),
            ("language", language) => user.language == language,
            ("role", role) => user.roles.contains(&role),
            _ => true,
        })
}

fn expected(users: &[Known], filters: &[(&str, &str)], order: &str, is_descending: bool) -> Vec<String> {
    let mut found: Vec<&Known> = users.iter().filter(|user| holds(user, filters)).collect();
    found.sort_by(|one, other| {
        let by_key = key(one, order).cmp(&key(other, order));
        // Ties go by slug, ascending in both directions.
        let by_key = if is_descending { by_key.reverse() } else { by_key };
        by_key.then_with(|| one.slug.cmp(&other.slug))
    });
    found.into_iter().map(|user| user.slug.clone()).collect()
}

fn slugs(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|user| user["slug"].as_str().unwrap().to_owned()).collect()
}

async fn walked(server: &Server, query: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/user?{query}&per_page=7&cursor={cursor}")).await.expect(200).json();
        found.extend(slugs(&page));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return found,
        }
    }
}

both_engines! {
    async fn every_filter_and_sort_shows_what_the_model_has(server) {
        let users = peopled(&server, 120).await;
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
        let orders = ["confirmed_at", "created_at", "created_by", "email", "first_name", "last_name", "mobile", "name", "updated", "nothing"];
        let filters: &[(&str, &[&str])] = &[
            ("active_in_season", &SEASONS), ("season_joined", &SEASONS), ("confirmation", &["confirmed", "pending"]),
            ("entries", &["current_season", "none_current_season", "archived_season", "none"]),
            ("language", &["en_GB", "de_DE", "ar_AR"]), ("role", &ROLES), ("deleted", &["only", "included", "none"]),
            ("trashed", &["only", "all", "none"]),
        ];
        let mut queries: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
        for (name, values) in filters {
            queries.extend(values.iter().map(|value| vec![(*name, *value)]));
        }
        for deleted in ["only", "included", "none"] {
            queries.extend(["only", "all", "none"].map(|trashed| vec![("deleted", deleted), ("trashed", trashed)]));
        }
        let mut random = Random(3);
        for _ in 0..60 {
            let mut query = Vec::new();
            for (name, values) in filters.iter().filter(|_| random.once_in(3)).collect::<Vec<_>>() {
                query.push((*name, random.pick(values)));
            }
            queries.push(query);
        }
        let known: Vec<Known> = users.into_iter().chain(["UserMana", "UserEntr"].map(|slug| Known {
            slug: slug.to_owned(), email: if slug == "UserMana" { "mara@example.org" } else { "ase@example.org" }.to_owned(),
            first_name: if slug == "UserMana" { "Mara" } else { "Åse" }.to_owned(),
            last_name: if slug == "UserMana" { "Nolan" } else { "O'Neil <&>" }.to_owned(), mobile: String::new(),
            language: "en_GB", roles: if slug == "UserMana" { vec!["RoleMana"] } else { Vec::new() },
            created_by: "manual", created_at: "2025-01-01T00:00:00.000000Z".to_owned(), confirmed_at: None, confirmed: false,
            updated: "2025-01-02T00:00:00.000000Z".to_owned(), season_joined: Some("SeasonAc"), deleted: true,
            seasons: if slug == "UserMana" { Vec::new() } else { vec!["SeasonAc", "SeasonOl"] },
        })).collect();
        for (number, filters) in queries.iter().enumerate() {
            let order = orders[number % orders.len()];
            let dir = [None, Some("asc"), Some("desc")][number % 3];
            let is_named = order != "nothing";
            let is_descending = dir.map_or(!is_named, |dir| dir == "desc");
            let mut query: Vec<String> = filters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            query.push(format!("order={order}"));
            query.extend(dir.map(|dir| format!("dir={dir}")));
            let query = query.join("&");
            let expected = expected(&known, filters, order, is_descending);
            let page = server.get(&format!("/user?{query}&per_page=100")).await.expect(200).json();
            let total = expected.len();
            assert_eq!(page["total"], total, "{query}");
            assert_eq!(slugs(&page), expected[..total.min(100)], "{query}");
            let second = server.get(&format!("/user?{query}&per_page=9&page=2")).await.expect(200).json();
            assert_eq!(slugs(&second), expected[total.min(9)..total.min(18)], "{query}");
            assert_eq!(walked(&server, &query).await, expected, "{query}");
            let uncounted = server.get(&format!("/user?{query}&per_page=9&count=none")).await.expect(200).json();
            assert_eq!(slugs(&uncounted), expected[..total.min(9)], "{query}");
            assert!(uncounted.get("total").is_none() && (uncounted["next_page_url"] == "") == (total <= 9), "{query}");
        }
    }

    async fn a_page_is_in_its_envelope_in_both_formats(server) {
        let answer = server.get("/user?per_page=1&order=name").await.expect(200);
        let page = answer.json();
        let members: Vec<_> = page.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["current_page", "data", "first_page_url", "last_page", "last_page_url", "next_page_url",
            "prev_page_url", "path", "per_page", "from", "to", "total"]);
        assert_eq!((&page["total"], &page["last_page"]), (&2.into(), &2.into()));
        assert_eq!(page["next_page_url"], format!("{BASE}/user?per_page=1&order=name&page=2"));
        let user = page["data"][0].as_object().unwrap();
        assert_eq!((user.len(), user.keys().next_back().unwrap().as_str()), (20, "updated"), "no members of a single read");
        let xml = server.get_with("/user?per_page=1&order=name", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
        assert_ne!(answer.header("etag"), xml.header("etag"));
        let beyond = server.get("/user?page=9").await.expect(200).json();
        assert_eq!((&beyond["data"], &beyond["from"], &beyond["total"]), (&Value::Array(Vec::new()), &Value::Null, &2.into()));
        let empty = server.get("/user?language=de_DE").await.expect(200).json();
        assert_eq!((&empty["last_page"], &empty["total"]), (&1.into(), &0.into()));
        let tag = answer.header("etag").unwrap();
        let same = server.get_with("/user?per_page=1&order=name", &[("if-none-match", tag)]).await;
        assert_eq!(same.status, 304);
        server.put("/user/UserMana", r#"{"last_name":"Nolan-Hill"}"#).await.expect(200);
        let changed = server.get_with("/user?per_page=1&order=name", &[("if-none-match", tag)]).await;
        assert_eq!(changed.status, 200);
    }

    async fn errors_of_a_query_are_told_at_once_in_both_formats(server) {
        let wrong = "/user?role=judge&language=german&confirmation=Confirmed&deleted=all&trashed=included&entries=some&season_joined=all&colour=red&dir=up&per_page=101";
        for format in FORMATS {
            let answer = server.get_with(wrong, &[("accept", format)]).await.expect(400);
            let names = error_names(&answer, format).unwrap();
            assert_eq!(names, ["invalid_filter_names", "invalid_filter_values"]);
            server.get_with("/user?cursor=AAAAAAAAAAAABAgMEBQYHCAkKCwwNDg8Q", &[("accept", format)]).await.expect(400);
        }
        let values = server.get(wrong).await.json()["errors"]["invalid_filter_values"].clone();
        let names: Vec<_> = values.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), 7, "{names:?}");
        let cursor = server.get("/user?per_page=1&order=name&cursor=").await.expect(200).json();
        let cursor = cursor["next_cursor"].as_str().unwrap();
        server.get(&format!("/user?per_page=1&order=name&cursor={cursor}")).await.expect(200);
        server.get(&format!("/user?per_page=1&order=first_name&cursor={cursor}")).await.expect(400);
        server.get(&format!("/user?per_page=1&order=name&dir=desc&cursor={cursor}")).await.expect(400);
        server.get(&format!("/order?cursor={cursor}")).await.expect(400);
    }

    async fn a_list_shows_the_users_of_its_account_alone(server) {
        let page = server.get("/user?deleted=included&per_page=100").await.expect(200).json();
        assert_eq!(slugs(&page), ["UserEntr", "UserMana"]);
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        let page = server.get_with("/user?deleted=included", &[("x-api-key", &key)]).await.expect(200).json();
        assert_eq!(slugs(&page), ["BUserEnt"]);
    }

    async fn what_users_do_moves_them_between_the_filters(server) {
        let total = async |query: &str| server.get(&format!("/user?{query}")).await.expect(200).json()["total"].as_i64().unwrap();
        assert_eq!((total("entries=none").await, total("entries=current_season").await), (1, 1));
        server.delete("/user/UserEntr").await.expect(204);
        assert_eq!((total("entries=current_season").await, total("entries=current_season&trashed=all").await), (0, 1));
        server.post("/user/UserEntr/restore", "").await.expect(204);
        assert_eq!(total("role=RoleMana").await, 1);
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        server.put("/user/UserMana", r#"{"roles":[]}"#).await.expect(200);
        assert_eq!((total("role=RoleMana").await, total("").await), (0, 2));
        server.put("/user/UserMana", r#"{"language":"de_DE"}"#).await.expect(200);
        assert_eq!((total("language=de_DE").await, total("language=en_GB").await), (1, 1));
        assert_eq!((total("season_joined=SeasonAc").await, total("season_joined=SeasonOl").await), (2, 0));
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn what_happens_to_entries_moves_their_entrants_between_the_filters(server) {
        let of = async |season: &str| slugs(&server.get(&format!("/user?active_in_season={season}")).await.expect(200).json());
        let (seasons, entries) = (["SeasonAc", "SeasonOl"], ["EntryOne", "EntryTwo", "EntryOld"]);
        assert_eq!((of(seasons[0]).await, of(seasons[1]).await), (vec!["UserEntr".to_owned()], vec!["UserEntr".to_owned()]));
        for entry in entries {
            server.delete(&format!("/entry/{entry}")).await.expect(204);
        }
        assert_eq!((of(seasons[0]).await, of(seasons[1]).await), (Vec::new(), Vec::new()));
        server.post("/entry/EntryTwo/restore", "").await.expect(204);
        assert_eq!((of(seasons[0]).await, of(seasons[1]).await), (vec!["UserEntr".to_owned()], Vec::new()));
        let body = r#"{"category":"CategChi","entrant":"UserMana","season":"SeasonAc","title":"New"}"#;
        server.post("/entry", body).await.expect(201);
        assert_eq!(of(seasons[0]).await, ["UserEntr", "UserMana"]);
        server.put("/entry/EntryTwo", r#"{"entrant":"UserMana"}"#).await.expect(200);
        assert_eq!(of(seasons[0]).await, ["UserMana"]);
        let none = server.get("/user?entries=none").await.expect(200).json();
        assert_eq!(slugs(&none), ["UserEntr"]);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn a_user_of_whom_everything_is_long_is_listed(server) {
        let mut lines = String::new();
        let mut roles = Vec::new();
        for number in 0..676 {
            roles.push(format!("RoleLo{}", letters(number)));
            lines.push_str(&format!("{{\"kind\":\"role\",\"slug\":\"RoleLo{0}\",\"name\":{{\"en_GB\":\"R\"}},\"type\":\"judge\"}}\n", letters(number)));
        }
        // Nothing in it that PostgreSQL could make short.
        let mut random = Random(5);
        let mut name = || (0..255).map(|_| char::from_u32(0x20000 + u32::try_from(random.below(40_000)).unwrap()).unwrap()).collect::<String>();
        let (first, last) = (name(), name());
        let email = format!("{}@{}.org", &"a.b".repeat(22)[..64], ["x"; 92].join("."));
        lines.push_str(&serde_json::json!({
            "kind": "user", "slug": "UserLong", "first_name": first, "last_name": last, "email": email, "mobile": "+441632960001123",
            "roles": roles,
        }).to_string());
        server.import(&of_account_a(&lines)).await;
        for order in ["name", "last_name", "email"] {
            let page = server.get(&format!("/user?role=RoleLozz&order={order}&cursor=")).await.expect(200).json();
            assert_eq!((slugs(&page), &page["data"][0]["last_name"]), (vec!["UserLong".to_owned()], &Value::from(last.clone())));
            let cursor = server.get(&format!("/user?order={order}&dir=desc&per_page=1&cursor=")).await.expect(200).json();
            let cursor = cursor["next_cursor"].as_str().unwrap().to_owned();
            server.get(&format!("/user?order={order}&dir=desc&per_page=1&cursor={cursor}")).await.expect(200);
        }
        let entry = serde_json::json!({"category": "CategChi", "entrant": "UserLong", "season": "SeasonAc", "title": last});
        server.post("/entry", &entry.to_string()).await.expect(201);
        let body = serde_json::json!({"roles": ["RoleLoaa"], "first_name": name()}).to_string();
        server.put("/user/UserLong", &body).await.expect(200);
        let of = async |role: &str| server.get(&format!("/user?role={role}")).await.expect(200).json()["total"].clone();
        assert_eq!((of("RoleLoaa").await, of("RoleLozz").await), (1.into(), 0.into()));
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }

    async fn an_import_that_moves_entries_moves_their_entrants(server) {
        let entry = |entrant: &str, deleted: bool| of_account_a(&format!(
            r#"{{"kind":"entry","slug":"EntryOld","local_id":3,"title":"Old","status":"submitted","season":"SeasonOl","category":"CategOld","chapter":"ChapterO","form":"FormEntr","entrant":"{entrant}","deleted":{deleted}}}"#
        ));
        let of = async |season: &str| slugs(&server.get(&format!("/user?active_in_season={season}")).await.expect(200).json());
        assert_eq!(of("SeasonOl").await, ["UserEntr"]);
        server.import(&entry("UserMana", false)).await;
        assert_eq!(of("SeasonOl").await, ["UserMana"]);
        server.import(&entry("UserMana", true)).await;
        assert_eq!(of("SeasonOl").await, Vec::<String>::new());
        assert_eq!(of("SeasonAc").await, ["UserEntr"]);
        assert_eq!(wrong(&server, "AccountA").await, Vec::<String>::new());
    }
}
