//! Keys of persons: what the roles of a person may do and see.

mod entrants;
mod judges;
mod managers;

use plaudit::access::operations::OPERATIONS;
use plaudit::program::keys::Scope;
use plaudit::program::roles::RoleType;
use serde_json::Value;

use crate::both_engines;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, Server};
use kernel::text::Slug;

/// Roles of every type, each with a user, and entries of others beside those of the fixture.
const PEOPLE: &str = r#"{"kind":"user","slug":"UserOthe","first_name":"O","last_name":"Other","email":"other@example.org"}
{"kind":"field","slug":"FieldHid","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Hidden"},"applicant_read_access":false,"applicant_write_access":false}
{"kind":"field","slug":"FieldRea","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Read"},"applicant_write_access":false}
{"kind":"field","slug":"FieldWri","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"text","title":{"en_GB":"Write"},"applicant_read_access":false}
{"kind":"field","slug":"FieldHiC","form":"FormEntr","tab":"TabContr","resource":"contributors","type":"text","title":{"en_GB":"Hidden"},"applicant_read_access":false,"applicant_write_access":false}
{"kind":"entry","slug":"EntryHid","local_id":50,"title":"Hidden answers","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterS","form":"FormEntr","entrant":"UserEntr","entry_fields":{"FieldTxt":"shown","FieldHid":"secret","FieldRea":"read","FieldWri":"written"}}
{"kind":"contributor","slug":"ContrHid","entry":"EntryHid","tab":"TabContr","fields":{"FieldCtr":"shown","FieldHiC":"secret"}}
{"kind":"entry","slug":"EntryOth","local_id":51,"title":"Of another","status":"in_progress","season":"SeasonAc","category":"CategChi","chapter":"ChapterS","form":"FormEntr","entrant":"UserOthe"}
{"kind":"contributor","slug":"ContrOth","entry":"EntryOth","tab":"TabContr","fields":{"FieldCtr":"x"}}
{"kind":"order","slug":"OrderOth","invoice_number":"60","season":"SeasonAc","user":"UserOthe","currency":"GBP","items":[{"description":"E","amount":1.00,"name":"E","entry":"EntryOth"}]}
{"kind":"order","slug":"OrderNor","invoice_number":"61","season":"SeasonAc","user":"UserOthe","currency":"GBP","items":[{"description":"E","amount":1.00,"name":"E","entry":"EntryTwo"}]}
{"kind":"order","slug":"OrderMix","invoice_number":"62","season":"SeasonAc","user":"UserOthe","currency":"GBP","items":[{"description":"E","amount":1.00,"name":"E","entry":"EntryTwo"},{"description":"E","amount":1.00,"name":"E","entry":"EntryOth"}]}"#;

/// The user who has a role of a type alone.
pub(crate) fn user_of(role: &str) -> String {
    let number = RoleType::CHOICES.iter().position(|(name, _)| *name == role).unwrap();
    format!("UserOfR{}", char::from(b'A' + u8::try_from(number).unwrap()))
}

/// Adds roles, people and records.
pub(crate) async fn prepare(server: &Server) {
    let mut lines = PEOPLE.to_owned();
    for (role, _) in RoleType::CHOICES {
        let user = user_of(role);
        let slug = user.replace("UserOfR", "RoleOfR");
        lines.push_str(&format!(
            "\n{{\"kind\":\"role\",\"slug\":\"{slug}\",\"name\":{{\"en_GB\":\"{role}\"}},\"type\":\"{role}\"}}"
        ));
        lines.push_str(&format!(
            "\n{{\"kind\":\"user\",\"slug\":\"{user}\",\"first_name\":\"F\",\"last_name\":\"L\",\"email\":\"{user}@example.org\",\"roles\":[\"{slug}\"]}}"
        ));
    }
    server.import(&of_account_a(&lines)).await;
}

/// A key of a person that reads and writes.
pub(crate) async fn key_of(server: &Server, user: &str) -> String {
    let user = Slug::parse(user);
    server.new_key_with("AccountA", Scope::ReadWrite, |key| key.user = user).await
}

/// What a person asks for.
pub(crate) struct Person<'s> {
    server: &'s Server,
    key: String,
}

impl<'s> Person<'s> {
    /// A person with a key that reads and writes.
    pub(crate) async fn of(server: &'s Server, user: &str) -> Self {
        Self { server, key: key_of(server, user).await }
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<&str>, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![("x-api-key", self.key.as_str())];
        if body.is_some() {
            all.push(("content-type", "application/json"));
        }
        all.extend(headers);
        let request = self.server.request(method, path, &all, body);
        if method == "HEAD" { self.server.send_anything(request).await } else { self.server.send(request).await }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, None, &[]).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str) -> Answer {
        self.ask("PUT", path, Some(body), &[]).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, Some(body), &[]).await
    }

    /// The slugs or tokens of all of a list, sorted.
    pub(crate) async fn list(&self, path: &str) -> Vec<String> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let page = self.get(&format!("{path}{joint}per_page=100")).await.expect(200).json();
        let data = page["data"].as_array().unwrap();
        assert_eq!(page["total"], data.len(), "{path}");
        let name = |item: &Value| item["slug"].as_str().or(item["token"].as_str()).unwrap().to_owned();
        let mut names: Vec<String> = data.iter().map(name).collect();
        names.sort_unstable();
        names
    }
}

const REFUSED: &str = "No role of the person to whom the API key belongs has this operation.";

/// A path of this route of records that there are not.
fn path_of(route: &str) -> String {
    let (_, path) = route.split_once(' ').unwrap();
    let path = match path {
        "/assignment/progress"
        | "/leaderboard"
        | "/leaderboard/analysis"
        | "/leaderboard/casting-vote"
        | "/leaderboard/lot" => format!("{path}?score_set=NobodyAA"),
        path => path.to_owned(),
    };
    let path = path.replace("/assignment/{slug}", "/assignment/NobodyAANobodyBBNobodyCCJ");
    let path = path.replace("{slug}", "NobodyAA").replace("{field}", "NobodyBB").replace("{tab}", "NobodyCC");
    let id = "msg_12_0_9f86d081884c";
    path.replace("{token}", "NobodyNobodyNobodyNobody").replace("{tags}", "tag").replace("{id}", id)
}

both_engines! {
    async fn a_person_has_the_operations_of_the_roles_and_no_other(server) {
        prepare(&server).await;
        for (name, role) in RoleType::CHOICES {
            let person = Person::of(&server, &user_of(name)).await;
            for operation in OPERATIONS {
                let (method, _) = operation.route.split_once(' ').unwrap();
                let path = path_of(operation.route);
                // A stream has no end.
                let method = if path.ends_with("/stream") { "HEAD" } else { method };
                let body = matches!(method, "POST" | "PUT").then_some("{}");
                let answer = person.ask(method, &path, body, &[]).await;
                let is_refused = answer.status == 403;
                assert_eq!(is_refused, !operation.is_of(*role), "{name} {} {}", operation.id, answer.text());
                if is_refused && method != "HEAD" {
                    assert_eq!(answer.json()["message"], REFUSED, "{name} {}", operation.id);
                }
            }
        }
    }

    async fn a_malformed_path_or_query_is_told_before_a_role_that_lacks(server) {
        prepare(&server).await;
        let guest = Person::of(&server, &user_of("guest")).await;
        for path in ["/entry/short", "/entry?nothing=1", "/order?per_page=0", "/event?kind=x", "/job?state=x", "/user/x"] {
            guest.get(path).await.expect(400);
        }
        guest.put("/entry/short", "{}").await.expect(400);
        guest.get("/nowhere").await.expect(404);
        guest.ask("PATCH", "/entry", None, &[]).await.expect(405);
        guest.put("/entry/EntryOne", "no json").await.expect(403);
    }

    async fn the_key_of_nobody_fails_as_one_that_never_was(server) {
        prepare(&server).await;
        let never = server.get_with("/account", &[("x-api-key", &format!("plaudit_{}", "x".repeat(40)))]).await.expect(403);
        for user in ["NobodyAA", "UserOfBB"] {
            let person = Person::of(&server, user).await;
            assert_eq!(person.get("/account").await.expect(403).text(), never.text(), "{user}");
        }
        let person = Person::of(&server, "UserOthe").await;
        person.get("/entry").await.expect(200);
        server.delete("/user/UserOthe").await.expect(204);
        assert_eq!(person.get("/entry").await.expect(403).text(), never.text());
        assert_eq!(person.put("/entry/EntryOth", r#"{"title":"T"}"#).await.expect(403).text(), never.text());
        server.post("/user/UserOthe/restore", "").await.expect(204);
        person.get("/entry").await.expect(200);
    }

    async fn a_role_that_is_given_or_taken_is_in_force_with_the_next_request(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserOthe").await;
        let manager = user_of("program_manager").replace("UserOfR", "RoleOfR");
        person.get("/event").await.expect(403);
        server.put("/user/UserOthe", &format!(r#"{{"roles":["{manager}"]}}"#)).await.expect(200);
        person.get("/event").await.expect(200);
        assert!(person.list("/entry?season=all").await.contains(&"EntryOne".to_owned()));
        person.put("/category/CategPar", r#"{"divisions":2}"#).await.expect(200);
        server.put("/user/UserOthe", r#"{"roles":[]}"#).await.expect(200);
        person.get("/event").await.expect(403);
        person.put("/category/CategPar", r#"{"divisions":3}"#).await.expect(403);
        assert_eq!(person.list("/entry?season=all").await, ["EntryOth"]);
        person.get("/entry/EntryOne").await.expect(404);
    }

    async fn what_a_person_does_is_logged_as_the_person(server) {
        prepare(&server).await;
        let person = Person::of(&server, "UserOthe").await;
        person.put("/entry/EntryOth", r#"{"title":"Mine"}"#).await.expect(200);
        let page = server.get("/event?kind=entry&slug=EntryOth").await.expect(200).json();
        let last = page["data"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["actor"]["kind"], &last["actor"]["slug"]), (&"user".into(), &"UserOthe".into()));
        assert_eq!(last["source"], "api");
    }

    async fn a_person_costs_one_statement_more(server) {
        prepare(&server).await;
        let person = Person::of(&server, &user_of("auditor")).await;
        for path in ["/entry/EntryOne", "/season", "/order"] {
            for _ in 0..3 {
                server.get(path).await.expect(200);
                person.get(path).await.expect(200);
            }
            let of_account = server.statements_of(path).await;
            let before = server.db.statements();
            person.get(path).await.expect(200);
            assert_eq!(server.db.statements() - before, of_account + 1, "{path}");
        }
    }

    async fn who_sees_everything_is_answered_as_the_account_is(server) {
        prepare(&server).await;
        for role in ["program_manager", "auditor"] {
            let person = Person::of(&server, &user_of(role)).await;
            for path in ["/entry/EntryHid", "/entry?include=entry_fields", "/user", "/order", "/field", "/chapter", "/account", "/entry/summary"] {
                let (own, of_account) = (person.get(path).await.expect(200), server.get(path).await.expect(200));
                assert_eq!((own.text(), own.header("etag")), (of_account.text(), of_account.header("etag")), "{role} {path}");
            }
        }
    }
}
