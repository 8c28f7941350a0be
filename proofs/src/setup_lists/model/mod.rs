//! Lists of the set-up by their definition: an account that is made up from a seed, and what each list of it holds.
//!
//! It knows the program file and the contract's tables, and nothing of the service. The proof `setup-lists` asks the
//! release binary by it, and the suite of the interface asks the router in process.

use std::collections::BTreeSet;

use serde_json::Value;

mod lists;
mod setup;

use lists::Choice;
pub(crate) use lists::{LISTS, List};
pub(crate) use setup::Setup;

/// A slug that no record has.
pub(crate) const UNKNOWN: &str = "ZzZzZzZz";

/// What a record is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Absent,
    Number(i64),
    Text(String),
}

/// How a list is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// In pages of 100, which is mostly one.
    Whole,
    /// In small pages, each by the address that the one before names.
    Pages,
    /// In small pages, each by the cursor that the one before names.
    Cursor,
}

/// A list that is asked for, and the slugs that it has by its definition.
pub(crate) struct Question {
    path: String,
    style: Style,
    expected: Vec<String>,
}

/// A query that is refused, with what `errors` names.
pub(crate) struct Refusal {
    /// The path with the query.
    pub(crate) path: String,
    /// The text of `invalid_filter_names`, where it is there.
    names: Option<&'static str>,
    /// The names in `invalid_filter_values`.
    values: Vec<&'static str>,
}

/// The order of a list: `order` and `dir`, empty where they are left out.
type Sort<'s> = (&'s str, &'s str);

impl Setup {
    /// The slugs of a list with these filters in this order.
    fn expected(&self, list: &List, chosen: &[(&'static str, String)], (order, direction): Sort<'_>) -> Vec<String> {
        let chosen = |name: &str| chosen.iter().find(|(filter, _)| *filter == name).map(|(_, value)| value.as_str());
        let mut selected: Vec<(Key, &str)> = self
            .of(list.kind)
            .filter(|record| list.filters.iter().all(|(name, _)| self.selects(list, record, name, chosen(name))))
            .filter(|record| list.has_trash() || record["deleted"] != true)
            .map(|record| (self.key(list, record, order), record["slug"].as_str().unwrap_or_default()))
            .collect();
        // A sort that is named begins with the smallest value, the default one with the latest. Ties go by slug.
        let is_descending = match direction {
            "asc" => false,
            "desc" => true,
            _ => !list.orders.contains(&order),
        };
        selected.sort_by(|(one, slug), (other, other_slug)| {
            let by_key = if is_descending { other.cmp(one) } else { one.cmp(other) };
            by_key.then_with(|| slug.cmp(other_slug))
        });
        selected.into_iter().map(|(_, slug)| slug.to_owned()).collect()
    }

    /// Every question about a list: each value of each filter, one of so many pairs of them, and each order in every
    /// direction, by page and by cursor.
    pub(crate) fn questions(&self, list: &List, one_pair_of: usize) -> Vec<Question> {
        let mut questions = vec![self.question(list, &[], ("", ""), Style::Whole)];
        let cells: Vec<(&'static str, String)> = list
            .filters
            .iter()
            .flat_map(|(name, choice)| self.values(choice).into_iter().map(move |value| (*name, value)))
            .collect();
        let wide: Vec<(&'static str, String)> = list.widest();
        // Beside what is asked about, everything is selected that can be, so that the answers are not empty.
        let and_wide = |chosen: &[(&'static str, String)]| {
            let others = wide.iter().filter(|(name, _)| chosen.iter().all(|(held, _)| held != name));
            chosen.iter().chain(others).cloned().collect::<Vec<_>>()
        };
        for cell in &cells {
            questions.push(self.question(list, std::slice::from_ref(cell), ("", ""), Style::Whole));
            questions.push(self.question(list, &and_wide(std::slice::from_ref(cell)), ("", ""), Style::Whole));
        }
        let pairs = cells.iter().enumerate().flat_map(|(index, one)| {
            cells[index + 1..].iter().filter(|other| other.0 != one.0).map(|other| [one.clone(), other.clone()])
        });
        for pair in pairs.step_by(one_pair_of.max(1)) {
            questions.push(self.question(list, &and_wide(&pair), ("", ""), Style::Whole));
        }
        for order in list.orders.iter().copied().chain(["", "nothing"]) {
            for direction in ["", "asc", "desc"] {
                for style in [Style::Pages, Style::Cursor] {
                    questions.push(self.question(list, &wide, (order, direction), style));
                }
                questions.push(self.question(list, &[], (order, direction), Style::Whole));
            }
        }
        questions
    }

    fn question(
        &self,
        list: &List,
        chosen: &[(&'static str, String)],
        (order, direction): Sort<'_>,
        style: Style,
    ) -> Question {
        let per_page = if style == Style::Whole { 100 } else { 7 };
        let mut path = format!("{}?per_page={per_page}", list.path);
        let sort = [("order", order.to_owned()), ("dir", direction.to_owned())];
        for (name, value) in chosen.iter().chain(sort.iter().filter(|(_, value)| !value.is_empty())) {
            path = format!("{path}&{name}={value}");
        }
        Question { path, style, expected: self.expected(list, chosen, (order, direction)) }
    }
}

/// What is wrong with the query of a list, one by one and together.
pub(crate) fn refusals(list: &List) -> Vec<Refusal> {
    let refusal = |query: &str, names, values: &[&'static str]| Refusal {
        path: format!("{}?{query}", list.path),
        names,
        values: values.to_vec(),
    };
    let mut refusals = vec![
        refusal("colour=red", Some("colour"), &[]),
        refusal("colour=red&Order=name&colour=blue&season[]=all", Some("colour,Order,season[]"), &[]),
        refusal("page=0", None, &[]),
        refusal("per_page=101", None, &[]),
        refusal("dir=up", None, &[]),
        refusal("cursor=%21", None, &[]),
        refusal("page=1&cursor=", None, &[]),
    ];
    // The filters of other lists are none of this one.
    let all: Vec<&'static str> = list.filters.iter().map(|(name, _)| *name).collect();
    let others: BTreeSet<&'static str> =
        LISTS.iter().flat_map(|other| other.filters.iter().map(|(name, _)| *name)).collect();
    for name in others.into_iter().filter(|name| !all.contains(name)) {
        refusals.push(refusal(&format!("{name}=all"), Some(name), &[]));
    }
    let is_text =
        |name: &str| list.filters.iter().any(|(held, choice)| *held == name && matches!(choice, Choice::Text(_)));
    for name in &all {
        // Any text is one that a filter by a text may have, but for these.
        let wrong_words = if is_text(name) { &[][..] } else { &["sideway", "ALL", "short", "nonesuch,none"] };
        for wrong in wrong_words.iter().chain(&["", "%00"]) {
            refusals.push(refusal(&format!("{name}={wrong}"), None, &[*name]));
        }
    }
    let all: Vec<&'static str> = all.into_iter().filter(|name| !is_text(name)).collect();
    let together = all.iter().fold(String::new(), |query, name| format!("{query}&{name}=sideway"));
    refusals.push(refusal(&format!("colour=red{together}"), Some("colour"), &all));
    refusals
}

impl Refusal {
    /// Whether this is the answer: 400, the envelope, and in `errors` exactly what is wrong.
    pub(crate) fn judge(&self, status: u16, body: &Value) -> Result<(), String> {
        let errors = &body["errors"];
        let values = errors["invalid_filter_values"].as_object();
        let mut named: Vec<&str> = values.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let mut expected = self.values.clone();
        named.sort_unstable();
        expected.sort_unstable();
        let is_told = values.into_iter().flatten().all(|(_, text)| text.as_str().is_some_and(|text| !text.is_empty()));
        let is_right = status == 400
            && body["status_code"] == 400
            && body["message"].is_string()
            && errors["invalid_filter_names"].as_str() == self.names
            && named == expected
            && is_told
            && errors.is_null() == (self.names.is_none() && self.values.is_empty());
        if is_right { Ok(()) } else { Err(format!("{} was answered {status}: {body}", self.path)) }
    }
}

/// A list that is being gone through.
pub(crate) struct Walk<'q> {
    question: &'q Question,
    walked: Vec<String>,
    next: Option<String>,
    pages: usize,
    wrong: Option<String>,
}

impl Question {
    /// Begins to go through the list.
    pub(crate) fn walk(&self) -> Walk<'_> {
        let cursor = if self.style == Style::Cursor { "&cursor=" } else { "" };
        let next = Some(format!("{}{cursor}", self.path));
        Walk { question: self, walked: Vec::new(), next, pages: 0, wrong: None }
    }
}

impl Walk<'_> {
    /// The path to be asked next; nothing at the end.
    pub(crate) fn next(&self) -> Option<&str> {
        self.next.as_deref().filter(|_| self.wrong.is_none())
    }

    /// Takes the answer to the path that was asked.
    pub(crate) fn take(&mut self, status: u16, page: &Value) {
        let Some(items) = page["data"].as_array().filter(|_| status == 200) else {
            self.wrong = Some(format!("was answered {status}: {page}"));
            return;
        };
        let slugs = items.iter().map(|item| item["slug"].as_str().unwrap_or_default().to_owned());
        let before = self.walked.len();
        self.walked.extend(slugs);
        self.pages += 1;
        let place = |number: usize| if items.is_empty() { Value::Null } else { Value::from(number) };
        let told = [&page["total"], &page["current_page"], &page["from"], &page["to"]];
        let total = Value::from(self.question.expected.len());
        let expected = [total, Value::from(self.pages), place(before + 1), place(self.walked.len())];
        if told.into_iter().ne(expected.iter()) {
            self.wrong = Some(format!("tells its place as {told:?}, and it is {expected:?}"));
        }
        let address = page["next_page_url"].as_str().unwrap_or_default();
        self.next = match self.question.style {
            Style::Cursor => {
                page["next_cursor"].as_str().map(|cursor| format!("{}&cursor={cursor}", self.question.path))
            }
            _ if address.is_empty() => None,
            // What stands before the path is the deployment's.
            _ => address
                .find("://")
                .and_then(|at| address[at + 3..].find('/').map(|path| address[at + 3 + path..].to_owned())),
        };
        if self.walked.len() > self.question.expected.len() && self.wrong.is_none() {
            self.wrong = Some("shows more than there is".to_owned());
        }
    }

    /// Whether the list was what it is by definition.
    pub(crate) fn judge(self) -> Result<(), String> {
        let asked = format!("{} ({:?})", self.question.path, self.question.style);
        match self.wrong {
            Some(wrong) => Err(format!("{asked} {wrong}")),
            None if self.walked == self.question.expected => Ok(()),
            None => {
                let expected = &self.question.expected;
                let at = self.walked.iter().zip(expected).take_while(|(shown, expected)| shown == expected).count();
                let (shown, meant) = (self.walked.get(at), expected.get(at));
                Err(format!("{asked} shows {shown:?} at {at} and not {meant:?}: {:?}, not {expected:?}", self.walked))
            }
        }
    }
}
