//! Random requests: whatever comes, the answer is none of our faults and has the shape of an answer.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use roxmltree::Document;

use crate::both_engines;
use crate::harness::fixture::{ACCOUNT_A, ACCOUNT_B};
use crate::harness::random::Random;
use crate::harness::{JSON, Server, XML, check};

/// How many requests both engines get together, unless `PLAUDIT_FUZZ_REQUESTS` says otherwise.
const REQUESTS: usize = 20_000;
/// After how many requests, at least, the records are as they were.
const EPISODE: usize = 200;

const METHODS: &[&str] = &["GET", "PUT", "DELETE", "POST", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"];
const SLUGS: &[&str] = &[
    "ChapterN",
    "ChapterS",
    "ChapterX",
    "ChapterO",
    "CategChi",
    "CategPar",
    "FieldTxt",
    "FieldRad",
    "FieldCon",
    "EntryOne",
    "EntryTwo",
    "EntryOld",
    "OrderOne",
    "UserMana",
    "UserEntr",
    "mara@example.org",
    "BChapter",
    "BEntryOn",
    "NoSuchSl",
    "short",
    "toolongslug",
    "Chapter1",
    "",
];
/// What is read with GET.
const READ: &[&str] = &[
    "/order",
    "/order",
    "/entry",
    "/entry",
    "/entry/summary",
    "/account",
    "/season",
    "/season/SeasonAc",
    "/form",
    "/form/FormEntr",
    "/form/BFormEnt",
    "/tax",
    "/user",
    "/user/UserMana",
    "/user/ase%40example.org",
    "/round",
    "/score-set",
];
/// The paths of entries.
const OF_ENTRIES: &[&str] = &[
    "",
    "/SLUG",
    "/SLUG/copy",
    "/SLUG/restore",
    "/SLUG/tag/red",
    "/SLUG/tag/%ff,%2C,a%20b",
    "/SLUG/update-title",
    "/SLUG/update-category",
    "/SLUG/update-chapter",
    "/SLUG/update-field/FieldTxt",
    "/SLUG/update-field/FieldTab",
    "/SLUG/update-field/SLUG",
    "/SLUG/upload/FieldFil",
    "/SLUG/upload/SLUG",
    "/SLUG/attachment/TabAttac",
    "/SLUG/attachment/SLUG",
];
/// The paths of what belongs to entries, and of files.
const OF_BELONGINGS: &[&str] = &[
    "/attachment",
    "/attachment/TokenOfTheFirstFileOfAll",
    "/attachment/TokenOfTheFirstFileOfAll/update-field/FieldAtt",
    "/attachment/SLUG",
    "/contributor",
    "/contributor/Contribu",
    "/contributor/Contribu/update-field/FieldCtr",
    "/contributor/SLUG/update-field/SLUG",
    "/file/TokenOfTheLogoFileOfAllX",
    "/file/SLUG",
    "/user/UserEntr/upload/SLUG",
];
const NAMES: &[&str] = &[
    "status",
    "test",
    "season",
    "deleted",
    "page",
    "per_page",
    "order",
    "dir",
    "cursor",
    "count",
    "colour",
    "role",
    "language",
    "entries",
    "active_in_season",
    "status[]",
    "updated_at[before]",
    "updated_at[between]",
    "title",
    "tag",
    "entrant",
    "price",
    "review_status",
    "include",
    "",
];
const VALUES: &[&str] = &[
    "paid",
    "awaiting_payment",
    "only",
    "hide",
    "included",
    "none",
    "all",
    "SeasonAc",
    "SeasonOl",
    "BSeasonA",
    "1",
    "2",
    "3",
    "100",
    "101",
    "0",
    "-1",
    "9223372036854775807",
    "18446744073709551615",
    "asc",
    "desc",
    "total",
    "created_at",
    "invoice_number",
    "payment_method",
    "payment_status",
    "season",
    "%",
    "%00",
    "%ff",
    "%F0%9F%98%80",
    "+",
    "",
    "AAAAAAAAAAAA",
    "AAAAAAAAAAF7",
    "_____________w",
    "AAAAAAAAAAABAgMEBQYHCAkKCwwNDg8Q",
];
/// Parameters with values that they may have.
const PARAMETERS: &[&str] = &[
    "status=paid",
    "status=awaiting_payment",
    "test=only",
    "test=hide",
    "season=all",
    "season=SeasonOl",
    "archived=all",
    "form_type=entry",
    "deleted=only",
    "deleted=included",
    "deleted=none",
    "page=1",
    "page=2",
    "page=4294967297",
    "per_page=1",
    "per_page=2",
    "per_page=100",
    "order=total",
    "order=created_at",
    "order=invoice_number",
    "order=payment_method",
    "order=payment_status",
    "order=season",
    "order=%00",
    "order=name",
    "order=updated",
    "conditional=only",
    "type=text",
    "category=CategChi",
    "order=title",
    "order=entry",
    "order=order",
    "order=tab",
    "order=FieldCtr",
    "entry=EntryOne",
    "tab=TabContr",
    "tag=red",
    "moderation=undecided",
    "review_status=x",
    "order=categories",
    "order=email",
    "order=confirmed_at",
    "entries=archived_season",
    "confirmation=pending",
    "language=en_GB",
    "role=RoleMana",
    "order=parent_category",
    "order=applicant",
    "order=local_id",
    "order=category",
    "order=chapter",
    "status=submitted",
    "moderation=undecided",
    "payment_status=awaiting_payment",
    "archived=only",
    "title=E%C3%9F",
    "tag=red",
    "entrant=UserEntr",
    "price=PriceStd",
    "review_status=%00",
    "updated_at[on]=2025-06-03",
    "updated_at[between]=2020-01-01,2030-01-01",
    "include=attachments,contributors",
    "include=entry_fields",
    "dir=asc",
    "dir=desc",
    "cursor=",
    "count=none",
];
const BODIES: &[&str] = &[
    "{}",
    r#"{"status":"inactive"}"#,
    r#"{"status":"active"}"#,
    r#"{"translated":{"name":{"en_GB":"North","de_DE":"Norden"},"image_heading":{"ar_AR":"x"}},"max_image_width":640,"managers":["UserMana"]}"#,
    r#"{"chapter":"ChapterS"}"#,
    r#"{"chapter":"ChapterN"}"#,
    r#"{"type":"text","tab":"TabGener","translated":{"title":{"en_GB":"Why"}}}"#,
    r#"{"type":"radio","tab":"TabGener","translated":{"title":{"en_GB":"Why"}},"options":["a",{"value":"b","label":{"de_DE":"B"},"score":1}],"categories":["CategChi"],"conditional":{"field":"FieldRad","operator":"one_of","value":["yes"]},"order":3,"protection":"maximum","required":true}"#,
    r#"{"type":"table","tab":"TabContr","translated":{"title":{"en_GB":"T"}},"columns":[{"key":"A","label":{"en_GB":"a"}},{"key":"\u0000"}]}"#,
    r#"{"limits":{"minimum_words":1,"maximum_words":null},"conditional":null,"categories":["*"],"order":1e2}"#,
    r#"{"conditional":{"field":"FieldTxt","operator":"contains","value":"\u0000"},"options":["yes","no"]}"#,
    r#"{"category":"CategChi","entrant":"UserEntr","season":"SeasonAc","title":"New","status":"submitted"}"#,
    r#"{"category":"CategChi","entrant":"UserMana","season":"SeasonAc","title":"\u007f","entry_fields":{"FieldTxt":"x"}}"#,
    r#"{"title":"Other","status":"in_progress","moderation_status":"approved","custom_deadline":"2026-10-25 02:30"}"#,
    r#"{"category":"CategPar","status":"resubmitted","grant_status":null,"entry_fields":{"FieldTab":{"A1":"","B9":"x"}}}"#,
    r#"{"value":{"A1":"x"}}"#,
    r#"{"value":"x","category":"CategPar"}"#,
    r#"{"chapter":"BChapter","other":[1,2.5e3,null,true,{"a":"\ud83d\ude00"}]}"#,
    r#"{"season":"SeasonAc","status":"active","translated":{"name":{"en_GB":"N"}},"parent":"CategPar","chapters":["ChapterN"]}"#,
    r#"{"parent":"CategChi","locked":true,"divisions":3,"entrant_max_entries":null}"#,
    r#"{"filename":"a.gif","data":"R0lGODlhBQAHAA=="}"#,
    r#"{"filename":"\u202e.gif","data":"R0lGODlhBQAHAA==","order":1,"attachment_fields":{"FieldAtt":"\u0000"}}"#,
    r#"{"entry":"EntryTwo","tab":"TabContr","fields":{"FieldCtr":"\u0000\u007f"}}"#,
    r#"{"fields":{"FieldCtr":null},"attachment_fields":{"FieldAtt":""},"order":1e0,"tab":"TabAttac"}"#,
    r#"{"first_name":"F\u0000","last_name":"Er","mobile":"+441632960000","password":"12345678","roles":["RoleMana"]}"#,
    r#"{"last_name":"O'Neil <&>","language":"de_DE","preferences":{"a":[1e2,null]},"user_fields":{"FieldTxt":"x"}}"#,
    "",
    "[]",
    "null",
];

fn encoded(random: &mut Random, length: usize) -> String {
    (0..length).map(|_| format!("%{:02X}", random.below(256))).collect()
}

/// A text with some of its bytes changed.
fn mutated(random: &mut Random, text: &[u8]) -> Vec<u8> {
    const BYTES: &[u8] = b"\"\\{}[]:,.0-+eEun\x00\x7f\xff\xc3 \n/";
    let mut bytes = text.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 if at < bytes.len() => bytes[at] = random.pick(BYTES),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.insert(at, random.pick(BYTES)),
            _ => {
                let copy = bytes[at..].to_vec();
                bytes.extend(copy);
            }
        }
    }
    bytes
}

fn path(random: &mut Random) -> String {
    let slug = random.pick(SLUGS);
    match random.below(23) {
        21 | 22 => random.pick(OF_BELONGINGS).replace("SLUG", slug),
        0 => format!("/category/{slug}"),
        1 => format!("/{}", random.pick(&["category", "chapter"])),
        2 if random.once_in(2) => format!("/{}/{slug}/upload", random.pick(&["category", "chapter"])),
        2 => format!("/chapter/{slug}"),
        3 | 4 | 16 => format!("/field/{slug}"),
        17 => "/field".to_owned(),
        18 => format!("/field/{slug}/restore"),
        5..8 => format!("/entry{}", random.pick(OF_ENTRIES).replace("SLUG", slug)),
        8..12 => random.pick(READ).to_owned(),
        12 => format!("/{}", encoded(random, 3)),
        19 => format!("/user/{slug}"),
        20 => format!("/user/{slug}/{}", random.pick(&["restore", "auth-token", "upload"])),
        13 => {
            let length = random.below(12);
            format!("/chapter/{}", encoded(random, length))
        }
        14 => format!(
            "/{}",
            random.pick(&["order/", "order/x", "", "chapter", "/order", "./order", "entry//update-chapter", "ORDER"])
        ),
        _ => format!("/{}/{slug}", "x".repeat(random.below(300))),
    }
}

fn query(random: &mut Random, cursors: &[String]) -> String {
    let mut query = String::new();
    let is_right = !random.once_in(3);
    for _ in 0..random.below(5) {
        query.push(if query.is_empty() { '?' } else { '&' });
        let (name, value) = (random.pick(NAMES), random.pick(VALUES));
        match random.below(12) {
            0 if !is_right => query.push_str(&encoded(random, 4)),
            1 | 2 if !cursors.is_empty() => {
                query.push_str(&format!("cursor={}", cursors[random.below(cursors.len())]));
                if random.once_in(3) {
                    let at = query.len() - 1;
                    query.replace_range(at.., random.pick(&["A", "Q", "_", ""]));
                }
            }
            3 if !is_right => query.push_str(name),
            _ if is_right => query.push_str(random.pick(PARAMETERS)),
            _ => query.push_str(&format!("{name}={value}")),
        }
    }
    query
}

fn body(random: &mut Random) -> Vec<u8> {
    let known = random.pick(BODIES).as_bytes();
    match random.below(12) {
        0..6 => known.to_vec(),
        6..9 => mutated(random, known),
        9 => {
            let length = random.below(200);
            (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
        }
        10 => {
            let depth = random.below(3_000);
            let open = random.pick(&["[", "{\"a\":", "{\"translated\":", "[{\"\":["]);
            open.repeat(depth).into_bytes()
        }
        _ => format!(
            "{{\"max_image_width\":{}{}}}",
            "9".repeat(random.below(400)),
            random.pick(&["", ".5", "e999", "e-999"])
        )
        .into_bytes(),
    }
}

const HOSTILE: &[&str] =
    &["", " ", "*", "\"", "\"1.1.j\"", "W/\"1\"", ",,,", "all", "de_DE", "xx", "\u{e4}\u{1F600}", "\t", "0", "a,b;q=1"];

struct Keys {
    of_a: String,
    reads: String,
    of_b: String,
}

fn headers(random: &mut Random, keys: &Keys, request: &mut Request<Body>) {
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
    };
    match random.below(12) {
        0 => {}
        1 => set("accept", random.pick(HOSTILE)),
        number => set("accept", if number % 2 == 0 { JSON } else { XML }),
    }
    match random.below(14) {
        0 => {}
        1 => set("x-api-key", random.pick(HOSTILE)),
        2 => set("x-api-key", &keys.reads),
        3 => set("x-api-key", &keys.of_b),
        _ => set("x-api-key", &keys.of_a),
    }
    set("content-type", if random.once_in(10) { random.pick(HOSTILE) } else { "application/json" });
    if random.once_in(4) {
        set(
            "x-api-language",
            random.pick(&["all", "de_DE", "ar_AR,en_GB", "fr_FR", "xx_XX,all", "\u{1F600}", ",", "en_GB,"]),
        );
    }
    if random.once_in(6) {
        set(
            "host",
            random.pick(&["a.example.org", "b.example.org", "b.example.org:1", "", "[::1]:8", "\u{e4}", "..", "x:y:z"]),
        );
    }
    for name in ["if-match", "if-none-match", "range", "transfer-encoding", "content-length", "expect"] {
        if random.once_in(9) {
            set(name, random.pick(HOSTILE));
        }
    }
    if random.once_in(6) {
        let number = random.below(40).to_string();
        set("idempotency-key", if random.once_in(6) { random.pick(HOSTILE) } else { &number });
    }
}

fn request(random: &mut Random, keys: &Keys, cursors: &[String]) -> Request<Body> {
    let uri = loop {
        let text = format!("{}{}", path(random), query(random, cursors));
        // What is no address at all is refused before it reaches the router.
        if let Ok(uri) = text.parse::<Uri>() {
            break uri;
        }
    };
    let right = if uri.path().ends_with("restore") || (uri.path() == "/user" && random.once_in(2)) {
        "POST"
    } else if READ.iter().any(|path| uri.path().starts_with(path)) {
        "GET"
    } else if uri.path().ends_with("upload") || ["/category", "/chapter"].contains(&uri.path()) {
        if random.once_in(3) { "GET" } else { "POST" }
    } else if uri.path().ends_with("update-chapter") || !random.once_in(4) {
        "PUT"
    } else {
        "DELETE"
    };
    let method = if random.once_in(6) { random.pick(METHODS) } else { right };
    let mut request = Request::new(Body::from(body(random)));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
    *request.uri_mut() = uri;
    headers(random, keys, &mut request);
    request
}

/// Sends a request and asserts what holds of every answer. Gives the cursor of a page.
async fn send(server: &Server, request: Request<Body>) -> (u16, Option<String>) {
    let accept = request.headers().get("accept").and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let format = if accept.trim().eq_ignore_ascii_case(XML) { XML } else { JSON };
    let told = format!("{request:?}");
    let is_head = request.method() == Method::HEAD;
    let answer = server.send_anything(request).await;
    assert!(answer.status < 500, "{} to {told}: {}", answer.status, answer.text());
    if is_head {
        assert!(answer.body.is_empty(), "{told}");
        return (answer.status, None);
    }
    check::every_answer(&answer, format);
    if answer.body.is_empty() {
        return (answer.status, None);
    }
    if format == XML {
        Document::parse(answer.text()).unwrap_or_else(|error| panic!("{error} in the answer to {told}"));
        return (answer.status, None);
    }
    (answer.status, answer.json()["next_cursor"].as_str().map(str::to_owned))
}

both_engines! {
    async fn fuzz_random_requests_give_no_5xx_and_no_panic(server) {
        // The number is the one thing that is asked of the environment.
        #[allow(clippy::disallowed_methods)]
        let asked = std::env::var("PLAUDIT_FUZZ_REQUESTS").ok().map(|number| number.parse::<usize>().unwrap());
        let requests = asked.unwrap_or(REQUESTS).div_ceil(2);
        let episode = EPISODE.max(requests / 500);
        let scopes = plaudit::program::keys::Scope::ReadWrite;
        let keys = Keys {
            of_a: server.key.clone(),
            reads: server.new_key("AccountA", plaudit::program::keys::Scope::Read).await,
            of_b: server.new_key("AccountB", scopes).await,
        };
        let mut random = Random(2_026);
        let mut cursors = Vec::new();
        let mut statuses = std::collections::BTreeMap::new();
        for number in 0..requests {
            if number % episode == 0 {
                server.import(ACCOUNT_A).await;
                server.import(ACCOUNT_B).await;
            }
            if random.once_in(1_000) {
                server.clock.advance(61);
            }
            let (status, cursor) = send(&server, request(&mut random, &keys, &cursors)).await;
            *statuses.entry(status).or_insert(0_usize) += 1;
            cursors.extend(cursor);
            if cursors.len() > 50 {
                cursors.remove(0);
            }
        }
        check::every_record(&server.db).await;
        println!("fuzz: {requests} requests on {:?}: {statuses:?}", server.db.engine());
        for status in [200, 204, 400, 401, 403, 404, 405, 412, 422, 429] {
            assert!(requests < 5_000 || statuses.contains_key(&status), "no request was answered {status}");
        }
    }
}
