//! What tests of set-up records share: reading them, a program made of them, and strategies for their members.

use std::fmt::Debug;
use std::sync::Arc;

use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Context, Program, Record, SetupRecord, store};
use kernel::kind::Kind;
use kernel::text::{Currency, LocalTime, Locale, Money, Points, Slug, Timestamp, Translated};

/// A slug of its own for each number below 676: a beginning and two letters.
pub(crate) fn numbered(beginning: &str, number: usize) -> String {
    let letters: Vec<char> = ('a'..='z').collect();
    format!("{beginning}{}{}", letters[number / letters.len()], letters[number % letters.len()])
}

/// An account with the languages English and German.
pub(crate) fn context() -> Context {
    Context {
        languages: vec![Locale::EnGb, Locale::DeDe],
        default_language: Locale::EnGb,
        now: Timestamp::from_seconds(1_000),
    }
}

/// Reads a record from the text of its members behind the slug.
pub(crate) fn read<T: SetupRecord>(slug: &str, members: &str) -> Result<T, String> {
    store::parse(&format!(r#"{{"slug":"{slug}",{members}}}"#), &context()).map_err(|error| error.to_string())
}

/// Fails unless what the record writes is read as the same record.
pub(crate) fn reads_back<T: SetupRecord + PartialEq + Debug>(record: &T) {
    let stored = store::stored(record);
    assert_eq!(&store::parse::<T>(&stored, &context()).unwrap(), record, "{stored}");
}

/// A program of these records: the kind, the slug and the members behind it.
pub(crate) fn program(records: &[(&str, &str, &str)]) -> Program {
    let account = store::parse(
        r#"{"slug":"AccountA","name":"Awards","languages":["en_GB","de_DE"],"timezone":"Europe/Berlin"}"#,
        &context(),
    );
    let mut program = Program::new(db::AccountId(1), 1, account.unwrap(), &Arc::from(""), context().now);
    for (kind, slug, members) in records {
        let doc = format!(r#"{{"slug":"{slug}",{members}}}"#);
        let row = Record { value: doc.as_str(), revision: 1, deleted: false };
        program.add(Kind::named(kind).unwrap(), &row).unwrap();
    }
    program.complete();
    program
}

/// A slug.
pub(crate) fn slug() -> impl Strategy<Value = Slug> {
    "[A-Za-z]{8}".prop_map(|text| Slug::parse(&text).unwrap())
}

/// A few slugs, each once.
pub(crate) fn slugs() -> impl Strategy<Value = Vec<Slug>> {
    vec(slug(), 0..4).prop_map(|mut slugs| {
        slugs.sort_unstable();
        slugs.dedup();
        slugs
    })
}

/// A line with what has to be escaped.
pub(crate) fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z \"\\\\ßü]{0,20}"
}

/// A translated map in the languages of the account.
pub(crate) fn translated() -> impl Strategy<Value = Translated> {
    (any::<(bool, bool)>(), text(), text()).prop_map(|((english, german), first, second)| {
        let mut map = Translated::default();
        if english {
            map.set(Locale::EnGb, first);
        }
        if german {
            map.set(Locale::DeDe, second);
        }
        map
    })
}

/// A time.
pub(crate) fn time() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_000_000_000_000_000).prop_map(Timestamp::from_microseconds)
}

/// A date and a time of day.
pub(crate) fn local_time() -> impl Strategy<Value = LocalTime> {
    (0_i64..4_000_000_000).prop_map(|seconds| LocalTime::of(Timestamp::from_seconds(seconds), &TimeZone::UTC))
}

/// A number of points within these bounds of ten-thousandths.
pub(crate) fn points(range: std::ops::Range<i64>) -> impl Strategy<Value = Points> {
    range.prop_map(|value| Points::from_ten_thousandths(value).unwrap())
}

/// Something or nothing.
pub(crate) fn maybe<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    (any::<bool>(), strategy).prop_map(|(is_there, value)| is_there.then_some(value))
}

/// One of the values of an enumeration.
pub(crate) fn choice<T: Copy + Debug + 'static>(choices: &'static [(&'static str, T)]) -> impl Strategy<Value = T> {
    (0..choices.len()).prop_map(|index| choices[index].1)
}

/// A few values of an enumeration, each once.
pub(crate) fn some_of<T: Copy + Debug + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl Strategy<Value = Vec<T>> {
    vec(any::<bool>(), choices.len()).prop_map(|chosen| {
        choices.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|((_, value), _)| *value).collect()
    })
}

/// Amounts, each in a currency of its own.
pub(crate) fn amounts() -> impl Strategy<Value = Vec<Money>> {
    let currencies = ["EUR", "JPY", "KWD", "USD"];
    vec(maybe(0_i64..1_000_000_000), currencies.len()).prop_map(move |amounts| {
        let amounts = currencies.iter().zip(amounts);
        amounts.filter_map(|(code, minor)| Some(Money::new(minor?, Currency::parse(code).unwrap()))).collect()
    })
}
