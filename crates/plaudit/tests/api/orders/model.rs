//! Orders that are made up, and what a list of them is by definition.

use std::cmp::Ordering;

use crate::harness::Server;
use crate::harness::random::Random;
use kernel::text::Timestamp;
use plaudit::program::keys::Scope;

/// Seasons by slug and name: neither of the two orders is the other one.
pub const SEASONS: [(&str, &str); 3] = [("TSeasonA", "Second"), ("TSeasonB", "First"), ("TSeasonC", "Third")];
const METHODS: [&str; 4] = ["card", "", "invoice", "Card"];
/// 2025-01-01T00:00:00.000000Z.
const START: i64 = 1_735_689_600;

#[derive(Clone, Debug)]
pub struct Order {
    pub slug: String,
    pub invoice: u64,
    pub season: usize,
    pub is_paid: bool,
    pub is_test: bool,
    pub is_deleted: bool,
    pub method: &'static str,
    /// Of GBP, in pence.
    pub total: u64,
    pub created: i64,
    pub updated: i64,
}

fn time(seconds: i64) -> String {
    let mut text = Vec::new();
    Timestamp::from_seconds(seconds).write(&mut text);
    String::from_utf8(text).unwrap()
}

impl Order {
    /// The order of a number, with values of which many are the same.
    pub fn random(number: u64, random: &mut Random) -> Self {
        let mut slug = String::from("T");
        // An odd factor permutes the numbers, so that slugs are in no order.
        let mut rest = number.wrapping_mul(1_234_567_891) % 26_u64.pow(7);
        for _ in 0..7 {
            slug.push(char::from(b'a' + u8::try_from(rest % 26).unwrap()));
            rest /= 26;
        }
        let mut order = Self {
            slug,
            invoice: number + 1,
            season: 0,
            is_paid: true,
            is_test: false,
            is_deleted: false,
            method: "",
            total: 0,
            created: START + i64::try_from(random.below(20)).unwrap(),
            updated: 0,
        };
        order.change(random);
        order
    }

    /// Changes everything that can change.
    pub fn change(&mut self, random: &mut Random) {
        self.season = if random.once_in(4) { random.below(SEASONS.len()) } else { 0 };
        self.is_paid = !random.once_in(3);
        self.is_test = random.once_in(4);
        self.is_deleted = random.once_in(4);
        self.method = random.pick(&METHODS);
        self.total = u64::try_from(random.below(12) * 25).unwrap();
        self.updated = START + i64::try_from(random.below(15)).unwrap();
    }

    fn line(&self) -> String {
        format!(
            r#"{{"kind":"order","slug":"{}","invoice_number":"{}","season":"{}","user":"TUserOne","currency":"GBP","payment_status":"{}","payment_method":"{}","test":{},"deleted":{},"total":{}.{:02},"created_at":"{}","updated":"{}"}}"#,
            self.slug,
            self.invoice,
            SEASONS[self.season].0,
            if self.is_paid { "paid" } else { "awaiting_payment" },
            self.method,
            self.is_test,
            self.is_deleted,
            self.total / 100,
            self.total % 100,
            time(self.created),
            time(self.updated),
        )
    }
}

pub fn random_orders(count: u64, seed: u64) -> Vec<Order> {
    let mut random = Random(seed);
    (0..count).map(|number| Order::random(number, &mut random)).collect()
}

/// Imports orders into the account of made-up orders.
pub async fn import(server: &Server, orders: &[Order]) {
    let mut lines = String::from(
        r#"{"kind":"account","slug":"AccountT","name":"T","default_language":"en_GB","languages":["en_GB"],"rate_limit":100000000}
{"kind":"user","slug":"TUserOne","first_name":"T","last_name":"One","email":"t@example.org"}"#,
    );
    for (index, (slug, name)) in SEASONS.iter().enumerate() {
        let status = if index == 0 { "active" } else { "archived" };
        lines.push_str(&format!(
            "\n{{\"kind\":\"season\",\"slug\":\"{slug}\",\"name\":{{\"en_GB\":\"{name}\"}},\"status\":\"{status}\"}}"
        ));
    }
    for order in orders {
        lines.push('\n');
        lines.push_str(&order.line());
    }
    server.import(&lines).await;
}

/// Imports orders and makes the account's key the server's.
pub async fn start(server: &mut Server, orders: &[Order]) {
    import(server, orders).await;
    server.key = server.new_key("AccountT", Scope::Read).await;
}

/// What a request selects and how it sorts; an empty text is a parameter that is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    pub status: &'static str,
    pub test: &'static str,
    pub season: &'static str,
    pub deleted: &'static str,
    pub order: &'static str,
    pub dir: &'static str,
}

impl Query {
    /// The path with these parameters and `more`.
    pub fn path(&self, more: &str) -> String {
        let mut path = format!("/order?{more}");
        for (name, value) in [
            ("status", self.status),
            ("test", self.test),
            ("season", self.season),
            ("deleted", self.deleted),
            ("order", self.order),
            ("dir", self.dir),
        ] {
            if !value.is_empty() {
                path.push_str(&format!("&{name}={value}"));
            }
        }
        path
    }

    fn selects(&self, order: &Order) -> bool {
        let season = SEASONS[order.season].0;
        (self.status.is_empty() || (self.status == "paid") == order.is_paid)
            && (self.test.is_empty() || (self.test == "only") == order.is_test)
            && (self.season == "all" || season == if self.season.is_empty() { SEASONS[0].0 } else { self.season })
            && match self.deleted {
                "only" => order.is_deleted,
                "included" => true,
                _ => !order.is_deleted,
            }
    }

    fn compare(&self, one: &Order, other: &Order) -> Ordering {
        let by_value = match self.order {
            "created_at" => one.created.cmp(&other.created),
            "invoice_number" => one.invoice.cmp(&other.invoice),
            "payment_method" => one.method.cmp(other.method),
            "payment_status" => one.is_paid.cmp(&other.is_paid),
            "season" => SEASONS[one.season].1.cmp(SEASONS[other.season].1),
            "total" => one.total.cmp(&other.total),
            _ => one.updated.cmp(&other.updated),
        };
        // The default sort is newest first, and a named one smallest first. Ties go by slug, ascending in both directions.
        let is_descending = self.dir == "desc" || (self.dir.is_empty() && self.order.is_empty());
        let by_value = if is_descending { by_value.reverse() } else { by_value };
        by_value.then_with(|| one.slug.cmp(&other.slug))
    }

    /// The slugs of the whole list.
    pub fn expected<'o>(&self, orders: &'o [Order]) -> Vec<&'o str> {
        let mut selected: Vec<&Order> = orders.iter().filter(|order| self.selects(order)).collect();
        selected.sort_by(|one, other| self.compare(one, other));
        selected.into_iter().map(|order| order.slug.as_str()).collect()
    }
}
