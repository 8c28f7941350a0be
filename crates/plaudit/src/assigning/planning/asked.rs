//! What is asked of a plan.

use crate::assigning::facts::EntryFacts;
use crate::assigning::rules;
use crate::program::{Program, choices};
use crate::records::assignments::LIST_LENGTH;
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

use super::{ENTRIES, JUDGES};

/// The most affinities of a plan.
const AFFINITIES: usize = 100_000;
/// The most judges of an entry.
const PER_ENTRY: i64 = 1_000;

choices! {
    /// How judges are chosen.
    pub enum Method {
        /// By chance, with even loads.
        Random "random",
        /// So that the sum of the affinities is the greatest.
        Affinity "affinity",
    }
}

/// Who is to judge.
#[derive(Clone, Debug)]
pub enum Whom {
    /// These.
    Judges(Vec<Slug>),
    /// Whoever has the role.
    Role(Slug),
}

/// Which entries of the score set's form are planned; all of them where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    category: Option<Slug>,
    chapter: Option<Slug>,
    tag: Option<String>,
}

impl Filter {
    /// Whether it selects an entry.
    pub fn selects(&self, entry: &EntryFacts) -> bool {
        self.category.is_none_or(|category| category == entry.category)
            && self.chapter.is_none_or(|chapter| chapter == entry.chapter)
            && self.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
    }
}

/// What is asked of a plan.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The score set.
    pub score_set: Slug,
    /// The entries; nothing where a filter selects them.
    pub entries: Option<Vec<Slug>>,
    /// What selects the entries.
    pub filter: Filter,
    /// Who is to judge.
    pub whom: Whom,
    /// How many judges an entry is to have.
    pub per_entry: usize,
    /// The fewest and the most entries of a judge.
    pub per_judge: (usize, usize),
    /// How judges are chosen.
    pub method: Method,
    /// How well judges suit entries.
    pub affinities: Vec<(Slug, Slug, i32)>,
    /// In which rounds is judged; none for every judging round of the form.
    pub rounds: Vec<Slug>,
    /// What chance follows.
    pub seed: u64,
}

impl Asked {
    /// Reads a body, and checks it against the program: what could be read in spite of what is wrong with it.
    pub fn read(body: &JsonObject<'_>, program: &Program) -> Result<(Self, Violations), Violations> {
        let mut members = Members::closed(body);
        let score_set = members.required("score_set", input::slug);
        let entries = members.optional("entries", input::slugs(ENTRIES));
        let filter = members.has("filter").then(|| members.object("filter", read_filter)).flatten();
        either(&mut members, "entries", "filter");
        let judges = members.optional("judges", input::slugs(JUDGES));
        let role = members.optional("role", input::slug);
        either(&mut members, "judges", "role");
        for (name, list) in [("entries", &entries), ("judges", &judges)] {
            if list.as_ref().is_some_and(Vec::is_empty) {
                members.fault(name, "must have at least 1 item");
            }
        }
        let per_entry = members.required("per_entry", input::integer(1..=PER_ENTRY));
        let per_judge = members.has("per_judge").then(|| members.object("per_judge", read_bounds)).flatten();
        let method = members.required("method", input::one_of(Method::CHOICES));
        let affinities = members.has("affinities").then(|| members.objects("affinities", AFFINITIES, read_affinity));
        let affinities: Vec<_> = affinities.flatten().into_iter().flatten().flatten().collect();
        if method == Some(Method::Random) && !affinities.is_empty() {
            members.fault("affinities", "are for the method affinity");
        }
        let rounds = members.optional("rounds", input::slugs(LIST_LENGTH));
        let seed = members.optional("seed", input::integer(0..=i64::MAX));
        let mut violations = members.finish();
        let set = score_set.and_then(|slug| rules::check_score_set(program, slug, &mut violations));
        if let Some(rounds) = &rounds {
            rules::check_rounds(program, rounds, set, &mut violations);
        }
        if let Some(role) = role
            && !program.roles.live(role).is_some_and(|role| role.kind.is_judging())
        {
            violations.add("role", format!("{role} is no judging role of the account"));
        }
        let of_filter = filter.iter();
        for category in of_filter.clone().filter_map(|filter| filter.category) {
            if program.categories.live(category).is_none() {
                violations.add("filter.category", format!("{category} is no category of the account"));
            }
        }
        for chapter in of_filter.filter_map(|filter| filter.chapter) {
            if program.chapters.live(chapter).is_none() {
                violations.add("filter.chapter", format!("{chapter} is no chapter of the account"));
            }
        }
        let whom = judges.map(Whom::Judges).or(role.map(Whom::Role));
        // What is wrong with the members that follow keeps nobody from being told of the entries and the judges.
        let (Some(score_set), Some(whom)) = (score_set, whom) else { return Err(violations) };
        let asked = Self {
            score_set,
            entries,
            filter: filter.unwrap_or_default(),
            whom,
            per_entry: per_entry.map_or(1, count),
            per_judge: per_judge.unwrap_or((0, usize::MAX)),
            method: method.unwrap_or(Method::Random),
            affinities,
            rounds: rounds.unwrap_or_default(),
            seed: seed.map_or(0, i64::unsigned_abs),
        };
        Ok((asked, violations))
    }
}

/// Exactly one of two members is there.
fn either(members: &mut Members<'_>, one: &str, other: &str) {
    match (members.has(one), members.has(other)) {
        (true, true) => members.fault(other, format!("cannot be given beside {one}")),
        (false, false) => members.fault(one, format!("is required where {other} is not given")),
        _ => {}
    }
}

fn read_filter(members: &mut Members<'_>) -> Filter {
    Filter {
        category: members.optional("category", input::slug),
        chapter: members.optional("chapter", input::slug),
        tag: members.optional("tag", input::filled_text(input::LINE_LENGTH)),
    }
}

fn read_bounds(members: &mut Members<'_>) -> (usize, usize) {
    let bound = input::integer(0..=i64::MAX);
    let least = members.optional("min", &bound).map_or(0, count);
    let most = members.nullable("max", &bound).flatten().map_or(usize::MAX, count);
    if least > most {
        members.fault("min", "must be at most max");
    }
    (least, most)
}

fn read_affinity(members: &mut Members<'_>) -> Option<(Slug, Slug, i32)> {
    let entry = members.required("entry", input::slug);
    let judge = members.required("judge", input::slug);
    let most = i64::from(planner::MAX_WEIGHT);
    let weight = members.required("weight", input::integer(-most..=most));
    Some((entry?, judge?, i32::try_from(weight?).ok()?))
}

fn count(integer: i64) -> usize {
    usize::try_from(integer).unwrap_or(usize::MAX)
}
