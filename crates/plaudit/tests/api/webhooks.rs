//! `GetWebhookCollectionV23`, `GetWebhookV23`, `PostWebhookV23`, `PutWebhookV23` and `DeleteWebhookV23`.
//! Filters, sorts and pages: `setup_lists`.

use plaudit::program::keys::Scope;
use plaudit::program::webhooks::WEBHOOKS;
use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, NOW, Server, XML, tree};

const HOOK: &str = "/webhook/HookOneA";

/// A webhook with everything that one can have.
const RECORD: &str = r#"{"kind":"webhook","slug":"HookOneA","events":["entry_submitted","user_updated"],"fields":["FieldTxt"],"form":"FormEntr","method":"post","name":"CRM","signing_key":"OldKey12","url":"https://crm.example.org/hook?token=t","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z","headers":{"Authorization":"Bearer secret","X-Team.1":"awards"},"notification_emails":["ops@example.org"]}"#;

const NEW: &str = r#"{"method":"get","name":"New","url":"HTTPS://Hooks.Example.org/a b","events":["entry_created"]}"#;

/// A field about users and another form.
const OTHERS: &str = r#"{"kind":"field","slug":"FieldUsr","resource":"users","type":"text","title":{"en_GB":"Motto"}}
{"kind":"form","slug":"FormElse","season":"SeasonAc","name":{"en_GB":"Other"}}"#;

/// The webhook of the fixture as it is shown to a key that writes.
fn hook() -> Value {
    let reference = |kind: &str, slug: &str, name: &str| json!({"slug": slug, "link": format!("{BASE}/{kind}/{slug}"), "name": {"en_GB": name}});
    json!({
        "events": ["entry_submitted", "user_updated"],
        "fields": [reference("field", "FieldTxt", "Abstract")],
        "form": reference("form", "FormEntr", "Entry form"),
        "method": "post",
        "name": "CRM",
        "slug": "HookOneA",
        "signing_key": "OldKey12",
        "url": "https://crm.example.org/hook?token=t",
        "created": "2025-01-01T00:00:00.000000Z",
        "updated": "2025-01-02T00:00:00.000000Z",
        "status": "enabled",
        "disabled_reason": null,
        "headers": {"Authorization": "Bearer secret", "X-Team.1": "awards"}
    })
}

/// The server with the webhook.
async fn with_hook(server: &Server) {
    server.import(&of_account_a(RECORD)).await;
}

/// A member of the webhook as it is stored.
async fn stored(server: &Server, member: &str) -> Value {
    let export = server.export("AccountA").await;
    let line = export.lines().find(|line| line.contains(r#""slug":"HookOneA""#)).unwrap();
    serde_json::from_str::<Value>(line).unwrap()[member].clone()
}

fn slugs(page: &Answer) -> Vec<String> {
    let page = page.json();
    page["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()).collect()
}

both_engines! {
    async fn a_webhook_is_shown_alone_and_in_a_list(server) {
        with_hook(&server).await;
        let answer = server.get(HOOK).await.expect(200);
        assert_eq!(answer.text(), hook().to_string());
        let tag = answer.header("etag").unwrap().to_owned();
        server.get_with(HOOK, &[("if-none-match", &tag)]).await.expect(304);
        let page = server.get("/webhook").await.expect(200).json();
        assert_eq!(page["data"], json!([hook()]));
        for path in [HOOK, "/webhook"] {
            let json = server.get(path).await.expect(200);
            let xml = server.get_with(path, &[("accept", XML)]).await.expect(200);
            tree::assert_same(&json.body, &xml.body);
        }
    }

    async fn a_key_that_reads_sees_neither_the_signing_key_nor_the_values_of_headers(server) {
        with_hook(&server).await;
        let key = server.new_key("AccountA", Scope::Read).await;
        let mut expected = hook();
        expected["signing_key"] = Value::Null;
        expected["headers"] = json!({"Authorization": "", "X-Team.1": ""});
        let reads = [("x-api-key", key.as_str())];
        let single = server.get_with(HOOK, &reads).await.expect(200);
        assert_eq!(single.text(), expected.to_string());
        let page = server.get_with("/webhook", &reads).await.expect(200);
        assert_eq!(page.json()["data"], json!([expected]));
        for (path, read) in [(HOOK, single), ("/webhook", page)] {
            let tag = read.header("etag").unwrap();
            assert_ne!(Some(tag), server.get(path).await.expect(200).header("etag"), "{path}");
            server.get_with(path, &[("if-none-match", tag)]).await.expect(200);
        }
        for (method, path, body) in [("POST", "/webhook", Some(NEW)), ("PUT", HOOK, Some("{}")), ("DELETE", HOOK, None)] {
            server.send(server.request(method, path, &reads, body)).await.expect(403);
        }
    }

    async fn a_new_webhook_is_what_its_body_says_and_has_a_key(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.post("/webhook", NEW).await.expect(201);
        let shown = answer.json();
        let (slug, key) = (shown["slug"].as_str().unwrap(), shown["signing_key"].as_str().unwrap());
        assert!(key.len() == 40 && key.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
        let expected = json!({
            "events": ["entry_created"], "fields": [], "form": null, "method": "get", "name": "New", "slug": slug,
            "signing_key": key, "url": "https://hooks.example.org/a%20b", "created": NOW, "updated": NOW,
            "status": "enabled", "disabled_reason": null, "headers": {}
        });
        assert_eq!(answer.text(), expected.to_string());
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/webhook/{slug}"));
        let read = server.get(&format!("/webhook/{slug}")).await.expect(200);
        assert_eq!((read.text(), read.header("etag")), (answer.text(), answer.header("etag")));
        assert_eq!(server.changes("AccountA").await[changes..], [format!("webhook {slug} created")]);
        let other = server.post("/webhook", NEW).await.expect(201).json();
        assert_ne!(other["signing_key"], shown["signing_key"]);
        let keyed = [("idempotency-key", "new")];
        let first = server.post_with("/webhook", NEW, &keyed).await.expect(201);
        let second = server.post_with("/webhook", NEW, &keyed).await.expect(201);
        assert_eq!((first.text(), first.header("location")), (second.text(), second.header("location")));
    }

    async fn a_create_reports_every_violation_at_once(server) {
        let changes = server.changes("AccountA").await;
        let body = r#"{"method":"put","name":" ","url":"ftp://example.org","events":["entry_created","entry_gone"],"signing_key":"with space","notification_emails":["nobody"],"form":"NoSuchFo","fields":["FieldTxt","NoSuchFi"],"headers":{"Webhook-Id":"1","X-A":"é","X-B":"1","x-b":"2","a b":"1","Host":"h","X-C":""},"status":"enabled","disabled_reason":"x","made_by":"apply"}"#;
        for format in FORMATS {
            let answer = server.post_with("/webhook", body, &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, [
                "disabled_reason", "events", "fields", "form", "headers", "made_by", "method", "name",
                "notification_emails", "signing_key", "status", "url",
            ]);
            let answer = server.post_with("/webhook", "{}", &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, ["events", "method", "name", "url"]);
        }
        let errors = server.post("/webhook", body).await.json()["errors"].clone();
        assert_eq!(errors["headers"].as_array().unwrap().len(), 6, "{errors}");
        assert!(!errors["headers"].to_string().contains("é"), "a value is not told");
        for (url, is_taken) in [
            ("http://example.org:8080/a?b=c", true),
            ("https://user@example.org/", false),
            ("https://:secret@example.org/", false),
            ("https://example.org/#part", false),
            ("https://example.org:0/", false),
            ("https://", false),
            ("//example.org/", false),
            ("file:///etc/passwd", false),
        ] {
            let body = NEW.replace("HTTPS://Hooks.Example.org/a b", url);
            let answer = server.post("/webhook", &body).await;
            assert_eq!((answer.status == 201, answer.status == 422), (is_taken, !is_taken), "{url} {}", answer.text());
            assert_eq!(answer.json()["errors"]["url"].is_array(), !is_taken, "{url}");
        }
        let long = NEW.replace("a b", &"é".repeat(400));
        assert!(server.post("/webhook", &long).await.expect(422).json()["errors"]["url"].is_array());
        let made = server.changes("AccountA").await.len() - changes.len();
        assert_eq!(made, 1, "nothing else was made");
    }

    async fn fields_are_of_the_form_and_at_least_one_event_is_of_what_has_one(server) {
        server.import(&of_account_a(OTHERS)).await;
        with_hook(&server).await;
        for (body, member) in [
            (r#"{"fields":["FieldUsr"]}"#, "fields"),
            (r#"{"form":"FormElse"}"#, "fields"),
            (r#"{"events":["user_updated","payment_success"]}"#, "form"),
            (r#"{"form":"BFormEnt"}"#, "form"),
            (r#"{"fields":["BFieldTx"]}"#, "fields"),
        ] {
            let answer = server.put(HOOK, body).await.expect(422).json();
            let names: Vec<_> = answer["errors"].as_object().unwrap().keys().cloned().collect();
            assert_eq!(names, [member], "{body}");
        }
        server.put(HOOK, r#"{"form":null,"fields":[],"events":["user_updated"]}"#).await.expect(200);
    }

    async fn an_update_changes_what_it_names_and_nothing_else(server) {
        with_hook(&server).await;
        let changes = server.changes("AccountA").await.len();
        let same = server.put(HOOK, r#"{"signing_key":"OldKey12","status":"enabled"}"#).await.expect(200);
        assert_eq!(same.text(), hook().to_string());
        assert_eq!(server.changes("AccountA").await.len(), changes);
        let body = r#"{"name":"Mail","method":"get","headers":{"X-New":"1"},"notification_emails":[]}"#;
        let answer = server.put(HOOK, body).await.expect(200);
        let mut expected = hook();
        expected["name"] = json!("Mail");
        expected["method"] = json!("get");
        expected["updated"] = json!(NOW);
        expected["headers"] = json!({"X-New": "1"});
        assert_eq!(answer.text(), expected.to_string());
        assert_eq!(stored(&server, "notification_emails").await, json!([]));
        assert_eq!(server.changes("AccountA").await[changes..], ["webhook HookOneA updated"]);
        let tag = answer.header("etag").unwrap();
        server.put_with(HOOK, r#"{"name":"Again"}"#, &[("if-match", tag)]).await.expect(200);
        server.put_with(HOOK, r#"{"name":"Lost"}"#, &[("if-match", tag)]).await.expect(412);
        server.delete_with(HOOK, &[("if-match", tag)]).await.expect(412);
        server.put("/webhook/short", "{}").await.expect(400);
        server.put("/webhook/NoSuchHo", "{}").await.expect(404);
    }

    async fn a_key_that_is_replaced_stays_valid_for_a_day(server) {
        with_hook(&server).await;
        let replaced = |key: &str, until: &str| json!({"key": key, "until": until});
        server.put(HOOK, r#"{"signing_key":"SecondKey"}"#).await.expect(200);
        let second = [replaced("OldKey12", "2026-02-01T12:00:00.000000Z")];
        assert_eq!(stored(&server, "replaced_keys").await, json!(second));
        server.clock.advance(3_600);
        let generated = server.put(HOOK, r#"{"signing_key":null}"#).await.expect(200).json();
        assert_eq!(generated["signing_key"].as_str().unwrap().len(), 40);
        let both = [replaced("SecondKey", "2026-02-01T13:00:00.000000Z"), second[0].clone()];
        assert_eq!(stored(&server, "replaced_keys").await, json!(both));
        server.clock.advance(24 * 3_600);
        server.put(HOOK, r#"{"name":"Other"}"#).await.expect(200);
        assert_eq!(stored(&server, "replaced_keys").await, json!(both), "what is over is forgotten with the next key");
        server.put(HOOK, r#"{"signing_key":"OldKey12"}"#).await.expect(200);
        let last = [replaced(generated["signing_key"].as_str().unwrap(), "2026-02-02T13:00:00.000000Z")];
        assert_eq!(stored(&server, "replaced_keys").await, json!(last));
    }

    async fn enabling_forgets_why_the_service_disabled_a_webhook(server) {
        let disabled = r#""status":"disabled","disabled_reason":"The endpoint answered 410.","headers""#;
        server.import(&of_account_a(&RECORD.replace(r#""headers""#, disabled))).await;
        let shown = server.get(HOOK).await.expect(200).json();
        assert_eq!(shown["disabled_reason"], json!("The endpoint answered 410."));
        let renamed = server.put(HOOK, r#"{"name":"Other"}"#).await.expect(200).json();
        assert_eq!(renamed["disabled_reason"], json!("The endpoint answered 410."));
        let enabled = server.put(HOOK, r#"{"status":"enabled"}"#).await.expect(200).json();
        assert_eq!((&enabled["status"], &enabled["disabled_reason"]), (&json!("enabled"), &Value::Null));
        let again = server.put(HOOK, r#"{"status":"disabled"}"#).await.expect(200).json();
        assert_eq!((&again["status"], &again["disabled_reason"]), (&json!("disabled"), &Value::Null));
    }

    async fn a_webhook_in_the_trash_is_not_there(server) {
        with_hook(&server).await;
        server.delete(HOOK).await.expect(204);
        server.get(HOOK).await.expect(404);
        server.put(HOOK, "{}").await.expect(404);
        server.delete(HOOK).await.expect(404);
        assert_eq!(slugs(&server.get("/webhook").await.expect(200)), Vec::<String>::new());
        assert_eq!(server.changes("AccountA").await.last().unwrap(), "webhook HookOneA trashed");
    }

    async fn an_account_has_at_most_a_hundred_webhooks_outside_the_trash(server) {
        with_hook(&server).await;
        let letter = |number: usize| char::from(b'a' + u8::try_from(number).unwrap());
        let slug = |number: usize| format!("Hook{}{}xx", letter(number / 26), letter(number % 26));
        let line = |number: usize| RECORD.replace("HookOneA", &slug(number));
        let lines: Vec<String> = (1..WEBHOOKS).map(line).collect();
        server.import(&of_account_a(&lines.join("\n"))).await;
        let refused = server.post("/webhook", NEW).await.expect(422).json();
        assert!(refused["errors"].is_null() && refused["message"].as_str().unwrap().contains("100 webhooks"), "{refused}");
        let faults = server.try_import(&of_account_a(&line(WEBHOOKS))).await;
        assert!(faults.len() == 1 && faults[0].contains("101 webhooks"), "{faults:?}");
        server.put(HOOK, r#"{"name":"Still"}"#).await.expect(200);
        server.delete(HOOK).await.expect(204);
        server.post("/webhook", NEW).await.expect(201);
    }

    async fn a_webhook_of_another_account_is_an_unknown_one(server) {
        with_hook(&server).await;
        let key = server.new_key("AccountB", Scope::ReadWrite).await;
        let other = [("x-api-key", key.as_str())];
        for (method, body) in [("GET", None), ("PUT", Some("{}")), ("DELETE", None)] {
            let [theirs, unknown] = [HOOK, "/webhook/NoSuchHo"].map(|path| server.request(method, path, &other, body));
            let (theirs, unknown) = (server.send(theirs).await.expect(404), server.send(unknown).await.expect(404));
            assert_eq!(theirs.text(), unknown.text());
        }
        assert_eq!(slugs(&server.get_with("/webhook", &other).await.expect(200)), Vec::<String>::new());
    }

    async fn an_address_is_found_however_it_is_written(server) {
        with_hook(&server).await;
        let made = server.post("/webhook", NEW).await.expect(201).json()["slug"].as_str().unwrap().to_owned();
        for url in ["https%3A%2F%2Fhooks.example.org%2Fa%2520b", "HTTPS%3A%2F%2FHooks.Example.org%2Fa%20b"] {
            assert_eq!(slugs(&server.get(&format!("/webhook?url={url}")).await.expect(200)), [made.as_str()]);
        }
        assert_eq!(slugs(&server.get("/webhook?url=hooks.example.org").await.expect(200)), Vec::<String>::new());
    }
}
