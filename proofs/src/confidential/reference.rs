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

    /// Whether an entry is of the person's chapters or the person's own.
    pub(super) fn holds(&self, entry: &Value) -> bool {
        self.sees_all() || self.is_of_chapters(entry) || self.has("entrant") && self.is_entrant_of(entry)
    }

    /// Whether it is the person who entered.
    pub(super) fn is_entrant_of(&self, entry: &Value) -> bool {
        entry["entrant"] == self.user
    }

    fn is_of_chapters(&self, entry: &Value) -> bool {
        entry["chapter"].as_str().is_some_and(|chapter| self.manages(chapter))
    }

    fn judges(&self) -> bool {
        ["judge", "lead_judge", "voter"].iter().any(|role| self.has(role))
    }

    /// The assignments of the person to an entry that hold, each with its score set.
    fn own(&self, entry: &str) -> Vec<(&'w Value, &'w Value)> {
        let of_entry = |assignment: &&Value| {
            self.judges()
                && assignment["entry"] == entry
                && assignment["judge"] == self.user
                && assignment["method"] == "manual"
                && assignment["is_conflicted"] != true
        };
        let found = self.world.of("assignment").filter(of_entry);
        found.filter_map(|found| Some((found, self.score_set(&found["score_set"])?))).collect()
    }

    fn score_set(&self, slug_of: &Value) -> Option<&'w Value> {
        self.world.of("score_set").find(|set| slug(set) == slug_of)
    }

    /// What is shown of an assignment: its comments, and who judges; nothing where it is not seen. Comments can be shown without scores.
    pub(super) fn sheet(&self, assignment: &Value) -> Option<(bool, bool)> {
        let is_of_chapters = self.entry(&assignment["entry"]).is_some_and(|entry| self.is_of_chapters(entry));
        if self.sees_all() || is_of_chapters || self.judges() && assignment["judge"] == self.user {
            return Some((true, true));
        }
        let own = self.own(assignment["entry"].as_str()?);
        let (own, set) = own.into_iter().find(|(own, _)| own["score_set"] == assignment["score_set"])?;
        let is_complete = !own["decision"].is_null();
        let is_shown = |what: &str| match set["shows"][what].as_str() {
            Some("always") => true,
            Some("after_own") => is_complete,
            _ => false,
        };
        let names = set["shows"]["names_of_judges"] == true;
        let comments = is_shown("others_comments");
        (assignment["method"] == "manual" && (comments || is_shown("others_scores"))).then_some((comments, names))
    }

    /// Whether a review task is seen: it is asked of the person, or of the person's chapters.
    pub(super) fn sees_task(&self, task: &Value) -> bool {
        let user = self.world.of("user").find(|record| slug(record) == self.user);
        let is_own = |reviewer: &Value| user.is_some_and(|user| user["email"] == reviewer["email"]);
        let is_of_chapters = self.entry(&task["entry"]).is_some_and(|entry| self.is_of_chapters(entry));
        self.sees_all()
            || is_of_chapters
            || task["reviewer"].as_array().is_some_and(|reviewers| reviewers.iter().any(is_own))
    }

    /// Whether a list shows a document, where it is asked for those in the trash as well.
    pub(super) fn lists(&self, document: &Value) -> bool {
        let is_own = document["shared_with_user"] == true && document["recipient"] == self.user;
        let is_of_chapters = self.entry(&document["entry"]).is_some_and(|entry| self.is_of_chapters(entry));
        self.sees_all() || is_of_chapters || self.has("entrant") && is_own && document["deleted"] != true
    }

    /// Whether a record is seen. What is no people's record is.
    pub(super) fn sees(&self, record: &Value) -> bool {
        if self.sees_all() {
            return record["deleted"] != true;
        }
        let is_of_chapters = |entry: &Value| self.is_of_chapters(entry);
        match record["kind"].as_str() {
            Some("entry") => self.holds(record) || !self.own(slug(record)).is_empty(),
            Some("assignment") => self.sheet(record).is_some(),
            Some("contributor") => self.entry(&record["entry"]).is_some_and(|entry| self.holds(entry)),
            Some("order") => {
                let items = record["items"].as_array().map_or(&[][..], Vec::as_slice);
                let is_of_chapters = |item: &Value| self.entry(&item["entry"]).is_some_and(is_of_chapters);
                self.has("bookkeeper")
                    || self.has("entrant") && record["user"] == self.user
                    || !items.is_empty() && items.iter().all(is_of_chapters)
            }
            Some("document") => self.lists(record) && record["deleted"] != true,
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
        let own = self.own(slug(entry));
        let mode = |set: &Value| if set["mode"] == "vip_judging" { "scoring".into() } else { set["mode"].clone() };
        let is_visible = |field: &str| {
            let field = self.world.of("field").find(|record| slug(record) == field);
            let visible = field.and_then(|field| field["visibility"].as_array());
            visible.is_some_and(|visible| own.iter().any(|(_, set)| visible.contains(&mode(set))))
        };
        let is_read = |read: bool| read && self.holds(entry);
        let fields = FIELDS.iter().filter(|(field, read, _)| is_whole || is_read(*read) || is_visible(field));
        fields.map(|(field, ..)| *field).collect()
    }

    /// The members of an entry that are seen of it beside its answers, where that is not all of them.
    pub(super) fn members(&self, entry: &Value) -> Option<Vec<&'static str>> {
        if self.holds(entry) {
            return None;
        }
        let mut members = vec!["category", "chapter", "entry_fields", "form", "season", "slug", "title"];
        if self.own(slug(entry)).iter().any(|(_, set)| set["shows"]["entrants"] == true) {
            members.extend(["attachments", "contributors", "entrant"]);
        }
        members.sort_unstable();
        Some(members)
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
    // Who is asked to review need not have a role for it.
    if is_read && ["/review-task", "/review-task/{token}"].contains(&path)
        || path.ends_with("/decision") && role != "auditor"
    {
        return true;
    }
    // Judges and voters: their assignments. Managers of chapters: those of their chapters, which they also reopen.
    let judges = ["chapter_manager", "judge", "lead_judge", "voter"].contains(&role);
    let of_judges = ["/score", "/abstain", "/conflict"].iter().any(|end| path.ends_with(end));
    if path == "/assignment" || path.starts_with("/assignment/{slug}") {
        let is_reopening = path.ends_with("/reopen") && ["chapter_manager", "lead_judge"].contains(&role);
        let is_linking = role == "chapter_manager" && (method == "POST" && path == "/assignment" || method == "DELETE");
        let is_managers = role == "program_manager" || role == "auditor" && is_read;
        return is_managers || judges && (is_read || of_judges || is_reopening || is_linking);
    }
    if path == "/assignment/progress" && ["chapter_manager", "lead_judge"].contains(&role) {
        return true;
    }
    if method == "POST" && ["/order", "/order/quote"].contains(&path) {
        return ["program_manager", "entrant", "bookkeeper"].contains(&role);
    }
    let is_writing = path.ends_with("/upload") && begins(&["/category", "/chapter"]);
    match role {
        "program_manager" => true,
        "auditor" => is_read && !is_sign_in,
        "chapter_manager" | "entrant" => {
            let is_managers = role == "chapter_manager";
            let is_entry = path == "/entry" || path.starts_with("/entry/");
            let is_child = begins(&["/attachment", "/contributor"]);
            if begins(&["/document"]) {
                return is_read || is_managers && ["POST", "DELETE"].contains(&method);
            }
            if ["/recuse", "/unrecuse"].iter().any(|end| path.ends_with(end)) {
                return is_managers;
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
        "judge" | "lead_judge" | "voter" => {
            is_read
                && (begins(&OF_PARTICIPANTS) || ["/entry", "/entry/{slug}"].contains(&path) || begins(&["/score-set"]))
        }
        "bookkeeper" => is_read && begins(&["/order", "/tax", "/price"]) || path.starts_with("/order/{slug}"),
        _ => false,
    }
}
