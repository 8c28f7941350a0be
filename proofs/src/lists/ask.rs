//! A request for a page and its judgement by one state of the account.

use std::collections::BTreeMap;

use serde_json::Value;

use super::made::{filters, pick, values};
use super::model::{Key, LISTS, List, Query, World, compare};
use crate::service::Random;

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// At a page's number.
    Page(usize),
    /// At a cursor: its text, the record that it stands behind, and how many records came before.
    Cursor(String, Option<(Key, String)>, usize),
}

/// A page that is asked for.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) list: &'static List,
    pub(crate) query: Query,
    pub(crate) order: &'static str,
    pub(crate) dir: &'static str,
    pub(crate) per_page: usize,
    pub(crate) place: Place,
    pub(crate) is_counted: bool,
    pub(crate) include: &'static str,
}

/// What an answer that is right leads to: the last record, and how many came up to it.
pub(crate) type Reached = (Option<(Key, String)>, usize);

impl Ask {
    /// A page of a list as it is without parameters, but of the size.
    pub(crate) fn of(list: &'static List, query: Query, per_page: usize) -> Self {
        let place = Place::Page(1);
        Self { list, query, order: "", dir: "", per_page, place, is_counted: true, include: "" }
    }

    /// A page of a list with random filters, a random sort and at a random place.
    pub(crate) fn random(list: &'static List, world: &World, random: &mut Random) -> Self {
        let count = random.below(4);
        let mut ask = Self::of(list, filters(list, world, count, random), *pick(&[1, 7, 10, 33, 100], random));
        ask.order = pick(list.sorts, random).0;
        ask.dir = *pick(&["", "asc", "desc"], random);
        ask.is_counted = random.below(5) > 0;
        ask.place = match random.below(4) {
            0 => Place::Page(1 + random.below(9) as usize),
            1 => Place::Cursor(String::new(), None, 0),
            _ => Place::Page(1),
        };
        if list.kind == "entry" && random.below(4) == 0 {
            ask.include = "entry_fields,attachments,contributors";
        }
        ask
    }

    /// Every value of every filter, and every sort in every direction, of every list.
    pub(crate) fn each(world: &World) -> Vec<Self> {
        let mut asks = Vec::new();
        for list in LISTS {
            for (filter, _) in list.filters {
                let values = values(list, filter, world);
                asks.extend(values.into_iter().map(|value| Self::of(list, vec![(*filter, value)], 100)));
            }
            for (order, _) in list.sorts {
                for dir in ["", "asc", "desc"] {
                    let whole = list.filters.iter().any(|(filter, _)| *filter == "season");
                    let query = if whole { vec![("season", "all".to_owned())] } else { Query::new() };
                    asks.push(Self { order, dir, ..Self::of(list, query, 100) });
                }
            }
        }
        asks
    }

    fn parameters(&self) -> Vec<(&str, String)> {
        let mut parameters: Vec<(&str, String)> =
            self.query.iter().map(|(name, value)| (*name, value.clone())).collect();
        for (name, value) in [("order", self.order), ("dir", self.dir), ("include", self.include)] {
            if !value.is_empty() {
                parameters.push((name, value.to_owned()));
            }
        }
        if !self.is_counted {
            parameters.push(("count", "none".to_owned()));
        }
        parameters.push(("per_page", self.per_page.to_string()));
        parameters
    }

    /// The path with the query.
    pub(crate) fn path(&self) -> String {
        let mut parameters = self.parameters();
        parameters.push(match &self.place {
            Place::Page(page) => ("page", page.to_string()),
            Place::Cursor(cursor, ..) => ("cursor", cursor.clone()),
        });
        let query: Vec<String> =
            parameters.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        format!("{}?{}", self.list.path, query.join("&"))
    }

    /// Whether an answer is that of this state; what it leads to, or what is wrong with it.
    pub(crate) fn judge(&self, world: &World, answer: &Value) -> Result<Reached, String> {
        let is_descending = self.dir == "desc" || (self.dir.is_empty() && self.order.is_empty());
        let all = self.list.expected(world, &self.query, self.order, is_descending);
        let behind = match &self.place {
            Place::Page(page) => ((page - 1) * self.per_page).min(all.len()),
            Place::Cursor(_, None, _) => 0,
            Place::Cursor(_, Some((key, name)), _) => {
                let comes_later =
                    |(other, slug, _): &(Key, &str, &Value)| compare((other, slug), (key, name), is_descending).is_gt();
                all.iter().position(comes_later).unwrap_or(all.len())
            }
        };
        let page = &all[behind..all.len().min(behind + self.per_page)];
        let shown = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = shown.iter().map(|item| item[self.list.name].as_str().unwrap_or_default()).collect();
        let wanted: Vec<&str> = page.iter().map(|(_, name, _)| *name).collect();
        same("records", &names, &wanted)?;
        for (item, (_, name, record)) in shown.iter().zip(page) {
            for (pointer, shows) in self.list.shows {
                let of = format!("{name}{pointer}");
                same(&of, item.pointer(pointer).unwrap_or(&Value::Null), &shows(world, record))?;
            }
            self.judge_children(world, name, item)?;
        }
        let passed = match &self.place {
            Place::Page(page) => (page - 1) * self.per_page,
            Place::Cursor(_, _, passed) => *passed,
        };
        let reached = passed + page.len();
        let total = if self.is_counted { all.len().into() } else { Value::Null };
        same("total", &answer["total"], &total)?;
        let (from, to) = if page.is_empty() { (None, None) } else { (Some(passed + 1), Some(reached)) };
        same("from", &answer["from"], &from.into())?;
        same("to", &answer["to"], &to.into())?;
        self.judge_links(answer, all.len(), behind + page.len() < all.len())?;
        Ok((page.last().map(|(key, name, _)| (key.clone(), (*name).to_owned())), reached))
    }

    /// What an entry includes are its contributors and attachments.
    fn judge_children(&self, world: &World, entry: &str, item: &Value) -> Result<(), String> {
        for (kind, member, name) in [("contributor", "contributors", "slug"), ("attachment", "attachments", "token")] {
            let shown: Option<Vec<&str>> = item[member]
                .as_array()
                .map(|children| children.iter().filter_map(|child| child[name].as_str()).collect());
            let wanted = (!self.include.is_empty()).then(|| {
                let of = world.all(kind).filter(|(_, child)| child["entry"] == entry && child["deleted"] != true);
                of.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
            });
            let sorted = shown.map(|mut shown| {
                shown.sort_unstable();
                shown
            });
            same(&format!("{entry}/{member}"), &sorted, &wanted)?;
        }
        Ok(())
    }

    /// The links lead to where they must.
    fn judge_links(&self, answer: &Value, total: usize, has_more: bool) -> Result<(), String> {
        let last = total.div_ceil(self.per_page).max(1);
        let link = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        let leads = |name: &str, to: Option<(&str, String)>| {
            let wanted = to.map(|to| {
                let mut parameters = self.parameters();
                parameters.push(to);
                parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>()
            });
            let link = link(name);
            same(name, &(!link.is_empty()).then(|| parameters_of(&link)), &wanted)
        };
        let at = |page: usize| Some(("page", page.to_string()));
        match &self.place {
            Place::Cursor(..) => {
                let cursor = answer["next_cursor"].as_str().map(str::to_owned);
                same("a next cursor", &cursor.is_some(), &has_more)?;
                leads("next_page_url", cursor.map(|cursor| ("cursor", cursor)))?;
            }
            Place::Page(page) => {
                leads("next_page_url", at(page + 1).filter(|_| has_more))?;
                let previous = if self.is_counted { last.min(page - 1) } else { page - 1 };
                leads("prev_page_url", at(previous).filter(|_| *page > 1))?;
            }
        }
        leads("first_page_url", at(1))?;
        leads("last_page_url", at(last).filter(|_| self.is_counted))?;
        same("last_page", &answer["last_page"], &self.is_counted.then_some(last).into())
    }
}

/// Whether the summary of a season, or of all of them, is that of this state.
pub(crate) fn judge_summary(world: &World, season: &str, answer: &Value) -> Result<(), String> {
    let counts = world.summary(season);
    let mut shown = BTreeMap::new();
    let mut take = |group: &str, counted: &Value| {
        shown.insert((group.to_owned(), String::new()), counted["total"].as_i64().unwrap_or(-1));
        for (status, count) in counted["statuses"].as_object().into_iter().flatten() {
            shown.insert((group.to_owned(), status.clone()), count.as_i64().unwrap_or(-1));
        }
    };
    take("", answer);
    for (groups, group) in [("chapters", "chapter"), ("categories", "category")] {
        for counted in answer[groups].as_array().into_iter().flatten() {
            take(counted[group]["slug"].as_str().unwrap_or_default(), counted);
        }
    }
    shown.retain(|_, count| *count != 0);
    same("counts", &shown, &counts)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, shown: &T, wanted: &T) -> Result<(), String> {
    if shown == wanted { Ok(()) } else { Err(format!("{what}: {shown:?}, not {wanted:?}")) }
}

fn encoded(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// The parameters of an address.
fn parameters_of(address: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((byte, more)) = rest.split_first() {
            let escaped = more.get(..2).and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
            match (byte, escaped) {
                (b'%', Some(escaped)) => {
                    bytes.push(escaped);
                    rest = &more[2..];
                }
                (b'+', _) => (bytes.push(b' '), rest = more).1,
                _ => (bytes.push(*byte), rest = more).1,
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}
