use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::program::store;
use crate::program::testing::{self, read};
use kernel::text::Rate;

fn score_set(members: &str) -> Result<ScoreSet, String> {
    read("ScoreAAA", &format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"One"}},{members}"#))
}

#[test]
fn what_is_left_out_has_its_default() {
    let set = score_set(r#""mode":"vip_judging""#).unwrap();
    let Rules::VipJudging(rules) = set.rules else { panic!("{:?}", set.rules) };
    assert_eq!((rules.aggregation, rules.trim, rules.min_kept), (Aggregation::Sum, Rate::ZERO, 1));
    assert_eq!(rules.sheets, Sheets::CompleteOnly);
    assert_eq!((set.min_judges, set.conflicts, set.places), (1, Conflicts::LeftOut, Places::Competition));
    let stored = store::stored(&set);
    let part =
        r#""mode":"vip_judging","vip_judging":{"aggregation":"sum","sheets":"complete_only","trim":0,"min_kept":1}"#;
    assert!(stored.contains(part), "{stored}");
    assert_eq!(score_set(r#""mode":"gallery""#).unwrap().mode(), Mode::Gallery);
}

#[test]
fn what_is_particular_to_a_mode_is_read() {
    let set = score_set(r#""mode":"qualifying","qualifying":{"share":60}"#).unwrap();
    let expected = Qualifying { responses_needed: 1, share: 60, unsure_allowed: true };
    assert_eq!(set.rules, Rules::Qualifying(expected));
    let set = score_set(r#""mode":"voting","voting":{"votes_per_voter":5,"reset":"daily"}"#).unwrap();
    let expected =
        Voting { votes_per_voter: Some(5), votes_per_entry: None, votes_per_category: None, reset: Reset::Daily };
    assert_eq!(set.rules, Rules::Voting(expected));
}

#[test]
fn what_is_no_score_set_is_named() {
    for (wrong, member) in [
        (r#""order":1"#, "mode"),
        (r#""mode":"scoring""#, "mode"),
        (r#""mode":"qualifying","voting":{}"#, "is for a score set of the mode voting"),
        (r#""mode":"gallery","gallery":{}"#, "gallery"),
        (r#""mode":"qualifying","qualifying":{"share":101}"#, "qualifying.share"),
        (r#""mode":"qualifying","qualifying":{"shares":1}"#, "qualifying.shares"),
        (r#""mode":"qualifying","qualifying":[]"#, "qualifying"),
        (r#""mode":"vip_judging","vip_judging":{"trim":50}"#, "vip_judging.trim"),
        (r#""mode":"top_pick","top_pick":{"method":"plurality"}"#, "top_pick.method"),
        (r#""mode":"voting","voting":{"votes_per_entry":0}"#, "voting.votes_per_entry"),
        (r#""mode":"voting","tie_break":[{"by":"median"}]"#, "tie_break.1.by"),
        (r#""mode":"vip_judging","tie_break":[{"by":"criterion"}]"#, "tie_break.1.criterion"),
        (r#""mode":"vip_judging","tie_break":[{"by":"median","judge":"UserAAAA"}]"#, "tie_break.1.judge"),
        (r#""mode":"vip_judging","tie_break":[{"by":"median"},{"by":"median"}]"#, "twice"),
    ] {
        let error = score_set(wrong).unwrap_err();
        assert!(error.contains(member), "{error}");
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let count = || 1_i64..=COUNT;
    let votes = || testing::maybe(1_i64..=COUNT);
    let qualifying = (count(), 1_i64..=100, any::<bool>()).prop_map(|(responses_needed, share, unsure_allowed)| {
        Rules::Qualifying(Qualifying { responses_needed, share, unsure_allowed })
    });
    let top_pick = (1_i64..=100, count(), testing::choice(RankMethod::CHOICES))
        .prop_map(|(preferences, winners, method)| Rules::TopPick(TopPick { preferences, winners, method }));
    let (aggregation, incomplete) = (testing::choice(Aggregation::CHOICES), testing::choice(Sheets::CHOICES));
    let vip_judging =
        (aggregation, incomplete, 0_i64..500_000, count()).prop_map(|(aggregation, sheets, trim, kept)| {
            let trim = Rate::from_ten_thousandths(trim).unwrap();
            Rules::VipJudging(VipJudging { aggregation, sheets, trim, min_kept: kept })
        });
    let voting =
        (votes(), votes(), votes(), testing::choice(Reset::CHOICES)).prop_map(|(voter, entry, category, reset)| {
            Rules::Voting(Voting {
                votes_per_voter: voter,
                votes_per_entry: entry,
                votes_per_category: category,
                reset,
            })
        });
    prop_oneof![qualifying, top_pick, vip_judging, voting, Just(Rules::Gallery)]
}

/// Steps that the mode has, each once.
fn steps(mode: Mode) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        testing::slug().prop_map(Step::Criterion),
        Just(Step::Median),
        Just(Step::FirstPlaces),
        Just(Step::HeadToHead),
        testing::slug().prop_map(Step::CastingVote),
        "[a-z]{1,20}".prop_map(Step::Lot),
    ];
    vec(step, 0..6).prop_map(move |steps| {
        let mut kept: Vec<Step> = Vec::new();
        for step in steps.into_iter().filter(|step| Step::is_for(step.by(), mode)) {
            if !kept.contains(&step) {
                kept.push(step);
            }
        }
        kept
    })
}

proptest! {
    #[test]
    fn read_of_write_is_the_same(
        (slug, season, form) in (testing::slug(), testing::slug(), testing::slug()),
        name in testing::translated(),
        (rules, tie_break) in rules().prop_flat_map(|rules| (Just(rules), steps(rules.mode()))),
        (order, cut_line) in (testing::maybe(0_i64..=COUNT), testing::maybe(1_i64..=COUNT)),
        (archived, min_judges) in (any::<bool>(), 1_i64..=COUNT),
        conflicts in testing::choice(Conflicts::CHOICES),
        places in testing::choice(Places::CHOICES),
        ties_at_cut in testing::choice(TiesAtCut::CHOICES),
        (others_scores, others_comments) in (testing::choice(Others::CHOICES), testing::choice(Others::CHOICES)),
        (names_of_judges, entrants) in (any::<bool>(), any::<bool>()),
        organisation_field in testing::maybe(testing::slug()),
        (created, updated) in (testing::time(), testing::time()),
    ) {
        testing::reads_back(&ScoreSet {
            slug, season, form, name, rules, order, archived, min_judges, conflicts, places, tie_break, cut_line,
            ties_at_cut, shows: Shows { others_scores, others_comments, names_of_judges, entrants }, organisation_field,
            created, updated,
        });
    }
}
