//! Who sees and does what, from the words of the contract and of `docs/security.md`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::made::{FIELDS, ROLES, World, has, slug};

/// A person who asks.
pub(super) struct Reader<'w> {
    world: &'w World,
    user: &'w str,
    roles: Vec<&'static str>,
}

/// What every role may read: of the set-up, and published results.
const OF_ALL: [&str; 6] = ["/account", "/season", "/category", "/chapter", "/role", "/leaderboard/publication"];
/// What who takes part may read of it.
const OF_PARTICIPANTS: [&str; 3] = ["/content-block", "/form", "/round"];
/// What belongs to entries.
const OF_ENTRIES: [&str; 4] = ["/attachment", "/contributor", "/field", "/file"];

impl<'w> Reader<'w> {
    /// A user of a world.
    pub(super) fn of(world: &'w World, user: &'w str) -> Self {
        let record = world.of("user").find(|record| slug(record) == user);
        let mut roles: Vec<&str> =
            ROLES.into_iter().filter(|role| record.is_some_and(|user| has(user, role))).collect();
        if roles.is_empty() {
            roles.push("entrant");
        }
        Self { world, user, roles }
    }

    /// The person, for a failure report.
    pub(super) fn about(&self) -> String {
        format!("{} ({})", self.user, self.roles.join(", "))
    }

    /// Whether the person has a role of a type.
    pub(super) fn has(&self, role: &str) -> bool {
        self.roles.contains(&role)
    }

    /// Program managers and auditors see everything.
    pub(super) fn sees_all(&self) -> bool {
        self.has("program_manager") || self.has("auditor")
    }

    /// Whether the person manages a chapter.
    pub(super) fn manages(&self, chapter: &str) -> bool {
        let found = self.world.of("chapter").find(|record| slug(record) == chapter);
        let managers = found.and_then(|chapter| chapter["managers"].as_array());
        self.has("chapter_manager") && managers.is_some_and(|managers| managers.iter().any(|user| user == self.user))
    }

    fn entry(&self, slug_of: &Value) -> Option<&'w Value> {
        self.world.of("entry").find(|entry| slug(entry) == slug_of)
    }

    /// Whether a record is seen. What is no people's record is.
    pub(super) fn sees(&self, record: &Value) -> bool {
        if self.sees_all() {
            return true;
        }
        let is_of_chapters = |entry: &Value| entry["chapter"].as_str().is_some_and(|chapter| self.manages(chapter));
        match record["kind"].as_str() {
            Some("entry") => is_of_chapters(record) || self.has("entrant") && record["entrant"] == self.user,
            Some("contributor") => self.entry(&record["entry"]).is_some_and(|entry| self.sees(entry)),
            Some("order") => {
                let items = record["items"].as_array().map_or(&[][..], Vec::as_slice);
                let is_of_chapters = |item: &Value| self.entry(&item["entry"]).is_some_and(is_of_chapters);
                self.has("bookkeeper")
                    || self.has("entrant") && record["user"] == self.user
                    || !items.is_empty() && items.iter().all(is_of_chapters)
            }
            Some("user") => {
                let mut entries = self.world.of("entry").filter(|entry| entry["entrant"] == record["slug"]);
                slug(record) == self.user || entries.any(is_of_chapters)
            }
            _ => true,
        }
    }

    /// The fields whose answers of an entry are seen.
    pub(super) fn answers(&self, entry: &Value) -> BTreeSet<&'static str> {
        let is_whole = self.sees_all() || entry["chapter"].as_str().is_some_and(|chapter| self.manages(chapter));
        FIELDS.iter().filter(|(_, read, _)| is_whole || *read).map(|(field, ..)| *field).collect()
    }

    /// Whether one of the roles has an operation.
    pub(super) fn may(&self, method: &str, path: &str) -> bool {
        self.roles.iter().any(|role| allows(role, method, path))
    }
}

fn allows(role: &str, method: &str, path: &str) -> bool {
    let begins = |paths: &[&str]| {
        paths.iter().any(|whole| path == *whole || path.strip_prefix(whole).is_some_and(|rest| rest.starts_with("/{")))
    };
    let (is_read, is_sign_in) = (method == "GET", path.ends_with("/auth-token"));
    if is_read && !is_sign_in && !path.ends_with("/bundle") && begins(&OF_ALL) {
        return true;
    }
    // Judges and voters: their assignments. Managers of chapters: those of their chapters, which they also reopen.
    let judges = ["chapter_manager", "judge", "lead_judge", "voter"].contains(&role);
    let of_judges = ["/score", "/abstain", "/conflict"].iter().any(|end| path.ends_with(end));
    if path == "/assignment" || path.starts_with("/assignment/{slug}") {
        let is_reopening = path.ends_with("/reopen") && role == "chapter_manager";
        let is_managers = role == "program_manager" || role == "auditor" && is_read;
        return is_managers || judges && (is_read || of_judges || is_reopening);
    }
    let is_writing = path.ends_with("/upload") && begins(&["/category", "/chapter"]);
    match role {
        "program_manager" => true,
        "auditor" => is_read && !is_sign_in,
        "chapter_manager" | "entrant" => {
            let is_managers = role == "chapter_manager";
            let is_entry = path == "/entry" || path.starts_with("/entry/");
            let is_child = begins(&["/attachment", "/contributor"]);
            if ["/recuse", "/unrecuse"].iter().any(|end| path.ends_with(end)) {
                return false;
            }
            let is_for_managers = method == "DELETE" && is_entry
                || ["/copy", "/restore"].iter().any(|end| path.ends_with(end))
                || path.contains("/tag/");
            if is_entry || is_child {
                return is_managers || !is_for_managers;
            }
            let of_managers = ["/score-set", "/panel", "/review-stage"];
            is_read
                && !is_sign_in
                && !is_writing
                && (begins(&OF_PARTICIPANTS)
                    || begins(&OF_ENTRIES)
                    || begins(&["/order", "/user", "/tax", "/price"])
                    || is_managers && begins(&of_managers))
        }
        "judge" | "lead_judge" => {
            is_read
                && (begins(&OF_PARTICIPANTS) || ["/entry", "/entry/{slug}"].contains(&path) || begins(&["/score-set"]))
        }
        "bookkeeper" => is_read && begins(&["/order", "/tax", "/price"]),
        _ => false,
    }
}
