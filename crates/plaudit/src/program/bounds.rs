//! How many records an account may set up: its snapshot holds them all, and a check goes through them. And how many of
//! one kind may follow one another, each named by the next: conditions of fields, parents of categories.

use std::collections::BTreeMap;

use super::{InProgram, Program, Records, SetupRecord, for_setup_kind, webhooks};
use kernel::kind::Kind;
use kernel::text::Slug;

/// The most set-up records of an account, those in the trash included.
pub const RECORDS: usize = 50_000;
/// The most records of a kind that one record owns, such as the fields of a tab, those in the trash included.
pub const OWNED: usize = 5_000;

/// The most records of a kind that follow one another behind the first, each naming the one before it.
pub const CHAIN: usize = 50;

/// What a record names of its own kind.
type Names<T> = fn(&T) -> Option<Slug>;

/// The records that one leads to: the one that it names, the one that that one names, and so on. They are as many as may be
/// and one more at the most, so that a stored circle has an end.
pub(super) fn followed<'r, T>(records: &'r Records<T>, of: &'r T, names: Names<T>) -> impl Iterator<Item = &'r T> {
    let next = move |record: &&'r T| records.any(names(record)?);
    std::iter::successors(Some(of), next).skip(1).take(CHAIN + 1)
}

/// How many records follow one another at the most, of which the first names this one.
pub(super) fn followers<T: SetupRecord>(records: &Records<T>, slug: Slug, names: Names<T>) -> usize {
    let distance = |record| followed(records, record, names).position(|followed| followed.slug() == slug);
    records.all_live().filter_map(distance).max().map_or(0, |distance| distance + 1)
}

/// The most records of a kind that an account has outside the trash, where there is such a bound.
fn most_of(kind: Kind) -> Option<usize> {
    (kind == Kind::Webhook).then_some(webhooks::WEBHOOKS)
}

/// How many set-up records an account has, those in the trash included.
pub fn count(program: &Program) -> usize {
    Kind::ALL.into_iter().filter_map(|kind| for_setup_kind!(kind, T => T::records(program).len())).sum()
}

/// The owner of a record, where its kind has one.
fn owner<T: InProgram>(value: &T) -> Option<Slug> {
    let owner = T::KIND.owner()?;
    value.references().into_iter().find_map(|(_, kind, slug)| (kind == owner).then_some(slug))
}

/// How many records of a kind each owner has, those in the trash included.
fn owned<T: InProgram>(program: &Program) -> BTreeMap<Slug, usize> {
    let mut counts = BTreeMap::new();
    for owner in T::records(program).all().filter_map(|record| owner(&record.value)) {
        *counts.entry(owner).or_default() += 1;
    }
    counts
}

/// Whether there is room for a record that is new or changed: why not, in a sentence.
pub fn check<T: InProgram>(program: &Program, before: Option<&T>, after: &T) -> Result<(), String> {
    if before.is_none() && count(program) >= RECORDS {
        return Err(format!(
            "The account has {RECORDS} set-up records, the most that it may; those in the trash count."
        ));
    }
    if let Some(most) =
        most_of(T::KIND).filter(|most| before.is_none() && T::records(program).all_live().count() >= *most)
    {
        return Err(format!("The account has {most} {}, the most that it may.", T::KIND.plural()));
    }
    let Some(new) = owner(after).filter(|new| before.and_then(owner) != Some(*new)) else { return Ok(()) };
    if owned::<T>(program).get(&new).is_some_and(|count| *count >= OWNED) {
        let (kind, of) = (T::KIND.plural(), T::KIND.owner().map_or("", Kind::words));
        return Err(format!("The {of} {new} has {OWNED} {kind}, the most that it may; those in the trash count."));
    }
    Ok(())
}

/// The kinds of which an account has too many records outside the trash, how many, and how many it may.
pub fn beyond(program: &Program) -> Vec<(Kind, usize, usize)> {
    let of = |kind: Kind| {
        let most = most_of(kind)?;
        let count = for_setup_kind!(kind, T => T::records(program).all_live().count())?;
        (count > most).then_some((kind, count, most))
    };
    Kind::ALL.into_iter().filter_map(of).collect()
}

/// The owners that have too many records of a kind: their kind and slug, the kind that they own and how many.
pub fn crowded(program: &Program) -> Vec<(Kind, Slug, Kind, usize)> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let Some(owner) = kind.owner() else { continue };
        let counts = for_setup_kind!(kind, T => owned::<T>(program)).unwrap_or_default();
        found.extend(
            counts.into_iter().filter(|(_, count)| *count > OWNED).map(|(slug, count)| (owner, slug, kind, count)),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::criteria::Criterion;
    use crate::program::seasons::Season;
    use crate::program::{Record, testing};

    fn numbered(number: usize) -> Slug {
        let digit = |place: u32| b'a' + u8::try_from(number / 26_usize.pow(place) % 26).unwrap();
        Slug::from_letters([b'R', b'e', b'c', b'o', digit(3), digit(2), digit(1), digit(0)]).unwrap()
    }

    #[test]
    fn an_account_has_room_for_so_many_records_with_those_in_the_trash() {
        let mut program = testing::program(&[]);
        let season: Season = testing::read("SeasonAA", r#""name":{"en_GB":"2026"},"status":"draft""#).unwrap();
        assert_eq!(check(&program, None, &season), Ok(()));
        for number in 0..RECORDS {
            let value = Season { slug: numbered(number), ..season.clone() };
            program.seasons.insert(value.slug, Record { value, revision: 1, deleted: number % 2 == 0 });
        }
        assert_eq!(count(&program), RECORDS);
        assert!(check(&program, None, &season).unwrap_err().starts_with("The account has 50000 set-up records"));
        assert_eq!(check(&program, Some(&season), &season), Ok(()), "what is there can be changed");
    }

    #[test]
    fn an_owner_has_room_for_so_many_records_of_a_kind() {
        let mut program = testing::program(&[]);
        let members = r#""score_set":"ScoreAAA","name":{"en_GB":"Idea"},"maximum":10"#;
        let criterion: Criterion = testing::read("CriterAA", members).unwrap();
        let other = Criterion { score_set: Slug::parse("ScoreBBB").unwrap(), ..criterion.clone() };
        for number in 0..OWNED {
            let value = Criterion { slug: numbered(number), ..criterion.clone() };
            program.criteria.insert(value.slug(), Record { value, revision: 1, deleted: number % 2 == 0 });
        }
        let message = "The score set ScoreAAA has 5000 criteria, the most that it may; those in the trash count.";
        assert_eq!(check(&program, None, &criterion), Err(message.to_owned()));
        assert_eq!(check(&program, Some(&other), &criterion), Err(message.to_owned()), "nor for one of another owner");
        assert_eq!(check(&program, Some(&criterion), &criterion), Ok(()));
        assert_eq!((check(&program, None, &other), crowded(&program)), (Ok(()), Vec::new()));
        program.criteria.insert(criterion.slug(), Record { value: criterion, revision: 1, deleted: false });
        let score_set = Slug::parse("ScoreAAA").unwrap();
        assert_eq!(crowded(&program), [(Kind::ScoreSet, score_set, Kind::Criterion, OWNED + 1)]);
    }
}
