//! The bodies of the set-up's writing operations, and all that can be wrong with them: one table (`bodies.json`) and one
//! way of making wrong bodies from it, for the tests and for the proof `setup-bodies`.
//!
//! A fault is made in a body that is right, so that exactly one answer is right: `errors` with the member of each fault.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// A member that no body has.
const UNKNOWN: &str = "no_such_member";

/// A writing operation.
pub(crate) struct Operation {
    /// The identifier of the OpenAPI document.
    pub(crate) id: String,
    /// The method.
    pub(crate) method: String,
    /// The path, filled.
    pub(crate) path: String,
    /// A body that is right.
    pub(crate) right: Value,
    /// Every member that a body may have, nested ones by their path.
    pub(crate) members: BTreeSet<String>,
    faults: Vec<Fault>,
    more: Vec<Case>,
    parents: Map<String, Value>,
}

/// A body, and the members that the answer must name: no more and no fewer.
#[derive(Clone)]
pub(crate) struct Case {
    /// The body.
    pub(crate) body: Value,
    /// The members in `errors`, each once and in order.
    pub(crate) errors: BTreeSet<String>,
}

/// One thing that can be wrong with a body.
#[derive(Clone)]
struct Fault {
    /// The member, which `errors` names.
    member: String,
    /// What is there; nothing where a member is missing that is required.
    value: Option<Value>,
}

/// Every operation, its slugs and languages filled in by `fill`.
pub(crate) fn operations(fill: &dyn Fn(&str) -> String) -> Result<Vec<Operation>> {
    let mut text = include_str!("bodies.json").to_owned();
    while let Some((before, rest)) = text.split_once('@') {
        let (name, after) = rest.split_once('@').context("a name ends with the sign that it begins with")?;
        text = format!("{before}{}{after}", fill(name));
    }
    let table: Value = serde_json::from_str(&text)?;
    let operations = table["operations"].as_array().context("the table has operations")?;
    operations.iter().map(|operation| Operation::read(operation, &table["classes"])).collect()
}

impl Operation {
    fn read(operation: &Value, classes: &Value) -> Result<Self> {
        let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
        let typed = operation["members"].as_object().context("an operation has members")?;
        let mut faults = Vec::new();
        for (member, class) in typed {
            let values = class.as_str().and_then(|class| classes[class].as_array());
            let values = values.with_context(|| format!("{} {member} has no class", operation["id"]))?;
            faults.extend(values.iter().map(|value| Fault { member: member.clone(), value: Some(value.clone()) }));
        }
        for member in operation["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            faults.push(Fault { member: member.to_owned(), value: None });
        }
        let is_object = |class: &Value| class.as_str().is_some_and(|class| class.starts_with("object"));
        let objects = typed.iter().filter(|(_, class)| is_object(class));
        let unknown = objects.map(|(member, _)| format!("{member}.{UNKNOWN}"));
        for member in unknown.chain([UNKNOWN.to_owned()]) {
            faults.push(Fault { member, value: Some(Value::from(1)) });
        }
        let mut made = Self {
            id: text("id"),
            method: text("method"),
            path: text("path"),
            right: operation["right"].clone(),
            members: typed.keys().cloned().collect(),
            faults,
            more: Vec::new(),
            parents: operation["parents"].as_object().cloned().unwrap_or_default(),
        };
        made.more = operation["more"].as_array().into_iter().flatten().map(|case| made.case(case)).collect();
        Ok(made)
    }

    /// A case of the table: members that are put into the body that is right, and what is wrong with them.
    fn case(&self, case: &Value) -> Case {
        let mut body = self.right.clone();
        for (name, value) in case["members"].as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let errors = case["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Case { body, errors: errors.map(str::to_owned).collect() }
    }

    /// Every single fault, and the cases of the table.
    pub(crate) fn each(&self) -> Vec<Case> {
        let singles = self.faults.iter().map(|fault| self.with(std::slice::from_ref(fault)));
        singles.chain(self.more.iter().cloned()).collect()
    }

    /// A body with several faults, drawn by `below`, which gives a number below the one it is given.
    pub(crate) fn several(&self, below: &mut dyn FnMut(usize) -> usize) -> Case {
        let mut drawn: Vec<Fault> = Vec::new();
        for _ in 0..2 + below(self.members.len()) {
            let fault = &self.faults[below(self.faults.len())];
            // What is wrong as a whole has no members that could be wrong, too.
            if drawn
                .iter()
                .all(|other| !is_within(&other.member, &fault.member) && !is_within(&fault.member, &other.member))
            {
                drawn.push(fault.clone());
            }
        }
        self.with(&drawn)
    }

    /// Everything wrong at once: for each member its first fault, but for what is within another one that is.
    pub(crate) fn all(&self) -> Case {
        let mut drawn: Vec<Fault> = Vec::new();
        for fault in &self.faults {
            let is_inner =
                |other: &Fault| is_within(&fault.member, &other.member) || is_within(&other.member, &fault.member);
            if !drawn.iter().any(is_inner) {
                drawn.push(fault.clone());
            }
        }
        self.with(&drawn)
    }

    fn with(&self, faults: &[Fault]) -> Case {
        let mut body = self.right.clone();
        for fault in faults {
            let path: Vec<&str> = fault.member.split('.').collect();
            if let [first, _, ..] = path.as_slice()
                && body.get(*first).is_none()
            {
                body[*first] = self.parents.get(*first).cloned().unwrap_or_else(|| Value::Object(Map::new()));
            }
            change(&mut body, &path, fault.value.as_ref());
        }
        Case { body, errors: faults.iter().map(|fault| fault.member.clone()).collect() }
    }
}

/// Whether a member is another one or within it.
fn is_within(member: &str, other: &str) -> bool {
    member.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Sets the value at a path, or takes it out.
fn change(body: &mut Value, path: &[&str], value: Option<&Value>) {
    let [name, rest @ ..] = path else { return };
    let next = match (body, name.parse::<usize>()) {
        (Value::Array(items), Ok(number)) => number.checked_sub(1).and_then(|index| items.get_mut(index)),
        (Value::Object(members), _) if rest.is_empty() && value.is_none() => {
            members.shift_remove(*name);
            None
        }
        (Value::Object(members), _) => Some(members.entry(*name).or_insert(Value::Null)),
        _ => None,
    };
    match (next, value) {
        (Some(next), Some(value)) if rest.is_empty() => *next = value.clone(),
        (Some(next), value) => change(next, rest, value),
        _ => {}
    }
}
