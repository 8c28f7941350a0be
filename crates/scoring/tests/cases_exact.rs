//! The worked examples with exact answers: every member of `expected` in every case of the files below, and in any case
//! of the same kinds that is put beside them.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use scoring::chain::{self, Link};
use scoring::draw::{self, Hash};
use scoring::elections::{
    Ballot, DECIMALS, Decision, Election, Pairwise, StvRound, TieRule, droop_quota, points_by_preference,
};
use scoring::modes::{mailbox, qualifying, scored};
use scoring::places::{Ranking, Style, percentile};
use scoring::rational::{Fraction, decimal, fraction, whole};
use scoring::sheet::{Criterion, Incomplete, Method, Policy, Scale, State, Totals};
use serde_json::{Map, Value};

#[test]
fn weighted_scores_hold() {
    run("01-weighted-scoring");
}

#[test]
fn qualifying_decisions_hold() {
    run("02-qualifying");
}

#[test]
fn combined_rankings_hold() {
    run("03-rank-aggregation");
}

#[test]
fn transferable_votes_hold() {
    run("04-stv");
}

#[test]
fn mailboxes_hold() {
    run("11-public-vote");
}

#[test]
fn draws_and_chains_hold() {
    run("12-audit");
}

/// Runs every case of a file whose method is exact.
fn run(file: &str) {
    let path = format!("{}/tests/cases/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut checked = 0;
    for case in &cases {
        println!("case {}", case["id"]);
        let (input, expected) = (&case["input"], &case["expected"]);
        match text(&case["method"]) {
            "weighted_criteria" => weighted_criteria(input, expected),
            "trimmed_sum" => trimmed_sum(input, expected),
            "ranking_of_ties" => ranking_of_ties(input, expected),
            "mean_times_ten,percentile" => review_panel(input, expected),
            "pass_fail" => pass_fail(input, expected),
            "borda" | "kemeny" | "schulze" | "borda,kemeny" => aggregation(input, expected),
            method if method.starts_with("borda_top") => top_points(input, expected),
            "stv_gregory_droop" => stv(input, expected),
            "droop_quota" => assert_eq!(expected["quota"], droop_quota(number(&input["n"]), count(&input["winners"]))),
            "stv_meek" => meek(input, expected, case["tolerance"].as_f64().unwrap()),
            "email_duplicate_key" => {
                let keys = list(input).iter().map(|address| mailbox::duplicate_key(text(address)));
                assert_eq!(keys.collect::<Vec<_>>(), texts(expected));
            }
            "verifiable_random_selection" => selection(input, expected),
            "hash_chain" => hash_chain(input, expected),
            "wilson_interval" => continue, // Not exact: with the models.
            unknown => panic!("{unknown}: there is no such method"),
        }
        checked += 1;
    }
    assert!(checked > 0);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no natural number"))
}

fn count(value: &Value) -> u32 {
    u32::try_from(number(value)).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).iter().map(text).collect()
}

/// A number, whole or decimal, or a fraction `{num, den}`, without rounding.
fn exact(value: &Value) -> Fraction {
    if let Some(numerator) = value.get("num") {
        return fraction(numerator.as_i64().unwrap(), value["den"].as_i64().unwrap()).unwrap();
    }
    let digits = value.to_string();
    let (units, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    fraction(format!("{units}{decimals}").parse::<i64>().unwrap(), 10_i64.pow(u32::try_from(decimals.len()).unwrap()))
        .unwrap()
}

fn near(actual: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected}");
}

fn float(value: &Fraction) -> f64 {
    decimal(value, 17).parse().unwrap()
}

fn unknown(member: &str) -> ! {
    panic!("nothing is known of the expected member {member}")
}

/// What each counted sheet's entry has, by the names of entries, and the scale behind it.
fn board(input: &Value, method: Method) -> (Scale, BTreeMap<&str, Totals>) {
    let named = list(&input["criteria"]);
    let ids: Vec<&str> = named.iter().map(|criterion| text(&criterion["id"])).collect();
    let sheets = input.get("sheets").or_else(|| input.get("scores")).map(list).unwrap();
    let score = |sheet: &Value, index: usize| -> Option<Fraction> {
        let scores = sheet.get("scores").unwrap_or(sheet);
        let score = scores.get(ids[index]).or_else(|| scores.get(index))?;
        (!score.is_null()).then(|| exact(score))
    };
    let criterion = |(index, criterion): (usize, &Value)| {
        let scores = sheets.iter().filter_map(|sheet| score(sheet, index));
        let values: Vec<Fraction> = scores.chain([exact(&criterion["max"])]).collect();
        let steps: u32 =
            (1..1_000).find(|steps| values.iter().all(|value| (value * whole(*steps)).is_integer())).unwrap();
        Criterion {
            steps_per_point: steps,
            ..Criterion::points(ids[index], steps * count(&criterion["max"]), count(&criterion["weight"]))
        }
    };
    let criteria: Vec<Criterion> = named.iter().enumerate().map(criterion).collect();
    let scale = Scale::new(&criteria, method).unwrap();
    let incomplete = match input.get("policy").map(text) {
        None | Some("complete_only") => Incomplete::Excluded,
        Some("renormalise") => Incomplete::Renormalised,
        Some(other) => panic!("{other}: there is no such policy"),
    };
    let policy = Policy { incomplete, ..Policy::default() };
    let mut totals: BTreeMap<&str, Totals> = BTreeMap::new();
    for sheet in sheets {
        let steps = |(index, criterion): (usize, &Criterion)| {
            score(sheet, index)
                .map(|score| u32::try_from((score * whole(criterion.steps_per_point)).to_integer()).unwrap())
        };
        let scores: Vec<Option<u32>> = criteria.iter().enumerate().map(steps).collect();
        let entry = totals.entry(text(&sheet["entry"])).or_default();
        if let Some(units) = policy.counted(state(sheet), &scores, &scale) {
            entry.add(&units);
        }
    }
    (scale, totals)
}

fn state(sheet: &Value) -> State {
    match sheet.get("state").map_or("complete", text) {
        "complete" => State::Complete,
        "partial" | "in_progress" => State::InProgress,
        "missing" | "none" => State::None,
        "abstain" | "abstained" => State::Abstained,
        "conflict" => State::ConflictDeclared,
        "recused" => State::Recused,
        "stray" => State::Stray,
        other => panic!("{other}: there is no such state"),
    }
}

fn weighted_criteria(input: &Value, expected: &Value) {
    for (member, expected) in members(expected) {
        let method = match member.as_str() {
            "sum" => Method::Sum,
            "mean" => Method::Mean,
            _ => Method::Percent,
        };
        let (scale, totals) = board(input, method);
        let scores: BTreeMap<&str, Option<Fraction>> =
            totals.iter().map(|(entry, totals)| (*entry, totals.score(&scale))).collect();
        let each =
            |check: &dyn Fn(&str, &Value)| members(expected).iter().for_each(|(entry, value)| check(entry, value));
        match member.as_str() {
            "sum" | "mean" => {
                assert_eq!(scores.len(), 1, "the answer is about one entry");
                assert_eq!(scores.into_values().next().unwrap(), Some(exact(&expected["score"])));
                assert_eq!(scale.maximum(), exact(&expected["out_of"]));
            }
            "entry_score" => each(&|entry, score| assert_eq!(scores[entry], Some(exact(score)))),
            "decimal" => each(&|entry, score| near(float(scores[entry].as_ref().unwrap()), score, 0.0)),
            "counted" => each(&|entry, sheets| assert_eq!(totals[entry].sheets, count(sheets))),
            "rank" => {
                let names: Vec<&str> = totals.keys().copied().collect();
                let ranking = scored::rank(&totals.values().cloned().collect::<Vec<_>>(), 1);
                let places: BTreeMap<&str, Option<u64>> = ranking
                    .places(Style::Competition)
                    .map(|(entry, place)| (names[entry as usize], place.whole()))
                    .collect();
                each(&|entry, place| assert_eq!(places[entry], Some(number(place))));
                assert_eq!(places.len(), members(expected).len());
            }
            member => unknown(member),
        }
    }
}

fn trimmed_sum(input: &Value, expected: &Value) {
    let mut marks: Vec<Fraction> = list(&input["marks"]).iter().map(exact).collect();
    marks.sort();
    let drop = |member: &str| usize::try_from(number(&input[member])).unwrap();
    let kept = scored::without_ends(&marks, drop("drop_low"), drop("drop_high"));
    let sum: Fraction = kept.iter().sum();
    for (member, expected) in members(expected) {
        match member.as_str() {
            "kept_sorted" => assert_eq!(kept, list(expected).iter().map(exact).collect::<Vec<_>>()),
            "sum" => assert_eq!(sum, exact(expected)),
            "result" => assert_eq!(&sum * exact(&input["multiplier"]), exact(expected)),
            member => unknown(member),
        }
    }
}

fn ranking_of_ties(input: &Value, expected: &Value) {
    let ranking = Ranking::of(list(&input["scores"]).iter().map(exact).zip(0..));
    for (member, expected) in members(expected) {
        let style = match member.as_str() {
            "competition_1224" => Style::Competition,
            "modified_1334" => Style::Modified,
            "dense_1223" => Style::Dense,
            "fractional" => Style::Fractional,
            member => unknown(member),
        };
        let places: BTreeMap<u32, f64> = ranking.places(style).map(|(entry, place)| (entry, place.number())).collect();
        let expected: Vec<f64> = list(expected).iter().filter_map(Value::as_f64).collect();
        assert_eq!(places.into_values().collect::<Vec<_>>(), expected);
    }
}

fn review_panel(input: &Value, expected: &Value) {
    let scores: Vec<Fraction> = list(&input["scores"]).iter().map(exact).collect();
    let mean = scores.iter().sum::<Fraction>() / whole(scores.len());
    for (member, expected) in members(expected) {
        match member.as_str() {
            "mean" => assert_eq!(mean, exact(expected)),
            "impact" => assert_eq!(decimal(&(&mean * whole(10)), 0), expected.to_string()),
            "percentile" => {
                let percentile = percentile(count(&input["rank"]), count(&input["N"])).unwrap();
                near(float(&percentile), expected, 1e-12);
            }
            member => unknown(member),
        }
    }
}

fn pass_fail(input: &Value, expected: &Value) {
    assert_eq!(list(input).len(), list(expected).len());
    for (input, expected) in list(input).iter().zip(list(expected)) {
        let decision = |decision: &Value| match text(decision) {
            "pass" => qualifying::Decision::Pass,
            "fail" => qualifying::Decision::Fail,
            "unsure" => qualifying::Decision::Unsure,
            other => panic!("{other}: there is no such decision"),
        };
        let (responses_needed, pass_percent) = (count(&input["min_responses"]), count(&input["pass_percent"]));
        let rules = qualifying::Rules { responses_needed, pass_percent };
        let outcome = match rules.outcome(list(&input["decisions"]).iter().map(decision).collect()) {
            qualifying::Outcome::Pass => "pass",
            qualifying::Outcome::Fail => "fail",
            qualifying::Outcome::Undecided => "undecided",
        };
        assert_eq!(outcome, text(expected), "{input}");
    }
}

/// Entries by name.
struct Named<'a>(Vec<&'a str>);

impl<'a> Named<'a> {
    fn of(input: &'a Value) -> Self {
        let orders = list(&input["ballots"]).iter().map(|ballot| &ballot["order"]);
        let lists = orders.chain(["candidates", "withdrawn"].iter().filter_map(|member| input.get(member)));
        let names: BTreeSet<&str> = lists.flat_map(texts).collect();
        Self(names.into_iter().collect())
    }

    fn index(&self, name: &str) -> u32 {
        u32::try_from(self.0.iter().position(|other| *other == name).unwrap()).unwrap()
    }

    fn indexes(&self, names: &Value) -> Vec<u32> {
        texts(names).into_iter().map(|name| self.index(name)).collect()
    }

    fn names(&self, entries: &[u32]) -> Vec<&'a str> {
        entries.iter().map(|entry| self.0[*entry as usize]).collect()
    }

    fn election(&self, input: &Value, lot: &[u32]) -> Election {
        let withdrawn = input.get("withdrawn").map(|names| self.indexes(names)).unwrap_or_default();
        let ballot = |ballot: &Value| Ballot {
            count: ballot.get("count").map_or(1, count),
            order: self.indexes(&ballot["order"]),
        };
        let ballots = list(&input["ballots"]).iter().map(ballot);
        Election::new(u32::try_from(self.0.len()).unwrap(), &withdrawn, lot, ballots).unwrap()
    }

    /// Every pair that is named, as `A>B` or `AB`.
    fn assert_pairs(&self, pairs: &Pairwise, expected: &Value) {
        let mut checked = 0;
        for (one, other) in self.0.iter().flat_map(|one| self.0.iter().map(move |other| (*one, *other))) {
            let expected = expected.get(format!("{one}>{other}")).or_else(|| expected.get(format!("{one}{other}")));
            if let Some(expected) = expected {
                assert_eq!(pairs.get(self.index(one), self.index(other)), number(expected), "{one}>{other}");
                checked += 1;
            }
        }
        assert_eq!(checked, members(expected).len());
    }
}

fn aggregation(input: &Value, expected: &Value) {
    let named = Named::of(input);
    let election = named.election(input, &[]);
    let (points, borda) = election.borda();
    let (schulze, kemeny) = (election.schulze().unwrap(), election.kemeny().unwrap());
    for (member, expected) in members(expected) {
        match member.as_str() {
            "borda" => {
                let expected: Vec<u64> = named.0.iter().map(|name| number(&expected[*name])).collect();
                assert_eq!(points, expected);
            }
            "borda_ranking" => assert_eq!(named.names(borda.entries()), texts(expected)),
            "kemeny_ranking" => assert_eq!(named.names(&kemeny.order), texts(expected)),
            "kemeny_score" => assert_eq!(kemeny.score, number(expected)),
            "kemeny_distance" => assert_eq!(kemeny.distance, number(expected)),
            "pairwise" | "d" => named.assert_pairs(&schulze.preferences, expected),
            "p" => named.assert_pairs(&schulze.paths, expected),
            "ranking" => assert_eq!(named.names(schulze.ranking.entries()), texts(expected)),
            member => unknown(member),
        }
    }
}

fn top_points(input: &Value, expected: &Value) {
    let numbers = |value: &Value| -> Vec<u64> { list(value).iter().map(number).collect() };
    let (names, counts): (Vec<&str>, Vec<Vec<u64>>) =
        members(&input["preference_counts"]).iter().map(|(name, counts)| (name.as_str(), numbers(counts))).unzip();
    let points = points_by_preference(&numbers(&input["points"]), &counts);
    for (member, expected) in members(expected) {
        match member.as_str() {
            "points" => {
                let expected: Vec<u64> = names.iter().map(|name| number(&expected[*name])).collect();
                assert_eq!(points, expected);
            }
            "ranking" => {
                let ranking = Ranking::of(points.iter().copied().zip(0..));
                let order: Vec<&str> = ranking.entries().iter().map(|entry| names[*entry as usize]).collect();
                assert_eq!(order, texts(expected));
            }
            member => unknown(member),
        }
    }
}

fn stv(input: &Value, expected: &Value) {
    let named = Named::of(input);
    let seats = count(&input["seats"]);
    let result = named.election(input, &[]).stv(seats, TieRule::EarlierRounds);
    for (member, expected) in members(expected) {
        match member.as_str() {
            "quota" => assert_eq!(result.quota, number(expected)),
            "elected" => assert_eq!(sorted(named.names(&result.elected)), sorted(texts(expected))),
            "rounds" => assert_rounds(&named, &result.rounds, list(expected)),
            "all_outcomes_over_elimination_ties" => {
                let mut outcomes = BTreeSet::new();
                every_outcome(&named, input, &mut Vec::new(), &mut outcomes);
                let expected: BTreeSet<Vec<&str>> =
                    list(expected).iter().map(|outcome| sorted(texts(outcome))).collect();
                assert_eq!(outcomes, expected);
            }
            member => unknown(member),
        }
    }
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

/// The published rounds have one elimination each, and do not list those that fill the last seats.
fn assert_rounds(named: &Named, rounds: &[StvRound], expected: &[Value]) {
    let mut expected = expected.iter();
    for round in rounds {
        let mut tally: BTreeMap<&str, Fraction> =
            round.tally.iter().map(|(entry, votes)| (named.0[*entry as usize], votes.clone())).collect();
        let mut next = || {
            let expected = expected.next().unwrap();
            let votes = members(&expected["tally"]).iter().map(|(name, votes)| (name.as_str(), exact(votes)));
            assert_eq!(tally, votes.filter(|(_, votes)| *votes > whole(0)).collect());
            expected
        };
        match &round.decision {
            Decision::Elected(entries) => {
                assert_eq!(sorted(named.names(entries)), sorted(texts(&next()["elected"])));
            }
            Decision::Eliminated(entries) => {
                let mut out: Vec<&str> = entries.iter().map(|_| text(&next()["eliminated"])).collect();
                out.sort_unstable();
                assert_eq!(sorted(named.names(entries)), out);
            }
            Decision::Filled(_) => tally.clear(),
        }
    }
    assert_eq!(expected.next(), None);
}

/// Who can be elected, by putting each of those who are tied for elimination last in the lot in turn.
fn every_outcome<'a>(named: &Named<'a>, input: &Value, out: &mut Vec<u32>, outcomes: &mut BTreeSet<Vec<&'a str>>) {
    let lot: Vec<u32> =
        (0..).take(named.0.len()).filter(|entry| !out.contains(entry)).chain(out.iter().rev().copied()).collect();
    let result = named.election(input, &lot).stv(count(&input["seats"]), TieRule::Lot);
    outcomes.insert(sorted(named.names(&result.elected)));
    let mut known = 0;
    for round in &result.rounds {
        let tied = round.tie.as_ref().map(|tie| tie.entries.clone()).unwrap_or_default();
        if tied.is_empty() {
            continue;
        }
        known += 1;
        if known > out.len() {
            for entry in tied {
                out.push(entry);
                every_outcome(named, input, out, outcomes);
                out.pop();
            }
            return;
        }
    }
}

fn meek(input: &Value, expected: &Value, tolerance: f64) {
    let named = Named::of(input);
    let unit = 10_f64.powi(i32::try_from(DECIMALS).unwrap());
    let omega = exact(&Value::from(input["omega"].as_f64().map_or(1_000.0, |omega| (omega * unit).round())));
    let result = named.election(input, &[]).meek(count(&input["seats"]), omega.to_integer().try_into().unwrap());
    let round = |number: &str| &result.rounds[number.parse::<usize>().unwrap() - 1];
    let votes = |votes: u128| float(&whole(votes)) / unit;
    for (member, expected) in members(expected) {
        match (member.as_str(), member.trim_start_matches("round").split_once('_')) {
            ("elected_in_order", _) => assert_eq!(named.names(&result.elected), texts(expected)),
            ("elected", _) => assert_eq!(sorted(named.names(&result.elected)), sorted(texts(expected))),
            ("defeated", _) => {
                let defeated = &result.ranking.entries()[result.elected.len()..];
                let from_the_last: Vec<&str> = named.names(defeated).into_iter().rev().collect();
                assert_eq!(from_the_last, texts(expected));
            }
            ("first_quota", _) => near(votes(round("1").quota), expected, tolerance),
            (_, Some((number, "quota"))) => near(votes(round(number).quota), expected, tolerance),
            (_, Some((number, "votes"))) => {
                for (name, expected) in members(expected) {
                    near(votes(round(number).votes[&named.index(name)]), expected, tolerance);
                }
            }
            (member, _) => unknown(member),
        }
    }
}

fn selection(input: &Value, expected: &Value) {
    let short = |member: &str| u16::try_from(number(&input[member])).unwrap();
    let hash = if list(expected).iter().all(|drawn| drawn.get("md5").is_some()) { Hash::Md5 } else { Hash::Sha256 };
    let drawn = draw::draw(text(&input["key"]), short("pool"), short("select"), hash);
    assert_eq!(drawn.len(), list(expected).len());
    for (index, (drawn, expected)) in drawn.iter().zip(list(expected)).enumerate() {
        for (member, expected) in members(expected) {
            match member.as_str() {
                "index" => assert_eq!(index as u64, number(expected)),
                "md5" | "sha256" => assert_eq!(drawn.hash, text(expected).to_uppercase()),
                "pool" => assert_eq!(u64::from(drawn.left), number(expected)),
                "selected" => assert_eq!(u64::from(drawn.selected), number(expected)),
                member => unknown(member),
            }
        }
    }
}

fn hash_chain(input: &Value, expected: &Value) {
    let mut links: Vec<Link> = Vec::new();
    for record in list(input) {
        let previous = links.last().map_or(chain::START, |link| &link.hash).to_owned();
        links.push(chain::link(members(record).clone(), &previous).unwrap());
    }
    assert_eq!(chain::first_broken(&links), None);
    for (member, expected) in members(expected) {
        match member.as_str() {
            "chain" => {
                let link = |link: &Value| Link {
                    record: members(&link["record"]).clone(),
                    hash: text(&link["hash"]).to_owned(),
                };
                assert_eq!(links, list(expected).iter().map(link).collect::<Vec<_>>());
            }
            "head" => assert_eq!(links.last().unwrap().hash, text(expected)),
            "tampered" => {
                let mut links = links.clone();
                tamper(&mut links, text(&expected["change"]));
                let broken = &links[chain::first_broken(&links).unwrap()];
                assert_eq!(broken.record["seq"], expected["first_bad_seq"]);
            }
            member => unknown(member),
        }
    }
}

/// Makes a change such as `record 1 values.impact 8 -> 9`.
fn tamper(links: &mut [Link], change: &str) {
    let words: Vec<&str> = change.split_whitespace().collect();
    let ["record", number, path, before, "->", after] = words[..] else { panic!("{change}: no such change") };
    let parse = |word: &str| serde_json::from_str(word).unwrap_or_else(|_| Value::from(word));
    let link = links.iter_mut().find(|link| link.record["seq"] == parse(number)).unwrap();
    let mut names = path.split('.');
    let member = names.next().and_then(|name| link.record.get_mut(name)).unwrap();
    let member = names.fold(member, |member, name| &mut member[name]);
    assert_eq!(*member, parse(before));
    *member = parse(after);
}
