//! The one who writes: through the interface and by imports, some of which are refused.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::States;
use super::made::{self, ACCOUNT, Size, name, pick};
use super::model::{World, text};
use crate::service::{Answer, Client, Random, Service};

/// How many records an import may have.
const IMPORTED: u32 = 200;

pub(super) struct Writer<'s> {
    pub(super) service: &'s Service,
    pub(super) client: Client,
    pub(super) size: Size,
    pub(super) random: Random,
    /// Requests that were refused, and so changed nothing.
    pub(super) refused: u32,
    /// Imports that a fault on the last line took back.
    pub(super) faulted: u32,
}

impl Writer<'_> {
    /// Makes so many changes, at least; gives how many.
    pub(super) fn write(&mut self, states: &States, changes: u32) -> Result<u32> {
        let mut done = 0;
        while done < changes {
            let is_import = self.random.below(20) == 0;
            let count = if is_import { 1 + self.random.below(IMPORTED.min(1 + changes / 4)) } else { 1 };
            let is_changed =
                states.write(|world| if is_import { self.import(world, count) } else { self.request(world) })?;
            done += if is_changed { count } else { 0 };
        }
        Ok(done)
    }

    /// Imports records with new values; sometimes with a last line that takes all of it back.
    fn import(&mut self, world: &World, count: u32) -> Result<Option<World>> {
        let is_faulty = self.random.below(3) == 0;
        let mut lines = made::changes(ACCOUNT, self.size, count, &mut self.random);
        // An entry that states whether it is paid does not follow the orders of its file.
        let named: BTreeSet<String> = lines
            .iter()
            .flat_map(|line| line["items"].as_array().into_iter().flatten())
            .filter_map(|item| item["entry"].as_str().map(str::to_owned))
            .collect();
        let is_left_out = |entry: &&String| lines.iter().all(|line| line["slug"] != entry.as_str());
        let stated: Vec<Value> =
            named.iter().filter(is_left_out).map(|entry| world.get("entry", entry).clone()).collect();
        lines.extend(stated);
        let mut all = vec![made::setup(ACCOUNT).swap_remove(0)];
        all.extend(lines.iter().cloned());
        if is_faulty {
            all.push(json!({"kind": "order", "slug": "OrderBad", "season": "NoSuchSe"}));
        }
        let file = self.service.directory().join("changes.jsonl");
        fs::write(&file, made::written(&all))?;
        let finished = self.service.import_file(&file)?;
        if is_faulty {
            self.faulted += 1;
            if finished.code == Some(0) {
                bail!("a faulty file was imported");
            }
            return Ok(None);
        }
        finished.succeeded()?;
        let mut after = world.clone();
        made::take(&mut after, &lines);
        Ok(Some(after))
    }

    /// A request of any sort.
    fn request(&mut self, world: &World) -> Result<Option<World>> {
        let entry = name("Entr", self.random.below(self.size.entries));
        match self.random.below(12) {
            0..=3 => self.change_entry(world, &entry),
            4 => self.trash(world, &entry),
            5 => self.tag(world, &entry),
            6 | 7 => self.change_child(world),
            8 | 9 => self.change_user(world),
            10 => self.rename(world),
            _ => self.refused(world, &entry),
        }
    }

    fn change_entry(&mut self, world: &World, entry: &str) -> Result<Option<World>> {
        let made = made::entry(self.size, 0, &mut self.random);
        let members = ["title", "chapter", "moderation_status", "entrant", "category", "status"];
        let mut body = json!({});
        for member in members.iter().take(1 + self.random.below(6) as usize) {
            if self.random.below(2) == 0 {
                body[*member] = made[*member].clone();
            }
        }
        let answer = self.client.put(&format!("/entry/{entry}"), &body)?;
        let Some(shown) = self.accepted(&answer, &[404, 422])? else { return Ok(None) };
        let mut after = world.clone();
        let slug = |member: &str| shown[member]["slug"].clone();
        after.set(
            "entry",
            entry,
            &[
                ("title", shown["title"].clone()),
                ("status", shown["status"].clone()),
                (
                    "moderation_status",
                    body.get("moderation_status").unwrap_or(&world.get("entry", entry)["moderation_status"]).clone(),
                ),
                ("payment_status", shown["payment_status"].clone()),
                ("chapter", slug("chapter")),
                ("category", slug("category")),
                ("entrant", slug("entrant")),
                ("updated", shown["updated"].clone()),
            ],
        );
        Ok(Some(after))
    }

    /// Into the trash, or back.
    fn trash(&mut self, world: &World, entry: &str) -> Result<Option<World>> {
        let is_deleted = world.get("entry", entry)["deleted"] == true;
        let answer = if is_deleted {
            self.client.send("POST", &format!("/entry/{entry}/restore"), &[], None)?
        } else {
            self.client.delete(&format!("/entry/{entry}"))?
        };
        // What stands in a season that is over does not change.
        if self.accepted(&answer, &[422])?.is_none() {
            return Ok(None);
        }
        let mut after = world.clone();
        after.set("entry", entry, &[("deleted", json!(!is_deleted))]);
        if is_deleted {
            // What comes back is paid where nothing is due on it.
            let shown = self.client.get(&format!("/entry/{entry}"))?.expect_status(200)?.json()?;
            let of = |member: &'static str| (member, shown[member].clone());
            after.set("entry", entry, &[of("payment_status"), of("updated")]);
        }
        Ok(Some(after))
    }

    fn tag(&mut self, world: &World, entry: &str) -> Result<Option<World>> {
        let tag = *pick(&["red", "Red", "long tag", "new"], &mut self.random);
        let path = format!("/entry/{entry}/tag/{}", tag.replace(' ', "%20"));
        let is_added = self.random.below(2) == 0;
        let answer = if is_added { self.client.put(&path, &json!({}))? } else { self.client.delete(&path)? };
        if self.accepted(&answer, &[404, 422])?.is_none() {
            return Ok(None);
        }
        let shown = self.client.get(&format!("/entry/{entry}"))?.expect_status(200)?.json()?;
        let mut after = world.clone();
        after.set("entry", entry, &[("tags", shown["tags"].clone()), ("updated", shown["updated"].clone())]);
        Ok(Some(after))
    }

    fn change_child(&mut self, world: &World) -> Result<Option<World>> {
        let kind = *pick(&["attachment", "contributor"], &mut self.random);
        let children: Vec<&String> = world.all(kind).map(|(name, _)| name).collect();
        let child = (*pick(&children, &mut self.random)).clone();
        let path = format!("/{kind}/{child}");
        let made = made::child(kind, 1, 0, &mut self.random);
        let mut after = world.clone();
        if self.random.below(6) == 0 {
            let answer = self.client.delete(&path)?;
            if self.accepted(&answer, &[404, 422])?.is_none() {
                return Ok(None);
            }
            after.set(kind, &child, &[("deleted", json!(true))]);
            self.refresh(&mut after, kind, &child)?;
            return Ok(Some(after));
        }
        let body = if kind == "attachment" {
            json!({"order": made["order"], "tab": made["tab"]})
        } else {
            json!({"fields": made["fields"]})
        };
        let answer = self.client.put(&path, &body)?;
        let Some(shown) = self.accepted(&answer, &[404, 422])? else { return Ok(None) };
        after.set(
            kind,
            &child,
            &[
                ("updated", shown["updated"].clone()),
                ("tab", shown["tab"]["slug"].clone()),
                ("order", shown["order"].clone()),
                ("fields", body.get("fields").unwrap_or(&Value::Null).clone()),
            ],
        );
        self.refresh(&mut after, kind, &child)?;
        Ok(Some(after))
    }

    /// What belongs to an entry may change the time of its last change.
    fn refresh(&self, after: &mut World, kind: &str, child: &str) -> Result<()> {
        let entry = text(after.get(kind, child), "entry").to_owned();
        let shown = self.client.get(&format!("/entry/{entry}"))?.expect_status(200)?.json()?;
        after.set("entry", &entry, &[("updated", shown["updated"].clone())]);
        Ok(())
    }

    fn change_user(&mut self, world: &World) -> Result<Option<World>> {
        let user = name("User", self.random.below(self.size.users));
        let made = made::user(ACCOUNT, 0, &mut self.random);
        let body = json!({"first_name": made["first_name"], "last_name": made["last_name"], "roles": made["roles"]});
        let answer = self.client.put(&format!("/user/{user}"), &body)?;
        let Some(shown) = self.accepted(&answer, &[404, 422])? else { return Ok(None) };
        let roles: Vec<Value> =
            shown["roles"].as_array().into_iter().flatten().map(|role| role["slug"].clone()).collect();
        let mut after = world.clone();
        after.set(
            "user",
            &user,
            &[
                ("first_name", shown["first_name"].clone()),
                ("last_name", shown["last_name"].clone()),
                ("roles", roles.into()),
                ("updated", shown["updated"].clone()),
            ],
        );
        Ok(Some(after))
    }

    /// Gives a category another name.
    fn rename(&mut self, world: &World) -> Result<Option<World>> {
        let categories: Vec<&String> = world.all("category").map(|(name, _)| name).collect();
        let category = (*pick(&categories, &mut self.random)).clone();
        let called = *pick(&["Design", "design", "Posters", "Åland", "alpha"], &mut self.random);
        let body = json!({"translated": {"name": {"en_GB": called}}});
        let answer = self.client.put(&format!("/category/{category}"), &body)?;
        let Some(shown) = self.accepted(&answer, &[422])? else { return Ok(None) };
        let mut after = world.clone();
        after.set("category", &category, &[("name", shown["name"].clone())]);
        Ok(Some(after))
    }

    /// What is taken back: a wrong precondition, and a value that there is not.
    fn refused(&mut self, _: &World, entry: &str) -> Result<Option<World>> {
        let body = json!({"title": "never seen"});
        let answer = self.client.put_if(&format!("/entry/{entry}"), &body, Some("\"wrong\""))?;
        if ![404, 412, 422].contains(&answer.status) {
            bail!("a wrong precondition was answered {}: {}", answer.status, answer.text());
        }
        let body = json!({"title": "never seen", "category": "NoSuchCa"});
        let answer = self.client.put(&format!("/entry/{entry}"), &body)?;
        if ![404, 422].contains(&answer.status) {
            bail!("a category that there is not was answered {}: {}", answer.status, answer.text());
        }
        self.refused += 2;
        Ok(None)
    }

    /// What a write answered; nothing where it was refused with one of these statuses.
    fn accepted(&mut self, answer: &Answer, refusals: &[u16]) -> Result<Option<Value>> {
        match answer.status {
            200 | 201 => Ok(Some(answer.json()?)),
            204 => Ok(Some(Value::Null)),
            status if refusals.contains(&status) => {
                self.refused += 1;
                Ok(None)
            }
            status => {
                Err(anyhow::anyhow!("{}", answer.text())).with_context(|| format!("a write was answered {status}"))
            }
        }
    }
}
