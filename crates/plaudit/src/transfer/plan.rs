//! What an apply does, for people: a step for each record, with the members that change.

use std::fmt;

use super::Error;
use super::schema::members;
use crate::log::Action;
use db::DbError;
use kernel::json::{Json, Object as JsonObject, parse_object};
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, cut};

/// The most characters that are shown of a value.
const SHOWN: usize = 100;

/// What is shown of a secret that changes.
const MASKED: &str = "**** -> ****";

/// What is done to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What.
    pub action: Action,
    /// The kind of the record.
    pub kind: Kind,
    /// Its slug.
    pub slug: Slug,
    /// Its name in the account's default language, where it has one.
    pub name: String,
    /// The members that change, where it is there already: the path of each, and what it was and becomes.
    pub changes: Vec<(String, String)>,
    /// Whether its slug is new, because the file states none.
    pub is_given: bool,
}

/// What is done to a record that was in the trash or not, or not there at all, and will be or not.
pub(super) fn action(before: Option<bool>, deleted: bool) -> Action {
    match (before, deleted) {
        (None, _) => Action::Created,
        (Some(false), true) => Action::Trashed,
        (Some(true), false) => Action::Restored,
        _ => Action::Updated,
    }
}

/// Brings steps into the order in which they are shown: by kind, then by slug.
pub(super) fn sort(steps: &mut [Step]) {
    steps.sort_by_key(|step| (step.kind, step.slug));
}

impl Step {
    /// From the stored forms before and after, each with whether it is in the trash.
    pub(super) fn new(
        (kind, slug): (Kind, Slug),
        before: Option<(&str, bool)>,
        (after, deleted): (&str, bool),
        language: Locale,
    ) -> Result<Self, Error> {
        let broken = |error| DbError::Failed(format!("the {kind} {slug} cannot be read: {error}"));
        let after = parse_object(after.as_bytes()).map_err(broken)?;
        let mut changes = Vec::new();
        if let Some((before, _)) = before {
            let before = parse_object(before.as_bytes()).map_err(broken)?;
            differences("", &before, &after, &mut changes);
            let is_secret =
                |path: &str| members(kind).iter().any(|member| member.is_secret && is_of(path, member.name));
            changes.iter_mut().filter(|(path, _)| is_secret(path)).for_each(|(_, change)| MASKED.clone_into(change));
            // The sign of the step says it.
            changes.retain(|(member, _)| member != "deleted");
            // That it changed follows from everything else.
            if changes.iter().any(|change| !is_update(&change.0)) {
                changes.retain(|change| !is_update(&change.0));
            }
        }
        let action = action(before.map(|(_, deleted)| deleted), deleted);
        Ok(Self { action, kind, slug, name: name(kind, &after, language), changes, is_given: false })
    }
}

/// Whether a path is that of a member or of something in it.
fn is_of(path: &str, member: &str) -> bool {
    path.strip_prefix(member).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_update(member: &str) -> bool {
    matches!(member, "updated" | "updated_at")
}

/// What people call a record: the last of the members that it is known by which is a text.
fn name(kind: Kind, object: &JsonObject, language: Locale) -> String {
    let members = members(kind);
    let known_by = members.iter().filter(|member| member.identifies).map(|member| member.name);
    let mut texts = known_by.chain(["name"]).filter_map(|name| match object.get(name)? {
        Json::Object(map) => map.get(language.code())?.as_str(),
        Json::String(text) if name == "name" || kind == Kind::Tax => Some(&**text),
        _ => None,
    });
    texts.rfind(|text| !text.is_empty()).unwrap_or_default().to_owned()
}

fn differences(path: &str, before: &JsonObject, after: &JsonObject, found: &mut Vec<(String, String)>) {
    let names = after.iter().chain(before.iter().filter(|(name, _)| after.get(name).is_none()));
    for (name, _) in names {
        let member = super::marks::joined(path, name);
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => difference(member, before, after, found),
            (before, after) => found.push((member, change(before, after))),
        }
    }
}

fn difference(member: String, before: &Json, after: &Json, found: &mut Vec<(String, String)>) {
    match (before, after) {
        _ if before == after => {}
        (Json::Object(before), Json::Object(after)) => differences(&member, before, after, found),
        (Json::Array(before), Json::Array(after)) if before.len() == after.len() => {
            for (number, (before, after)) in (1..).zip(before.iter().zip(after)) {
                difference(format!("{member}.{number}"), before, after, found);
            }
        }
        _ => found.push((member, change(Some(before), Some(after)))),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.action {
            Action::Created | Action::Restored | Action::Imported => '+',
            Action::Updated => '~',
            Action::Trashed => '-',
        };
        write!(formatter, "{sign} {} {}", self.kind, self.slug)?;
        if !self.name.is_empty() {
            write!(formatter, " {}", shown(&Json::String((&*self.name).into())))?;
        }
        if self.action == Action::Restored {
            formatter.write_str(" (out of the trash)")?;
        }
        if self.is_given {
            formatter.write_str(" (a new slug: write it into the file)")?;
        }
        for (member, change) in &self.changes {
            write!(formatter, "\n    {member}: {change}")?;
        }
        Ok(())
    }
}

/// What a member was and becomes; it was not there before, or goes away.
fn change(before: Option<&Json>, after: Option<&Json>) -> String {
    let [before, after] = [before, after].map(|json| json.map_or_else(|| "nothing".to_owned(), shown));
    format!("{before} -> {after}")
}

/// A value on one line and not too long.
fn shown(json: &Json) -> String {
    cut(&json.to_string(), SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: Kind, before: Option<(&str, bool)>, after: (&str, bool)) -> String {
        let slug = Slug::parse("RecordAA").unwrap();
        Step::new((kind, slug), before, after, Locale::EnGb).unwrap().to_string()
    }

    #[test]
    fn a_step_shows_the_members_that_change() {
        let before = r#"{"name":{"en_GB":"Film"},"order":1,"options":["a","b"],"tags":[],"updated":"x"}"#;
        let after = r#"{"name":{"en_GB":"Films","de_DE":"Filme"},"options":["a","c"],"tags":["t"],"updated":"y"}"#;
        let lines = [
            "~ category RecordAA \"Films\"",
            "    name.en_GB: \"Film\" -> \"Films\"",
            "    name.de_DE: nothing -> \"Filme\"",
            "    options.2: \"b\" -> \"c\"",
            "    tags: [] -> [\"t\"]",
            "    order: 1 -> nothing",
        ];
        assert_eq!(step(Kind::Category, Some((before, false)), (after, false)), lines.join("\n"));
    }

    #[test]
    fn a_step_says_what_is_done() {
        let doc = r#"{"name":{"en_GB":"Film"}}"#;
        assert_eq!(step(Kind::Season, None, (doc, false)), "+ season RecordAA \"Film\"");
        assert_eq!(step(Kind::Season, Some((doc, false)), (doc, true)), "- season RecordAA \"Film\"");
        assert_eq!(
            step(Kind::Season, Some((doc, true)), (doc, false)),
            "+ season RecordAA \"Film\" (out of the trash)"
        );
        assert_eq!(step(Kind::Account, None, (r#"{"name":"Awards"}"#, false)), "+ account RecordAA \"Awards\"");
    }

    #[test]
    fn a_secret_that_changes_is_not_shown() {
        let doc = |key: &str, value: &str, keys: &str| {
            let headers = format!(r#"{{"X.Team":"{value}"}}"#);
            format!(r#"{{"name":"Hook","signing_key":"{key}","headers":{headers},"replaced_keys":[{keys}]}}"#)
        };
        let (before, after) = (doc("oldkey", "old", ""), doc("newkey", "new", r#"{"key":"oldkey"}"#));
        let lines = [
            "~ webhook RecordAA \"Hook\"",
            "    signing_key: **** -> ****",
            "    headers.X.Team: **** -> ****",
            "    replaced_keys: **** -> ****",
        ];
        assert_eq!(step(Kind::Webhook, Some((&before, false)), (&after, false)), lines.join("\n"));
    }

    #[test]
    fn the_time_of_the_change_is_shown_where_nothing_else_is() {
        let step = step(Kind::Season, Some((r#"{"updated":"x"}"#, false)), (r#"{"updated":"y"}"#, false));
        assert!(step.ends_with("updated: \"x\" -> \"y\""), "{step}");
    }
}
