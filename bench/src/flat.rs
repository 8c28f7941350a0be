//! Every page costs the same: the last page of every filter and sort against its first, in processor time a byte of the
//! answer, the database's included.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::listing::{List, PER_PAGE, count, with_query};
use crate::load::{float, median};
use crate::machine::Processes;
use crate::plaudit::Server;
use crate::report::{Flatness, Report, microseconds};
use crate::sorts;

/// The last page of the middle list costs at most this many times what its first page costs.
const MIDDLE_BAR: f64 = 1.1;

/// And that of the worst list.
const WORST_BAR: f64 = 1.4;

/// Lists of one kind of record: every filter with every sort in both directions.
struct Lists {
    address: &'static str,
    filters: Vec<String>,
    sorts: Vec<&'static str>,
}

impl Lists {
    fn queries(&self) -> Vec<String> {
        let mut queries = Vec::new();
        for filter in &self.filters {
            for sort in std::iter::once("").chain(self.sorts.iter().copied()) {
                for direction in ["asc", "desc"] {
                    let order = if sort.is_empty() { String::new() } else { format!("order={sort}&") };
                    queries.push(with_query(filter, &format!("{order}dir={direction}")).trim_start_matches('&').into());
                }
            }
        }
        queries
    }
}

/// Every filter of the orders, and combinations of them.
fn of_orders(client: &mut Client, key: &str) -> Result<Lists> {
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
    // The seasons at both ends of the account's orders.
    for direction in ["asc", "desc"] {
        let list = List::new("/order", &format!("season=all&order=season&dir={direction}"), key);
        let season = slug_at(&list, client, "/data/0/season/slug")?;
        let all = [format!("season={season}"), format!("season={season}&status=paid&test=hide&deleted=included")];
        filters.extend(all.into_iter().filter(|filter| !filters.contains(filter)).collect::<Vec<_>>());
    }
    Ok(Lists { address: "/order", filters, sorts: sorts::SORTS.into() })
}

/// Every filter of the entries that a synthetic account has matches of, and some combinations.
fn of_entries(client: &mut Client, key: &str) -> Result<Lists> {
    let first = List::new("/entry", "season=all", key);
    let [category, chapter, form, season] = ["category", "chapter", "form", "season"]
        .map(|member| slug_at(&first, client, &format!("/data/0/{member}/slug")));
    let mut filters: Vec<String> = [
        "",
        "season=all",
        "season=all&status=submitted",
        "season=all&status=in_progress",
        "season=all&moderation=undecided",
        "season=all&payment_status=paid",
        "season=all&payment_status=awaiting_payment",
        "season=all&title=e",
        "season=all&updated_at[after]=2000-01-01",
        "season=all&archived=all",
        "season=all&deleted=included",
    ]
    .map(str::to_owned)
    .into();
    filters.extend([
        format!("season=all&category={}", category?),
        format!("season=all&chapter={}", chapter?),
        format!("season=all&form={}", form?),
        format!("season={}", season?),
    ]);
    let sorts = ["category", "chapter", "applicant", "local_id", "parent_category", "title", "updated"];
    Ok(Lists { address: "/entry", filters, sorts: sorts.into() })
}

/// The contributors, which filter by what their entries are.
fn of_contributors() -> Lists {
    let filters = ["", "season=all", "season=all&status=submitted", "season=all&payment_status=paid"];
    Lists {
        address: "/contributor",
        filters: filters.map(str::to_owned).into(),
        sorts: ["entry", "tab", "created", "updated"].into(),
    }
}

/// The users, which filter by what their entries are as well.
fn of_users() -> Lists {
    let filters = ["", "deleted=included", "confirmation=confirmed", "entries=current_season", "entries=none"];
    let sorts =
        ["confirmed_at", "created_at", "created_by", "email", "first_name", "last_name", "mobile", "name", "updated"];
    Lists { address: "/user", filters: filters.map(str::to_owned).into(), sorts: sorts.into() }
}

fn slug_at(list: &List<'_>, client: &mut Client, pointer: &str) -> Result<String> {
    let (page, _) = list.read(client, 1)?;
    let slug = page.pointer(pointer).and_then(Value::as_str);
    Ok(slug.with_context(|| format!("{} has nothing at {pointer}", list.path()))?.to_owned())
}

/// Measures every list of orders.
pub(crate) fn orders(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let server = Server::start(context, &filled.url)?;
    let lists = of_orders(&mut Client::connect(server.address)?, &filled.key)?;
    measure(context, report, engine, (filled, &server), &lists)?;
    server.stop()
}

/// Measures the lists of entries, of what belongs to them and of who owns them.
pub(crate) fn entries(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let server = Server::start(context, &filled.url)?;
    let lists = of_entries(&mut Client::connect(server.address)?, &filled.key)?;
    measure(context, report, engine, (filled, &server), &lists)?;
    measure(context, report, engine, (filled, &server), &of_contributors())?;
    measure(context, report, engine, (filled, &server), &of_users())?;
    server.stop()
}

/// Measures all lists of a kind, and holds the middle and the worst ratio against their bars.
fn measure(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    (filled, server): (&Filled, &Server),
    lists: &Lists,
) -> Result<()> {
    let processes = server.processes(engine.postmaster()?);
    let mut client = Client::connect(server.address)?;
    let (mut rows, mut doubtful) = (Vec::new(), Vec::new());
    let (mut short_lists, mut slowest) = (0.0, Duration::ZERO);
    for query in lists.queries() {
        let list = List::new(lists.address, &query, &filled.key);
        let Some((row, first_access)) = pages(context, (engine, &processes), &list, &mut client, 0)? else {
            short_lists += 1.0;
            continue;
        };
        if row.ratio > WORST_BAR {
            doubtful.push((list, vec![row]));
        } else {
            rows.push(row);
        }
        slowest = slowest.max(first_access);
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
        println!("  {}: measured again after the others: {}", list.path(), shown.join(", "));
        rows.push(measured.swap_remove(measured.len() / 2));
    }
    let name = format!("{}: GET {}", engine.label(), lists.address);
    report.figure(format!("{name}: lists of two full pages and more"), float(rows.len().try_into()?), "");
    report.figure(format!("{name}: lists of less, not compared"), short_lists, "");
    report.figure(format!("{name}: lists measured again"), again, "");
    report.figure(format!("{name}: slowest first request of a list"), microseconds(slowest), "us");
    // Tiny data may have no such list.
    if rows.is_empty() && context.short { Ok(()) } else { judge(report, &name, rows) }
}

fn judge(report: &mut Report, name: &str, rows: Vec<Flatness>) -> Result<()> {
    let worst = rows.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let (query, worst) = worst.map(|row| (row.query.clone(), row.ratio)).context("no list has two full pages")?;
    let middle = median(rows.iter().map(|row| row.ratio).collect());
    for row in rows {
        report.flatness(row);
    }
    report.at_most(format!("{name}, last page against page 1 by the byte, middle list"), MIDDLE_BAR, middle, "");
    report.at_most(format!("{name}, last page against page 1 by the byte, worst ({query})"), WORST_BAR, worst, "");
    Ok(())
}

/// The processor time of the first, the middle and the last page, and how long the first request of the list took.
/// Of two pages the second is the middle one as well.
/// `round` is how often the list was measured before.
fn pages(
    context: &Context,
    (engine, processes): (&Engine, &Processes),
    list: &List<'_>,
    client: &mut Client,
    round: usize,
) -> Result<Option<(Flatness, Duration)>> {
    let first_access = client.time(&list.request(client::JSON, 1, 0))?;
    let (envelope, _) = list.read(client, 1)?;
    let total = count(&envelope, "total")?;
    // Full pages only: what a request costs besides its records would be spread over fewer of them on another one.
    let deep = total / PER_PAGE;
    if deep < 2 {
        return Ok(None);
    }
    // Each page once in a turn: what was asked for a moment ago is still in the caches of the processor.
    let compared = if deep == 2 { vec![1, deep] } else { vec![1, deep.div_ceil(2), deep] };
    let bytes = compared.iter().map(|page| Ok(list.read(client, *page)?.1)).collect::<Result<Vec<f64>>>()?;
    let mut times = vec![Vec::new(); compared.len()];
    let threads = processes.threads()?;
    // In turns, so that a disturbance of the machine meets all of them.
    // Each round in spellings of its own, so that no cache of answers decides.
    for spelling in (2..client::SPELLINGS).cycle().skip(round * context.turns).take(context.turns) {
        for (page, times) in compared.iter().zip(&mut times) {
            let before = threads.used();
            client.time(&list.request(client::JSON, *page, spelling))?;
            times.push(microseconds(threads.used().saturating_sub(before)));
        }
    }
    let times: Vec<f64> = times.into_iter().map(median).collect();
    let (&[first, .., deepest], &[first_bytes, .., last_bytes]) = (&times[..], &bytes[..]) else {
        bail!("two pages were not measured")
    };
    let row = Flatness {
        engine: engine.label(),
        query: list.path().to_owned(),
        total,
        page: deep,
        first_microseconds: first,
        first_bytes,
        middle_microseconds: times[times.len() / 2],
        last_microseconds: deepest,
        last_bytes,
        ratio: (deepest / last_bytes) / (first / first_bytes),
    };
    Ok(Some((row, first_access)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_sorted_in_every_way() {
        let lists = Lists { address: "/order", filters: vec![String::new(), "a=b".to_owned()], sorts: vec!["c"] };
        let expected = [
            "dir=asc",
            "dir=desc",
            "order=c&dir=asc",
            "order=c&dir=desc",
            "a=b&dir=asc",
            "a=b&dir=desc",
            "a=b&order=c&dir=asc",
            "a=b&order=c&dir=desc",
        ];
        assert_eq!(lists.queries(), expected);
    }
}
