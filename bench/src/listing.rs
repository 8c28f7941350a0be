//! A list whose full pages are asked for in no order, so that no cache of answers decides.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::load::{self, Requests, float};

/// The size of every page that is measured.
pub(crate) const PER_PAGE: u64 = 100;

/// Pages behind the mean size of a page.
const WEIGHED: usize = 20;

/// A list under one filter and sort, without a page.
#[derive(Clone, Debug)]
pub(crate) struct List<'key> {
    path: String,
    key: &'key str,
}

impl<'key> List<'key> {
    /// The list at an address such as `/order`, under a query.
    pub(crate) fn new(address: &str, query: &str, key: &'key str) -> Self {
        Self { path: with_query(&format!("{address}?per_page={PER_PAGE}"), query), key }
    }

    /// What is measured, for the report.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The request of a page in one of its spellings; see [`client::respelled`].
    pub(crate) fn request(&self, media_type: &str, page: u64, spelling: u64) -> Vec<u8> {
        client::respelled(&format!("{}&page={page}", self.path), media_type, self.key, spelling)
    }

    /// The envelope of a page and the bytes of its answer.
    pub(crate) fn read(&self, client: &mut Client, page: u64) -> Result<(Value, f64)> {
        let body = client.ask_ok(&self.request(client::JSON, page, 0))?.body;
        Ok((serde_json::from_slice(&body)?, float(body.len().try_into()?)))
    }

    /// The slugs that a page shows.
    pub(crate) fn slugs(&self, client: &mut Client, page: u64) -> Result<Vec<String>> {
        let (envelope, _) = self.read(client, page)?;
        let data = envelope.get("data").and_then(Value::as_array).context("a page without `data`")?;
        let slug = |record: &Value| Some(record.get("slug")?.as_str()?.to_owned());
        Ok(data.iter().filter_map(slug).collect())
    }
}

/// A path with one more parameter, or as it was.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}&{query}") }
}

/// A number in the envelope of a page.
pub(crate) fn count(envelope: &Value, member: &str) -> Result<u64> {
    envelope.get(member).and_then(Value::as_u64).with_context(|| format!("an envelope without `{member}`"))
}

/// Puts values into an order that has nothing to do with the one that they had.
pub(crate) fn in_no_order<T: Hash>(values: &mut [T]) {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    values.sort_by_cached_key(|value| hasher.hash_one(value));
}

/// Pages of a list, in no order.
#[derive(Debug)]
pub(crate) struct Pages<'key> {
    pub(crate) list: List<'key>,
    pub(crate) numbers: Vec<u64>,
    /// The mean bytes of an answer.
    pub(crate) bytes: f64,
}

impl<'key> Pages<'key> {
    /// Every full page of the list, but at most so many. A list of less than a page is its first page.
    pub(crate) fn of(client: &mut Client, list: List<'key>, most: usize) -> Result<Self> {
        let (envelope, _) = list.read(client, 1)?;
        let total = count(&envelope, "total")?;
        if total == 0 {
            bail!("{} is empty", list.path);
        }
        let mut numbers: Vec<u64> = (1..=(total / PER_PAGE).max(1)).collect();
        in_no_order(&mut numbers);
        numbers.truncate(most);
        let weighed: Result<Vec<f64>> =
            numbers.iter().take(WEIGHED).map(|page| Ok(list.read(client, *page)?.1)).collect();
        let weighed = weighed?;
        let bytes = weighed.iter().sum::<f64>() / float(weighed.len().try_into()?);
        Ok(Self { list, numbers, bytes })
    }

    /// A request of each page; where these are few, again in other spellings.
    pub(crate) fn requests(&self, media_type: &str) -> Vec<Vec<u8>> {
        let count = u64::try_from(self.numbers.len()).unwrap_or(u64::MAX).max(1);
        let rounds = client::SPELLINGS.div_ceil(count);
        let round = |round: u64| self.numbers.iter().map(move |page| self.list.request(media_type, *page, round));
        (0..rounds).flat_map(round).collect()
    }

    /// The requests of all connections.
    pub(crate) fn load(&self, media_type: &str) -> Vec<Requests> {
        load::in_turn(self.requests(media_type))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_asked_for_with_its_filter_and_sort() {
        let list = List::new("/order", "season=all&order=total&dir=asc", "k");
        let request = String::from_utf8(list.request(client::JSON, 7, 0)).unwrap();
        assert!(request.starts_with("GET /order?per_page=100&season=all&order=total&dir=asc&page=7 HTTP/1.1\r\n"));
        assert!(
            List::new("/order", "", "k").request(client::JSON, 1, 0).starts_with(b"GET /order?per_page=100&page=1 ")
        );
    }

    #[test]
    fn few_pages_are_asked_for_in_many_spellings() {
        let pages = Pages { list: List::new("/order", "", "k"), numbers: vec![3, 1, 2], bytes: 1.0 };
        let mut requests = pages.requests(client::JSON);
        assert!(requests.len() as u64 >= client::SPELLINGS);
        let all = requests.len();
        requests.sort();
        requests.dedup();
        assert_eq!(requests.len(), all);
    }

    #[test]
    fn another_order_has_the_same_values() {
        let mut values: Vec<u64> = (0..100).collect();
        in_no_order(&mut values);
        assert!(!values.is_sorted());
        values.sort_unstable();
        assert_eq!(values, (0..100).collect::<Vec<_>>());
    }
}
