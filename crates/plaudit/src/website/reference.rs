//! The index of operations, the pages that belong to it, and what stands beside all of them.

use maud::{Markup, html};
use serde_json::Value;

use super::operation::{self, Operation};
use super::{first_call, layout, line, members, prose};
use crate::render::accept::Format;

/// The name of the page of everything there is.
pub(super) const INDEX: &str = "";
/// The name of the page of events.
const EVENTS: &str = "events";

/// The reference that is made of an OpenAPI document.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) document: &'static Value,
}

/// What every request needs, in the order in which a reader meets it.
const BASICS: &[(&str, &str)] = &[
    (
        "Authentication",
        "Every request has the header `x-api-key` with a key of the account. A manager of the account gives it out; \
         `plaudit demo` prints some for the demonstration.",
    ),
    (
        "Formats",
        "Every request says in `Accept` which format it takes: `application/vnd.service.v2.3+json` or \
         `application/vnd.service.v2.3+xml`. Without it the answer is 400. Bodies are JSON, with `Content-Type: application/json`.",
    ),
    (
        "Languages",
        "`x-api-language` names the languages of texts, such as `en_GB,de_DE`, or `all`. Left out, texts are in the \
         account's default language.",
    ),
    (
        "Errors",
        "What is wrong is told in `message`. A 422 tells all that is wrong with a body in `errors`, by member; a 400 of a list tells \
         parameters that do not exist and values that are not allowed.",
    ),
    (
        "Changes that collide",
        "`If-Match` with the `ETag` that was read lets a change pass only where nobody else made one meanwhile. \
         `Idempotency-Key` lets a request be sent again: it is done once, and answered the same.",
    ),
    (
        "Limits",
        "`X-RateLimit-Remaining` tells how many requests a key has left in the window. Beyond it the answer is 429, and \
         `Retry-After` says for how many seconds.",
    ),
];

impl Reference {
    /// The page of everything there is.
    fn index(self) -> Markup {
        let content = html! {
            h1 { "Reference of the interface" }
            (prose(text(&self.document["info"]["description"])))
            h2 #first { "A first call" }
            (first_call())
            h2 #beginning { "What every request needs" }
            dl .facts { @for (name, about) in BASICS { dt { (name) } dd { (line(about)) } } }
            h2 #statuses { "What answers say" }
            div .wide tabindex="0" role="region" aria-label="Statuses" { table {
                thead { tr { th scope="col" { "Status" } th scope="col" { "Meaning" } } }
                tbody { @for (status, about) in self.errors() { tr {
                    th scope="row" { (status) } td { (line(about)) }
                } } }
            } }
            h2 #operations-by-group { "Operations" }
            @for (group, about) in self.groups() {
                h3 { (group) }
                (prose(about))
                ul .operations { @for operation in self.of_group(group) {
                    li { (link(&operation, "docs/")) " " (line(operation.summary())) }
                } }
                @if group == "Webhooks" {
                    ul .operations { li { a href={ "docs/" (EVENTS) } { "Events" } " What webhooks are told." } }
                }
            }
        };
        self.layout("Reference", "", None, &content)
    }

    /// The page of this name: the index, events, or an operation by its id.
    pub(super) fn page(self, name: &str) -> Option<Markup> {
        if name == INDEX {
            return Some(self.index());
        }
        if name == EVENTS {
            return Some(self.events());
        }
        let operation = self.operations().find(|operation| operation.id() == name)?;
        Some(self.layout(&operation.name(), "../", Some(name), &operation::content(self.document, &operation)))
    }

    /// The page of what webhooks are told.
    fn events(self) -> Markup {
        let events = self.document["webhooks"].as_object().into_iter().flatten();
        let content = html! {
            h1 { "Events" }
            p { "What webhooks are told, each by a request of its own whose body is signed." }
            @for (name, event) in events {
                @let content = &event["post"]["requestBody"]["content"]["application/json"];
                h2 id=(name) { code { (name) } }
                (prose(text(&event["post"]["description"])))
                details { summary { "Members" } (members::table(self.document, &content["schema"], name)) }
                details { summary { "Example" } (operation::example(self.document, content, Format::Json)) }
            }
        };
        self.layout("Events", "../", Some(EVENTS), &content)
    }

    /// A page beside the list of all others.
    fn layout(self, title: &str, root: &str, current: Option<&str>, content: &Markup) -> Markup {
        let to = if root.is_empty() { "docs/" } else { "" };
        let beside = html! {
            div .layout {
                button #menu type="button" aria-expanded="false" aria-controls="operations" hidden { "All operations" }
                nav #operations aria-label="Operations" {
                    div #finding hidden {
                        label for="search" { "Find an operation" }
                        input #search type="search" autocomplete="off" placeholder="Ctrl+K" aria-describedby="found";
                        p #found role="status" {}
                    }
                    @for (group, _) in self.groups() {
                        div .group {
                            h2 { (group) }
                            ul { @for operation in self.of_group(group) {
                                li data-words=(operation.words()) {
                                    a href={ (to) (operation.id()) } title=(operation.summary())
                                        aria-current=[(current == Some(operation.id())).then_some("page")] {
                                        span class={ "method " (operation.method) } { (operation.method) }
                                        span { (operation.path) }
                                    }
                                }
                            } @if group == "Webhooks" {
                                li data-words="events webhooks" {
                                    a href={ (to) (EVENTS) } aria-current=[(current == Some(EVENTS)).then_some("page")] { "Events" }
                                }
                            } }
                        }
                    }
                }
                main #main { (content) }
            }
        };
        layout(title, root, &beside)
    }

    /// The groups of operations, and what they are about.
    fn groups(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let groups = self.document["tags"].as_array().into_iter().flatten();
        groups.map(|group| (text(&group["name"]), text(&group["description"])))
    }

    fn operations(self) -> impl Iterator<Item = Operation> {
        let paths = self.document["paths"].as_object().into_iter().flatten();
        paths.flat_map(|(path, item)| {
            let operations = item.as_object().into_iter().flatten();
            operations.map(|(method, described)| Operation { method, path, described })
        })
    }

    fn of_group(self, group: &str) -> impl Iterator<Item = Operation> {
        self.operations().filter(move |operation| operation.described["tags"][0] == group)
    }

    /// What the service refuses, by its status.
    fn errors(self) -> Vec<(String, &'static str)> {
        let mut errors: Vec<_> = self.operations().flat_map(Operation::errors).collect();
        errors.sort_unstable();
        errors.dedup();
        let about = |name: &str| text(&self.document["components"]["responses"][name]["description"]);
        errors.into_iter().map(|(status, name)| (status.to_owned(), about(name))).collect()
    }
}

fn link(operation: &Operation, to: &str) -> Markup {
    html! { a href={ (to) (operation.id()) } {
        span class={ "method " (operation.method) } { (operation.method) } " " code { (operation.path) }
    } }
}

/// The text of a value.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
