//! Requests that cause every event which can be caused today.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::service::{Answer, Client, Kind, Program, Service, field};

/// The events that some request causes. Those of orders, judging and documents have none yet.
pub(super) const EVENTS: &[&str] = &[
    "entry_created",
    "entry_updated",
    "entry_submitted",
    "entry_resubmitted",
    "entry_moderated",
    "entry_tagged",
    "entry_eligible",
    "entry_ineligible",
    "entry_deleted",
    "entry_copied",
    "entry_category_changed",
    "entry_chapter_changed",
    "entry_status_changed",
    "field_value_updated",
    "membership_registered",
    "user_confirmed",
    "user_updated",
    "role_granted",
];

/// The field that scores, with answers that are enough and too little.
const SCORED: &str = "FieldScr";

/// Lets entries be handed in, and has them screened then.
pub(super) fn set_up(service: &Service, program: &Program) -> Result<()> {
    let (season, form) = (program.slug(Kind::Season, 0), program.slug(Kind::Form, 0));
    let name = json!({"en_GB": "Name"});
    let records = [
        json!({"kind": "form", "slug": form, "season": season, "name": name, "type": "entry", "chapter_option": "all",
               "minimum_auto_score": 3}),
        json!({"kind": "round", "slug": "RoundOne", "season": season, "form": form, "name": name, "type": "entry",
               "start_date": null, "end_date": null}),
        json!({"kind": "field", "slug": SCORED, "form": form, "tab": program.slug(Kind::Tab, 1), "resource": "entries",
               "title": name, "type": "radio", "auto_scoring": 9,
               "options": [{"value": "much", "score": 4}, {"value": "little", "score": 1}]}),
    ];
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let file = service.directory().join("screening.jsonl");
    std::fs::write(&file, lines.join("\n"))?;
    service.run(&["import", "--account", &program.account, &file.to_string_lossy()])?.succeeded().map(drop)
}

/// An entry and a user from their beginning to their end.
pub(super) fn tell(client: &Client, program: &Program, number: u32) -> Result<()> {
    let slug = |kind, position| program.slug(kind, position);
    let made = post(
        client,
        "/entry",
        &json!({
            "category": slug(Kind::Category, 0), "chapter": slug(Kind::Chapter, 0), "entrant": slug(Kind::User, 0),
            "season": slug(Kind::Season, 0), "title": format!("Entry {number} \u{1f600} \u{e4}\"\\/"),
            "entry_fields": {SCORED: "much"},
        }),
    )?;
    let entry = format!("/entry/{}", made["slug"].as_str().context("the new entry has no slug")?);
    let put = |path: &str, body: Value| -> Result<Answer> {
        let path = format!("{entry}{path}");
        client.put(&path, &body)?.expect_status(200).with_context(|| path)
    };
    put("/update-title", json!({"title": format!("Title {number}")}))?;
    put(&format!("/update-field/{}", slug(Kind::Field, field::TEXT)), json!({"value": format!("<b>{number}</b>")}))?;
    put("/update-category", json!({"category": slug(Kind::Category, 2)}))?;
    put("/update-chapter", json!({"chapter": slug(Kind::Chapter, 1)}))?;
    put("", json!({"status": "submitted"}))?;
    put(&format!("/update-field/{SCORED}"), json!({"value": "little"}))?;
    put("", json!({"status": "resubmission_required"}))?;
    put("", json!({"status": "resubmitted"}))?;
    put("", json!({"moderation_status": "approved"}))?;
    client.send("PUT", &format!("{entry}/tag/red"), &[], None)?.expect_status(201).context("a tag")?;
    post(client, &format!("{entry}/copy"), &json!({}))?;
    client.delete(&entry)?.expect_status(204).context("an entry")?;

    let user = post(
        client,
        "/user",
        &json!({
            "first_name": "Grace", "last_name": format!("Hopper {number}"), "email": format!("grace.{number}@example.org"),
            "password": "correct horse", "roles": [slug(Kind::Role, 0)],
        }),
    )?;
    let user = format!("/user/{}", user["slug"].as_str().context("the new user has no slug")?);
    client.put(&user, &json!({"first_name": "Ada"}))?.expect_status(200).context("a user")?;
    let token = client.get(&format!("{user}/auth-token"))?.expect_status(200)?.json()?;
    let link = token["link"].as_str().context("there is no link to sign in")?;
    let path = link.find("/sign-in/").map(|at| &link[at..]).context("the link leads elsewhere")?;
    client.without("x-api-key").without("accept").get(path)?.expect_status(200).context("a first sign-in")?;
    Ok(())
}

fn post(client: &Client, path: &str, body: &Value) -> Result<Value> {
    client.post(path, body)?.expect_status(201).with_context(|| path.to_owned())?.json()
}
