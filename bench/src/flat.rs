//! Every page costs the same: the last page of every filter and sort order against its first, in processor time, the
//! database's included.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::load::{float, median};
use crate::machine::Processes;
use crate::plaudit::Server;
use crate::report::{Flatness, Report, microseconds};

const SORTS: [&str; 7] = ["", "created_at", "invoice_number", "payment_method", "payment_status", "season", "total"];

const PER_PAGE: u64 = 100;

/// The last page costs at most this many times what page 1 costs.
const BAR: f64 = 1.5;

/// Every filter of the list, and combinations of them.
fn filters(seasons: &[String]) -> Vec<String> {
    let mut filters: Vec<String> = [
        "",
        "status=paid",
        "status=awaiting_payment",
        "test=hide",
        "test=only",
        "deleted=included",
        "deleted=only",
        "season=all",
        "status=paid&test=hide",
        "status=awaiting_payment&test=only",
        "season=all&deleted=included",
        "season=all&status=paid",
        "season=all&status=awaiting_payment&test=hide",
        "season=all&status=paid&test=only&deleted=only",
        "season=all&status=awaiting_payment&test=hide&deleted=included",
    ]
    .map(str::to_owned)
    .into();
    for season in seasons {
        filters.push(format!("season={season}"));
        filters.push(format!("season={season}&status=paid&test=hide&deleted=included"));
    }
    filters
}

/// A list of orders under one filter and sort order.
struct List<'key> {
    query: String,
    key: &'key str,
}

impl List<'_> {
    /// The request of a page in one of its spellings; see [`client::respelled`].
    fn request(&self, page: u64, spelling: u64) -> Vec<u8> {
        let mark = if self.query.is_empty() { "" } else { "&" };
        let path = format!("/order?per_page={PER_PAGE}&page={page}{mark}{}", self.query);
        client::respelled(&path, client::JSON, self.key, spelling)
    }

    fn page(&self, client: &mut Client, page: u64) -> Result<Value> {
        Ok(serde_json::from_slice(&client.ask_ok(&self.request(page, 0))?.body)?)
    }
}

fn count(envelope: &Value, member: &str) -> Result<u64> {
    envelope.get(member).and_then(Value::as_u64).with_context(|| format!("an envelope without `{member}`"))
}

/// The seasons at both ends of the account's orders.
fn seasons(client: &mut Client, key: &str) -> Result<Vec<String>> {
    let mut seasons = Vec::new();
    for direction in ["asc", "desc"] {
        let list = List { query: format!("season=all&order=season&dir={direction}"), key };
        let page = list.page(client, 1)?;
        let slug = page.pointer("/data/0/season/slug").and_then(Value::as_str).context("no order has a season")?;
        if !seasons.iter().any(|season| season == slug) {
            seasons.push(slug.to_owned());
        }
    }
    Ok(seasons)
}

/// Measures every list, and holds the worst ratio against the bar.
pub(crate) fn measure(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
    server: &Server,
) -> Result<()> {
    let label = engine.label();
    let postmaster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres(_) => engine.postmaster()?,
    };
    let processes = server.processes(postmaster);
    let mut client = Client::connect(server.address)?;
    let seasons = seasons(&mut client, &filled.key)?;
    let (mut rows, mut doubtful) = (Vec::new(), Vec::new());
    let (mut lists, mut one_page, mut slowest) = (0.0, 0.0, Duration::ZERO);
    for filter in filters(&seasons) {
        for sort in SORTS {
            for direction in ["asc", "desc"] {
                let mut query = filter.clone();
                for (name, value) in [("order", sort), ("dir", direction)] {
                    if !value.is_empty() {
                        let mark = if query.is_empty() { "" } else { "&" };
                        query = format!("{query}{mark}{name}={value}");
                    }
                }
                let list = List { query, key: &filled.key };
                let Some((row, first_access)) = pages(context, (engine, &processes), &list, &mut client, 0)? else {
                    one_page += 1.0;
                    continue;
                };
                lists += 1.0;
                if row.ratio > BAR {
                    doubtful.push((list, vec![row]));
                } else {
                    rows.push(row);
                }
                slowest = slowest.max(first_access);
            }
        }
    }
    let again = float(doubtful.len().try_into()?);
    // A disturbance must not be taken for the list's own, and lasts longer than three measurements in a row.
    for round in 1..=2 {
        for (list, measured) in &mut doubtful {
            measured.extend(pages(context, (engine, &processes), list, &mut client, round)?.map(|(row, _)| row));
        }
    }
    for (list, mut measured) in doubtful {
        measured.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        let shown: Vec<String> = measured.iter().map(|row| format!("{:.3}", row.ratio)).collect();
        println!("  {}: measured again after the others: {}", list.query, shown.join(", "));
        rows.push(measured.swap_remove(measured.len() / 2));
    }
    let worst = rows.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio)).cloned();
    let worst = worst.context("no list has more than one page")?;
    for row in rows {
        report.flatness(row);
    }
    report.figure(format!("{label}: lists of more than one page"), lists, "");
    report.figure(format!("{label}: lists of one page, not compared"), one_page, "");
    report.figure(format!("{label}: lists measured again"), again, "");
    report.figure(format!("{label}: slowest first request for a last page"), microseconds(slowest), "us");
    report.at_most(format!("{label}: last page against page 1, worst ({})", worst.query), BAR, worst.ratio, "");
    Ok(())
}

/// The processor time of the first, the middle and the last page, and how long the first request for the last page took.
/// Of two pages the second is the middle one as well.
/// `round` is how often the list was measured before.
fn pages(
    context: &Context,
    (engine, processes): (&Engine, &Processes),
    list: &List<'_>,
    client: &mut Client,
    round: usize,
) -> Result<Option<(Flatness, Duration)>> {
    let envelope = list.page(client, 1)?;
    let (total, pages) = (count(&envelope, "total")?, count(&envelope, "last_page")?);
    if pages < 2 {
        return Ok(None);
    }
    // A last page with fewer rows is faster for that alone: the fuller one of the last two is comparable.
    let deep = if total.is_multiple_of(PER_PAGE) || pages == 2 { pages } else { pages - 1 };
    let first_access = client.time(&list.request(pages, 0))?;
    // Each page once in a turn: what was asked for a moment ago is still in the caches of the processor.
    let compared = if deep == 2 { vec![1, deep] } else { vec![1, deep.div_ceil(2), deep] };
    for page in &compared {
        client.time(&list.request(*page, 1))?;
    }
    let mut times = vec![Vec::new(); compared.len()];
    let threads = processes.threads()?;
    // In turns, so that a disturbance of the machine meets all of them.
    // Each round in spellings of its own: what is asked for again is answered from memory.
    for spelling in (2..client::SPELLINGS).cycle().skip(round * context.turns).take(context.turns) {
        for (page, times) in compared.iter().zip(&mut times) {
            let before = threads.used();
            client.time(&list.request(*page, spelling))?;
            times.push(microseconds(threads.used().saturating_sub(before)));
        }
    }
    let times: Vec<f64> = times.into_iter().map(median).collect();
    let [first, .., deepest] = times[..] else { bail!("two pages were not measured") };
    let middle = times[times.len() / 2];
    let row = Flatness {
        engine: engine.label(),
        query: list.query.clone(),
        total,
        page: deep,
        first_microseconds: first,
        middle_microseconds: middle,
        last_microseconds: deepest,
        ratio: middle.max(deepest) / first,
    };
    Ok(Some((row, first_access)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_asked_for_with_its_filter_and_sort() {
        let list = List { query: "season=all&order=total&dir=asc".to_owned(), key: "k" };
        let request = String::from_utf8(list.request(7, 0)).unwrap();
        assert!(request.starts_with("GET /order?per_page=100&page=7&season=all&order=total&dir=asc HTTP/1.1\r\n"));
        let plain = List { query: String::new(), key: "k" };
        assert!(plain.request(1, 0).starts_with(b"GET /order?per_page=100&page=1 HTTP/1.1\r\n"));
    }
}
