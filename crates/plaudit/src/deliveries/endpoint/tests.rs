use proptest::prelude::*;

use super::*;

const SECOND: i64 = 1_000_000;
const NOW: i64 = 1_767_225_600 * SECOND;
const MOST: usize = 100;

fn endpoint(concurrency: usize) -> Endpoint {
    let schedule = "0s,5s,5m".parse().unwrap();
    Endpoint::new(schedule, Duration::from_hours(120), concurrency, (Health::Healthy, 0))
}

fn entry(slug: &str) -> Record {
    ("entry".to_owned(), slug.to_owned())
}

fn answered(status: u16) -> Attempt {
    Attempt { status: Some(status), ..Attempt::default() }
}

fn unanswered() -> Attempt {
    Attempt { error: Some("the connection was closed".to_owned()), ..Attempt::default() }
}

impl Endpoint {
    fn with(mut self, deliveries: &[(Key, &str)]) -> Self {
        for (key, slug) in deliveries {
            self.add(*key, entry(slug), NOW, 0);
        }
        self
    }

    fn attempt(&mut self, key: Key, attempt: &Attempt, now: i64) -> Ended {
        self.started(key);
        let ended = self.ended(key, attempt, now, 0);
        self.committed(&[key]);
        ended
    }
}

#[test]
fn the_next_of_a_record_begins_when_the_outcome_of_the_one_before_is_written_down() {
    let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((1, 1), "a"), ((2, 0), "a")]);
    for key in [(1, 0), (1, 1), (2, 0)] {
        assert_eq!(endpoint.startable(NOW, MOST), [key]);
        endpoint.started(key);
        assert_eq!(endpoint.startable(NOW, MOST), []);
        assert_eq!(endpoint.ended(key, &answered(200), NOW, 0), Ended::Delivered);
        assert_eq!(endpoint.startable(NOW, MOST), []);
        endpoint.committed(&[key]);
    }
    assert_eq!((endpoint.owes(), endpoint.next_due()), (0, None));
}

#[test]
fn one_that_fails_holds_its_record_and_no_other() {
    let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((2, 0), "a"), ((3, 0), "b")]);
    assert_eq!(endpoint.attempt((1, 0), &answered(500), NOW), Ended::Retry(NOW + 4 * SECOND));
    assert_eq!(endpoint.startable(NOW + 3 * SECOND, MOST), [(3, 0)]);
    endpoint.attempt((3, 0), &answered(204), NOW);
    assert_eq!(endpoint.next_due(), Some(NOW + 4 * SECOND));
    let now = NOW + 4 * SECOND;
    assert_eq!(endpoint.startable(now, MOST), [(1, 0)]);
    assert_eq!(endpoint.attempt((1, 0), &answered(404), now), Ended::Retry(now + 240 * SECOND));
    let now = now + 240 * SECOND;
    // The schedule is at its end: what failed for good lets the next go.
    assert_eq!(endpoint.attempt((1, 0), &unanswered(), now), Ended::Failed);
    assert_eq!((endpoint.startable(now, MOST), endpoint.owes()), (vec![(2, 0)], 1));
}

#[test]
fn an_endpoint_can_ask_for_a_later_attempt_and_for_none() {
    let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((2, 0), "b")]);
    let busy = Attempt { retry_after: Some("3600".to_owned()), ..answered(429) };
    assert_eq!(endpoint.attempt((1, 0), &busy, NOW), Ended::Retry(NOW + 3600 * SECOND));
    assert_eq!(endpoint.attempt((2, 0), &answered(410), NOW), Ended::Failed);
    assert_eq!(endpoint.disabled(), Some(Reason::Gone));
    assert_eq!((endpoint.startable(i64::MAX, MOST), endpoint.next_due()), (vec![], None));
}

#[test]
fn failures_only_disable_it_in_the_end() {
    let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((2, 0), "b"), ((3, 0), "c"), ((4, 0), "d")]);
    let days = 5 * 24 * 3600 * SECOND;
    for (key, after) in [((1, 0), 0), ((2, 0), days / 2), ((3, 0), days - SECOND)] {
        endpoint.attempt(key, &unanswered(), NOW + after);
        assert_eq!(endpoint.failing(), Some((NOW / SECOND, (NOW + after) / SECOND)));
        assert_eq!(endpoint.disabled(), None);
    }
    endpoint.attempt((4, 0), &answered(500), NOW + days);
    assert_eq!(endpoint.disabled(), Some(Reason::Failing));
}

#[test]
fn what_was_tried_before_counts_until_it_is_begun_anew() {
    let mut endpoint = endpoint(16);
    endpoint.add((1, 0), entry("a"), NOW + 60 * SECOND, 2);
    assert_eq!(endpoint.startable(NOW, MOST), []);
    endpoint.add((1, 0), entry("a"), NOW, 0);
    assert_eq!((endpoint.startable(NOW, MOST), endpoint.owes()), (vec![(1, 0)], 1));
    assert_eq!(endpoint.attempt((1, 0), &answered(500), NOW), Ended::Retry(NOW + 4 * SECOND));
    endpoint.add((1, 0), entry("a"), NOW, 2);
    assert_eq!(endpoint.attempt((1, 0), &answered(500), NOW), Ended::Failed);
    // One that is under way stays as it is.
    endpoint.add((2, 0), entry("b"), NOW, 0);
    endpoint.started((2, 0));
    endpoint.add((2, 0), entry("b"), NOW, 0);
    assert_eq!(endpoint.startable(NOW, MOST), []);
}

#[test]
fn an_older_delivery_that_comes_later_goes_first() {
    let mut endpoint = endpoint(16).with(&[((5, 0), "a"), ((6, 0), "a")]);
    endpoint.started((5, 0));
    endpoint.add((3, 0), entry("a"), NOW, 0);
    assert_eq!(endpoint.startable(NOW, MOST), []);
    endpoint.ended((5, 0), &answered(200), NOW, 0);
    endpoint.committed(&[(5, 0)]);
    assert_eq!(endpoint.startable(NOW, MOST), [(3, 0)]);
    endpoint.forget((3, 0));
    assert_eq!(endpoint.startable(NOW, MOST), [(6, 0)]);
    endpoint.give_up((6, 0));
    assert_eq!((endpoint.startable(NOW, MOST), endpoint.owes()), (vec![], 1));
    endpoint.committed(&[(6, 0)]);
    assert_eq!(endpoint.owes(), 0);
}

#[test]
fn an_endpoint_that_says_when_it_has_time_again_is_left_alone_until_then() {
    for status in [429, 503] {
        let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((2, 0), "b")]);
        let busy = Attempt { retry_after: Some("3600".to_owned()), ..answered(status) };
        endpoint.attempt((1, 0), &busy, NOW);
        let then = NOW + 3600 * SECOND;
        assert_eq!((endpoint.startable(then - 1, MOST), endpoint.next_due()), (vec![], Some(then)));
        // What was on its way does not end the rest.
        endpoint.attempt((2, 0), &answered(200), NOW);
        endpoint.add((3, 0), entry("c"), NOW, 0);
        assert_eq!((endpoint.startable(then - 1, MOST), endpoint.rests_until()), (vec![], then));
        assert_eq!(endpoint.startable(then, MOST), [(3, 0), (1, 0)]);
    }
    let mut endpoint = endpoint(16).with(&[((1, 0), "a"), ((2, 0), "b")]);
    endpoint.attempt((1, 0), &Attempt { retry_after: Some("60".to_owned()), ..answered(500) }, NOW);
    assert_eq!(endpoint.startable(NOW, MOST), [(2, 0)]);
}

#[test]
fn after_an_outage_each_success_brings_retries_forward_until_one_fails() {
    let piled_up = |number: i64| {
        let health = Health::Failing { since_unix: NOW / SECOND, last_unix: NOW / SECOND };
        let schedule = "0s,5s,5m".parse().unwrap();
        let mut endpoint = Endpoint::new(schedule, Duration::from_hours(120), 16, (health, 0));
        for sequence in 1..=number {
            endpoint.add((sequence, 0), entry(&sequence.to_string()), NOW + 3600 * SECOND + sequence, 1);
        }
        endpoint.add((1000, 0), entry("new"), NOW, 0);
        endpoint
    };
    let mut endpoint = piled_up(100);
    endpoint.attempt((1000, 0), &answered(200), NOW);
    for sequence in 1..40 {
        assert_eq!(endpoint.startable(NOW, 1), [(sequence, 0)]);
        endpoint.attempt((sequence, 0), &answered(200), NOW);
    }
    let began = endpoint.startable(NOW, MOST);
    endpoint.attempt(began[0], &answered(500), NOW);
    for key in &began[1..] {
        endpoint.attempt(*key, &answered(500), NOW);
    }
    while let Some(key) = endpoint.startable(NOW, 1).first() {
        endpoint.attempt(*key, &answered(500), NOW);
    }
    assert!(endpoint.owes() > 20 && endpoint.next_due() > Some(NOW));
    // What single records wait for keeps its time.
    let mut endpoint = piled_up(99);
    endpoint.attempt((1000, 0), &answered(200), NOW);
    assert_eq!(endpoint.startable(NOW, MOST), []);
}

#[test]
fn an_endpoint_that_was_failing_is_slow_until_it_answers() {
    let health = Health::Failing { since_unix: NOW / SECOND, last_unix: NOW / SECOND };
    let mut endpoint = Endpoint::new("0s,5s".parse().unwrap(), Duration::from_hours(120), 16, (health, 0));
    endpoint.add((1, 0), entry("a"), NOW, 1);
    assert!(endpoint.is_slow());
    endpoint.attempt((1, 0), &answered(200), NOW);
    assert!(!endpoint.is_slow());
}

#[test]
fn the_window_grows_with_success_and_shrinks_for_want_of_answers() {
    let mut window = Window { size: 1, most: 8, unanswered: 0 };
    let sizes = |window: &mut Window, statuses: &[Option<u16>]| -> Vec<usize> {
        let note = |status: &Option<u16>| {
            window.note(*status);
            window.size
        };
        statuses.iter().map(note).collect()
    };
    assert_eq!(sizes(&mut window, &[Some(200); 9]), [2, 3, 4, 5, 6, 7, 8, 8, 8]);
    assert_eq!(sizes(&mut window, &[Some(500), Some(404), Some(302)]), [8; 3]);
    assert_eq!(sizes(&mut window, &[Some(429), None, Some(503), None]), [4, 2, 1, 1]);
    window = Window { size: 100, most: 100, unanswered: 0 };
    assert_eq!(sizes(&mut window, &[None; 5]), [50, 25, 12, 6, 1]);
    assert_eq!(sizes(&mut window, &[None, Some(201), None]), [1, 2, 1]);
}

#[test]
fn an_endpoint_is_slow_while_it_does_not_answer_or_takes_a_second() {
    let deliveries: Vec<(Key, String)> = (1..=5).map(|sequence| ((sequence, 0), sequence.to_string())).collect();
    let mut endpoint = endpoint(16);
    for (key, slug) in &deliveries {
        endpoint.add(*key, entry(slug), NOW, 0);
    }
    let late = Attempt { duration: Duration::from_millis(1001), ..answered(200) };
    let attempts =
        [(unanswered(), true), (answered(200), false), (late, true), (answered(500), false), (answered(503), true)];
    assert!(!endpoint.is_slow());
    for ((key, _), (attempt, is_slow)) in deliveries.iter().zip(attempts) {
        endpoint.attempt(*key, &attempt, NOW);
        assert_eq!(endpoint.is_slow(), is_slow, "{attempt:?}");
    }
}

/// A delivery of the model, in the plainest form.
#[derive(Clone, Copy, PartialEq)]
enum Modelled {
    Waiting(i64),
    UnderWay,
    Ended(Ended),
}

/// An endpoint, and what it should owe.
struct Modelling {
    endpoint: Endpoint,
    model: BTreeMap<Key, Modelled>,
    now: i64,
}

#[derive(Clone, Debug)]
enum Step {
    Add(Key),
    Start(usize),
    End(usize, Option<u16>, u32),
    Commit(usize),
    Forget(usize),
    GiveUp,
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = prop_oneof![4 => Just(Some(200)), 1 => Just(Some(500)), 1 => Just(Some(429)), 1 => Just(None)];
    let step = prop_oneof![
        3 => (1_i64..60, 0_u16..3).prop_map(Step::Add),
        4 => (0_usize..6).prop_map(Step::Start),
        3 => (0_usize..8, status, any::<u32>()).prop_map(|(place, status, jitter)| Step::End(place, status, jitter)),
        3 => (0_usize..8).prop_map(Step::Commit),
        1 => (0_usize..30).prop_map(Step::Forget),
        1 => Just(Step::GiveUp),
        1 => (0_i64..400).prop_map(|seconds| Step::Pass(seconds * SECOND)),
    ];
    prop::collection::vec(step, 1..200)
}

/// The record of a change.
fn record(key: Key) -> i64 {
    key.0 % 6
}

impl Modelling {
    fn keys(&self, wanted: fn(&Modelled) -> bool) -> Vec<Key> {
        self.model.iter().filter(|(_, delivery)| wanted(delivery)).map(|(key, _)| *key).collect()
    }

    fn under_way(&self) -> Vec<Key> {
        self.keys(|delivery| *delivery == Modelled::UnderWay)
    }

    /// The first of each record of which all wait, by when they are due.
    fn startable(&self, now: i64, room: usize) -> Vec<Key> {
        let of_record = |key| self.model.iter().filter(move |(other, _)| record(**other) == record(key));
        let due = |(key, delivery): (&Key, &Modelled)| match delivery {
            Modelled::Waiting(due) if *due <= now => Some((*due, *key)),
            _ => None,
        };
        let mut startable: Vec<(i64, Key)> = self.model.iter().filter_map(due).collect();
        startable.retain(|(_, key)| {
            of_record(*key).all(|(other, delivery)| other >= key && matches!(delivery, Modelled::Waiting(_)))
        });
        startable.sort_unstable();
        startable.into_iter().map(|(_, key)| key).take(room).collect()
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Add(key) => {
                self.endpoint.add(key, entry(&record(key).to_string()), self.now, 0);
                let delivery = self.model.entry(key).or_insert(Modelled::Waiting(self.now));
                if matches!(delivery, Modelled::Waiting(_)) {
                    *delivery = Modelled::Waiting(self.now);
                }
            }
            Step::Start(most) => {
                for key in self.endpoint.startable(self.now, most) {
                    self.endpoint.started(key);
                    self.model.insert(key, Modelled::UnderWay);
                }
            }
            Step::End(place, status, jitter) => {
                if let Some(key) = self.under_way().get(place) {
                    let attempt = Attempt { status, ..Attempt::default() };
                    let ended = self.endpoint.ended(*key, &attempt, self.now, jitter);
                    assert_eq!(ended == Ended::Delivered, status == Some(200));
                    self.model.insert(*key, Modelled::Ended(ended));
                }
            }
            Step::Commit(place) => {
                if let Some(key) = self.keys(|delivery| matches!(delivery, Modelled::Ended(_))).get(place) {
                    self.endpoint.committed(&[*key]);
                    if let Some(Modelled::Ended(Ended::Retry(due))) = self.model.remove(key) {
                        self.model.insert(*key, Modelled::Waiting(due));
                    }
                }
            }
            Step::Forget(place) => {
                if let Some(key) = self.keys(|delivery| matches!(delivery, Modelled::Waiting(_))).get(place) {
                    self.endpoint.forget(*key);
                    self.model.remove(key);
                }
            }
            Step::GiveUp => {
                if let Some(key) = self.endpoint.startable(self.now, 1).first() {
                    self.endpoint.give_up(*key);
                    self.model.insert(*key, Modelled::Ended(Ended::Failed));
                }
            }
            Step::Pass(time) => self.now += time,
        }
    }

    /// Holds the endpoint against the model.
    fn check(&self, concurrency: usize) {
        let (endpoint, now) = (&self.endpoint, self.now);
        assert!((1..=concurrency).contains(&endpoint.window.size));
        let room = endpoint.window.size.saturating_sub(self.under_way().len());
        assert_eq!(endpoint.startable(now, MOST), self.startable(now, room));
        assert_eq!(endpoint.owes(), self.model.len());
        let due = endpoint.next_due();
        assert_eq!(due.is_some(), room > 0 && !self.startable(i64::MAX, 1).is_empty());
        assert!(due.is_none_or(|due| (due <= now) != self.startable(now, room).is_empty()));
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_or_overtakes_and_the_window_is_kept(steps in steps(), concurrency in 1_usize..6) {
        let mut both = Modelling { endpoint: endpoint(concurrency), model: BTreeMap::new(), now: NOW };
        for step in steps {
            both.take(&step);
            both.check(concurrency);
        }
        // Whatever is left arrives when nothing fails any more.
        let rest = [Step::Pass(400 * SECOND), Step::Start(1), Step::End(0, Some(200), 0), Step::Commit(0)];
        while both.endpoint.owes() > 0 {
            let before = both.endpoint.owes();
            for step in rest.iter().cycle().take(4 * 10) {
                both.take(step);
                both.check(concurrency);
            }
            assert!(both.endpoint.owes() < before);
        }
        assert!(both.endpoint.of_record.is_empty() && both.endpoint.due.is_empty() && both.endpoint.under_way == 0);
    }
}
