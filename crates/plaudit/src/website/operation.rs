//! The page of one operation: what it does, what it takes and answers, and a form that calls it.

use maud::{Markup, html};
use serde_json::Value;

use super::reference::text;
use super::{line, members, prose};
use crate::render;
use crate::render::accept::Format;

/// An operation of the document.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) described: &'static Value,
}

impl Operation {
    pub(super) fn id(&self) -> &'static str {
        text(&self.described["operationId"])
    }

    pub(super) fn summary(&self) -> &'static str {
        let described = text(&self.described["description"]);
        described.split("\n\n").next().unwrap_or_default()
    }

    /// Its method and its path, as they stand in a request.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    /// What it is found by.
    pub(super) fn words(&self) -> String {
        format!("{} {} {}", self.name(), self.id(), self.summary()).to_lowercase()
    }

    /// The statuses of what it refuses, and what they are called.
    pub(super) fn errors(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let responses = self.described["responses"].as_object().into_iter().flatten();
        responses.filter_map(|(status, response)| Some((&**status, response["$ref"].as_str()?.rsplit('/').next()?)))
    }
}

/// What a reference leads to, or the value itself.
pub(super) fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let address = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    address.and_then(|address| document.pointer(address)).unwrap_or(value)
}

pub(super) fn content(document: &Value, operation: &Operation) -> Markup {
    let described = operation.described;
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&Value> = parameters.map(|parameter| resolved(document, parameter)).collect();
    let body = &described["requestBody"]["content"]["application/json"];
    html! {
        p .path-of { (text(&described["tags"][0])) " · " code { (operation.id()) } }
        h1 { span class={ "method " (operation.method) } { (operation.method) } " " code { (operation.path) } }
        (prose(text(&described["description"])))
        @if !parameters.is_empty() {
            h2 #parameters { "Parameters" }
            (parameters_table(document, &parameters))
        }
        @if !body.is_null() {
            h2 #body { "Body" }
            (members::table(document, &body["schema"], "the body"))
            h3 { "Example" }
            (example(document, body, Format::Json))
        }
        h2 #try { "Try it" }
        (form(document, operation, &parameters, body))
        h2 #answers { "Answers" }
        @for (status, response) in described["responses"].as_object().into_iter().flatten() {
            (answer(document, status, resolved(document, response)))
        }
    }
}

fn parameters_table(document: &Value, parameters: &[&Value]) -> Markup {
    html! {
        div .wide tabindex="0" role="region" aria-label="Parameters" { table {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Where" } th scope="col" { "What it is" } } }
            tbody { @for parameter in parameters { tr {
                th scope="row" { code { (text(&parameter["name"])) } @if parameter["required"] == true { " " span .required { "required" } } }
                td { (text(&parameter["in"])) }
                td { (line(text(&parameter["description"]))) (members::limits(document, &parameter["schema"])) }
            } } }
        } }
    }
}

/// What an answer of a status is like.
fn answer(document: &Value, status: &str, response: &Value) -> Markup {
    let content = |format: Format| &response["content"][format.media_type()];
    let stream = &response["content"]["text/event-stream"]["example"];
    html! {
        details open[status.starts_with('2')] {
            summary { span class={ "status s" (status.get(..1).unwrap_or_default()) } { (status) } " " (line(text(&response["description"]))) }
            @if let Some(headers) = response["headers"].as_object() {
                p .quiet { "Headers: " @for (index, name) in headers.keys().enumerate() { @if index > 0 { ", " } code { (name) } } }
            }
            @if content(Format::Json).is_object() {
                (members::table(document, &content(Format::Json)["schema"], &format!("the answer {status}")))
                @for (format, name) in [(Format::Json, "JSON"), (Format::Xml, "XML")] {
                    details open[format == Format::Json && status.starts_with('2')] {
                        summary { "Example in " (name) }
                        (example(document, content(format), format))
                    }
                }
            }
            @if let Some(stream) = stream.as_str() { pre tabindex="0" { code { (stream) } } }
        }
    }
}

/// The example of a media type.
pub(super) fn example(document: &Value, content: &Value, format: Format) -> Markup {
    let examples = content["examples"].as_object().into_iter().flatten();
    html! { @for (_, example) in examples { pre tabindex="0" { code { (written(document, example, format)) } } } }
}

fn written(document: &Value, example: &Value, format: Format) -> String {
    let value = &resolved(document, example)["value"];
    match format {
        Format::Json => serde_json::to_string_pretty(value).unwrap_or_default(),
        Format::Xml => {
            let xml = render::plain(Format::Xml, &value.to_string());
            // Elements of an example have nothing beside each other but elements.
            String::from_utf8_lossy(&xml).replace("><", ">\n<")
        }
    }
}

/// The form that calls an operation; the script makes code of what is filled in.
fn form(document: &Value, operation: &Operation, parameters: &[&Value], body: &Value) -> Markup {
    let is_stream = operation.path.ends_with("/stream");
    let (first, further): (Vec<&Value>, Vec<&Value>) =
        parameters.iter().partition(|parameter| parameter["in"] == "path" || parameter["required"] == true);
    let sent = body["examples"].as_object().and_then(|examples| examples.values().next());
    html! {
        noscript { p { "This needs JavaScript." } }
        form #call hidden data-method=(operation.method.to_uppercase()) data-path=(operation.path) data-stream[is_stream] {
            div .field {
                label for="key" { "Key (" code { "x-api-key" } ")" }
                input #key type="password" autocomplete="off" spellcheck="false" aria-describedby="of-key";
                p #of-key .quiet { "Kept in this tab alone. A call is made for real"
                    @if operation.method != "get" { ", and changes what belongs to the account" } "." }
            }
            @for parameter in first { (field(document, parameter)) }
            @if !further.is_empty() { details { summary { "Optional parameters" } @for parameter in further { (field(document, parameter)) } } }
            @if let Some(sent) = sent {
                div .field {
                    label for="sent" { "Body" }
                    textarea #sent rows="10" spellcheck="false" { (written(document, sent, Format::Json)) }
                }
            }
            fieldset { legend { "Format (" code { "Accept" } ")" }
                @for (format, name) in [(Format::Json, "JSON"), (Format::Xml, "XML")] {
                    label { input type="radio" name="format" value=(format.media_type()) checked[format == Format::Json]; " " (name) }
                }
            }
            button type="submit" { "Send" }
        }
        div #answer hidden tabindex="-1" role="region" aria-label="The answer" {
            p #answered role="status" {}
            pre tabindex="0" aria-label="The body of the answer" { code #answered-body {} }
        }
        div #code hidden {
            h3 { "The same in code" }
            div .code-head {
                div role="tablist" aria-label="Languages" {
                    @for (name, title) in [("curl", "curl"), ("python", "Python"), ("typescript", "TypeScript")] {
                        @let is_first = name == "curl";
                        button type="button" role="tab" id={ "tab-" (name) } data-language=(name) aria-controls="panel"
                            aria-selected=(is_first) tabindex=(if is_first { "0" } else { "-1" }) { (title) }
                    }
                }
                button #copy type="button" { "Copy" }
            }
            div #panel role="tabpanel" aria-labelledby="tab-curl" { pre tabindex="0" { code #made {} } }
        }
    }
}

fn field(document: &Value, parameter: &Value) -> Markup {
    let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
    let id = format!("{place}-{name}");
    let example = &parameter["example"];
    let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
    let choices = resolved(document, &parameter["schema"])["enum"].as_array();
    html! {
        div .field {
            label for=(id) { code { (name) } }
            @if let Some(choices) = choices {
                select id=(id) data-in=(place) data-name=(name) {
                    option value="" { "" }
                    @for choice in choices.iter().filter_map(Value::as_str) { option { (choice) } }
                }
            } @else {
                input id=(id) data-in=(place) data-name=(name) autocomplete="off" spellcheck="false"
                    required[place == "path"] placeholder=[(!parameter["example"].is_null()).then_some(example)];
            }
        }
    }
}
