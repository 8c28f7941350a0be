//! Measures a view of 1,000,000 records like orders: memory, loading, building, pages and changes.
//!
//! Run with `cargo run --release -p list-view --example measure_lists`, with another number of records behind `--` if wanted.

use std::hint::black_box;
use std::time::{Duration, Instant};

use list_view::{Cell, Column, Direction, Filter, From, Holds, Path, Sort, View};

const ORDERS: usize = 0;
const PAYMENT: u16 = 2;
const UPDATED: u16 = 5;
const TOTAL: u16 = 6;
const INVOICE: u16 = 7;
/// How often a page or a change is measured: the mean of a round is taken, and of the rounds the best.
const ROUNDS: u32 = 200;
const CALLS: u32 = 100;

const TABLES: &[&[Column]] = &[&[
    column("season", Holds::Code),
    column("currency", Holds::Code),
    column("payment", Holds::Code),
    column("method", Holds::Code),
    column("created", Holds::Number),
    column("updated", Holds::Number),
    column("total", Holds::Number),
    column("invoice", Holds::Text),
]];

const fn column(name: &'static str, holds: Holds) -> Column {
    Column { name, holds }
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    fn number(&mut self, below: u64) -> i64 {
        self.next(below).cast_signed()
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from.get(usize::try_from(self.next(from.len() as u64)).unwrap_or_default()).copied().unwrap_or_default()
    }

    /// A record for each call.
    fn slots(&mut self, view: &View) -> Vec<u32> {
        let records = view.len(ORDERS) as u64;
        (0..ROUNDS * CALLS).filter_map(|_| u32::try_from(self.next(records)).ok()).collect()
    }

    fn slug(&mut self) -> String {
        (0..8).map(|_| char::from(self.next(26).to_le_bytes()[0] + b'a')).collect()
    }
}

#[derive(Clone)]
struct Order {
    slug: String,
    codes: [&'static str; 4],
    numbers: [i64; 3],
    invoice: String,
}

impl Order {
    fn new(numbers: &mut Numbers, number: u64) -> Self {
        Self {
            slug: numbers.slug(),
            codes: [
                numbers.pick(&["Spring 2023", "Spring 2024", "Spring 2025", "Spring 2026"]),
                numbers.pick(&["GBP", "EUR", "USD", "AUD", "JPY"]),
                numbers.pick(&["paid", "awaiting", "failed", "refunded"]),
                numbers.pick(&["card", "invoice", "bank transfer", ""]),
            ],
            numbers: [
                1_700_000_000 + number.cast_signed(),
                1_700_000_000 + numbers.number(50_000_000),
                numbers.number(500) * 100,
            ],
            invoice: format!("INV{:07}", number * 7_919 % 10_000_000),
        }
    }

    fn put(&self, view: &mut View) {
        let [codes, numbers] = [self.codes.map(Cell::Text).to_vec(), self.numbers.map(Cell::Number).to_vec()];
        let cells = [codes, numbers, vec![Cell::Text(&self.invoice)]].concat();
        view.put(ORDERS, &self.slug, self.numbers[0], &cells);
    }
}

#[allow(clippy::disallowed_methods)] // A measurement needs the real time.
fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = call();
    (start.elapsed(), made)
}

#[allow(clippy::cast_precision_loss)]
fn report_bytes(what: &str, view: &View) {
    println!("{what:44} {:8.1} bytes a record", view.bytes() as f64 / view.len(ORDERS) as f64);
}

fn report(what: &str, time: Duration) {
    println!("{what:44} {:8.1} ms", time.as_secs_f64() * 1e3);
}

/// The mean time of a call, of the best round and of all.
fn report_each<T>(what: &str, calls: &[T], mut call: impl FnMut(&T)) {
    let rounds: Vec<Duration> =
        calls.chunks(CALLS as usize).map(|calls| timed(|| calls.iter().for_each(&mut call)).0 / CALLS).collect();
    let all = rounds.iter().sum::<Duration>() / ROUNDS;
    let best = rounds.into_iter().min().unwrap_or_default();
    println!("{what:44} {:8.2} us, {:8.2} us on average", best.as_secs_f64() * 1e6, all.as_secs_f64() * 1e6);
}

/// Random pages of 100 by number, and pages behind a place.
fn report_pages(view: &View, sorts: &[(&str, Sort)], numbers: &mut Numbers) {
    let filter = Filter::default();
    for (name, sort) in sorts {
        for direction in [Direction::Ascending, Direction::Descending] {
            let page = |from: From<'_>| drop(black_box(view.page(ORDERS, (&filter, sort), direction, from, 100)));
            let depths = numbers.slots(view);
            report_each(&format!("page of 100 by {name}, {direction:?}"), &depths, |depth| {
                page(From::Number(u64::from(*depth)));
            });
            let places: Vec<_> =
                depths.iter().map(|slot| (view.key(ORDERS, sort, *slot), view.name(ORDERS, *slot))).collect();
            report_each("  behind a place", &places, |(key, slug)| page(From::Place(key, slug)));
        }
    }
}

fn main() {
    let records = std::env::args().nth(1).and_then(|records| records.parse().ok()).unwrap_or(1_000_000);
    let mut numbers = Numbers(1);
    let mut orders: Vec<Order> = (0..records).map(|number| Order::new(&mut numbers, number)).collect();
    let mut view = View::new(TABLES);
    let (time, ()) = timed(|| orders.iter().for_each(|order| order.put(&mut view)));
    report(&format!("loading {records} records"), time);
    report_bytes("as loaded", &view);
    view.shrink();
    report_bytes("shrunk", &view);

    let ranks = view.ranks(ORDERS, Path::own(PAYMENT), ("", 0), str::to_owned);
    let sorts = [
        ("updated", Sort::Number(Path::own(UPDATED))),
        ("total", Sort::Number(Path::own(TOTAL))),
        ("payment", Sort::Ranked(Path::own(PAYMENT), ranks)),
        ("invoice", Sort::Text(Path::own(INVOICE))),
    ];
    for (name, sort) in &sorts {
        let (time, ()) = timed(|| view.keep(view.make(ORDERS, &Filter::default(), sort)));
        report(&format!("building the list by {name}"), time);
    }
    report_bytes("with four lists", &view);
    report_pages(&view, &sorts, &mut numbers);

    // A payment comes in: two of the lists change.
    let mut payments = orders.clone();
    for payment in &mut payments {
        payment.codes[2] = numbers.pick(&["paid", "awaiting", "failed", "refunded"]);
        payment.numbers[1] = 1_750_000_000 + numbers.number(1_000_000);
    }
    let slots = numbers.slots(&view);
    report_each("a change of a code and a number", &slots, |slot| payments[*slot as usize].put(&mut view));
    for order in &mut orders {
        order.codes = order.codes.map(|_| numbers.pick(&["paid", "awaiting", "failed", "refunded"]));
        order.numbers = order.numbers.map(|_| numbers.number(1_000_000));
        order.invoice = format!("CRE{:07}", numbers.next(10_000_000));
    }
    let slots = numbers.slots(&view);
    report_each("a change of all cells", &slots, |slot| orders[*slot as usize].put(&mut view));
    report_bytes("after the changes", &view);
    report_pages(&view, &sorts[..1], &mut numbers);
}
