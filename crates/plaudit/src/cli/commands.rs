//! The commands that the demonstration prints, about records that are there.

use std::fmt::Write as _;

use serde_json::json;

use super::store;
use crate::program::chapters::{Chapter, Status};
use crate::program::fields::{self, Field};
use crate::program::score_sets::{Mode, ScoreSet};
use crate::program::{Program, SetupRecord as _};
use crate::records::assignments::{self, AssignmentSlug};
use db::{DbError, Tx};
use kernel::text::{Slug, Translated};

/// How many entries are looked at for one that can move.
const LOOKED_AT: i64 = 1_000;

/// What the printed command adds to a chapter's name, once.
const ADDED: &str = " and islands";

/// What the commands are about.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// An entry, and a chapter that it can move to.
    moving: Option<(Slug, Slug)>,
    /// A chapter to change, and its new name.
    chapter: Option<(Slug, Translated)>,
    /// A chapter to delete, and its name.
    spare_chapter: Option<(Slug, String)>,
    /// A field to delete, and its title.
    spare_field: Option<(Slug, String)>,
    /// The score sets that have leaderboards, with their names.
    boards: Vec<(Slug, String)>,
    /// The key of a judge, with an open sheet where there is one.
    judge: Option<(String, Option<AssignmentSlug>)>,
}

/// Chooses from what the account has.
pub(super) async fn targets(tx: &mut Tx, program: &Program, judge: Option<(Slug, String)>) -> Result<Targets, DbError> {
    let Some(season) = program.active_season() else { return Ok(Targets::default()) };
    let mut boards: Vec<&ScoreSet> =
        program.score_sets.all_live().filter(|set| set.season == season.slug && set.mode() != Mode::Gallery).collect();
    boards.sort_by_key(|set| (set.order, set.slug));
    let judge = match judge {
        Some((judge, key)) => {
            let of = boards.iter().find(|set| set.mode() == Mode::Qualifying).map(|set| (judge, set.slug));
            let open = match of {
                Some(of) => assignments::store::open_of_judge(tx, program.id, of, ("", 1)).await?.first().copied(),
                None => None,
            };
            Some((key, open))
        }
        None => None,
    };
    let found = store::entries_of_season(tx, program.id, season.slug, LOOKED_AT).await?;
    let open = |chapter: &&Chapter| chapter.season == season.slug && chapter.status == Status::Active;
    let moving = found.iter().find_map(|[entry, category, chapter]| {
        let category = program.categories.any(*category)?;
        let mut others = program.chapters.all_live().filter(open);
        let other = others.find(|other| other.slug != *chapter && category.offers(other.slug))?;
        Some((*entry, *chapter, other.slug))
    });
    let kept = moving.map_or([None; 2], |(_, from, to)| [Some(from), Some(to)]);
    let chapter =
        kept[0].and_then(|slug| program.chapters.live(slug)).or_else(|| program.chapters.all_live().find(open));
    let is_kept = |chapter: &&Chapter| kept.contains(&Some(chapter.slug));
    let spare = program.chapters.all_live().filter(|chapter| !is_kept(chapter));
    // Inactive ones first, then those of other seasons, so that entries can go on moving.
    let spare_chapter = spare.min_by_key(|chapter| (chapter.status == Status::Active, chapter.season == season.slug));
    let spare = program.fields.all_live().filter(|field| fields::trash(program, field.slug).is_ok());
    // Later fields first: what a form asks for at its end is missed least.
    let spare_field = spare.max_by_key(|field: &&Field| (field.tab.is_some(), field.order, field.slug));
    Ok(Targets {
        moving: moving.map(|(entry, _, to)| (entry, to)),
        chapter: chapter.map(|chapter| (chapter.slug, new_name(program, &chapter.name))),
        spare_chapter: spare_chapter.map(|chapter| (chapter.slug, name(program, &chapter.name))),
        spare_field: spare_field
            .map(|field| (field.slug, field.name().map_or(String::new(), |title| name(program, title)))),
        boards: boards.into_iter().map(|set| (set.slug, name(program, &set.name))).collect(),
        judge,
    })
}

/// The name with something added, in the default language; the others keep theirs.
fn new_name(program: &Program, before: &Translated) -> Translated {
    let before = name(program, before);
    let after = format!("{}{ADDED}", before.strip_suffix(ADDED).unwrap_or(&before));
    Translated::of(program.account.default_language, after)
}

fn name(program: &Program, name: &Translated) -> String {
    name.in_locale(program.account.default_language).to_owned()
}

/// The text with all commands, each on one line.
pub(super) fn text(address: &str, read: &str, read_write: &str, targets: &Targets) -> String {
    let media = "Accept: application/vnd.service.v2.3";
    let read = format!("-H '{media}+json' -H 'x-api-key: {read}'");
    let xml = read.replace("+json", "+xml");
    let write = format!("-H '{media}+json' -H 'x-api-key: {read_write}'");
    let body = "-H 'Content-Type: application/json' -d";
    let mut text = String::from("Commands to copy, one after the other:\n");
    let mut add = |about: &str, command: String| {
        let _ = write!(text, "\n  {about}:\n  {command}\n");
    };
    add("The orders of the active season", format!("curl {read} '{address}/order?per_page=2'"));
    add(
        "What is not paid yet, of all seasons, in XML and in every language",
        format!("curl {xml} -H 'x-api-language: all' '{address}/order?season=all&status=awaiting_payment&per_page=2'"),
    );
    for (score_set, name) in &targets.boards {
        let command = format!("curl {read} '{address}/leaderboard?score_set={score_set}&order=rank'");
        add(&format!("The leaderboard of \"{name}\""), command);
    }
    if let Some((key, open)) = &targets.judge {
        let judge = format!("-H '{media}+json' -H 'x-api-key: {key}'");
        add("What a judge has to judge", format!("curl {judge} '{address}/assignment?per_page=2'"));
        if let Some(sheet) = open {
            let wish = json!({"decision": "pass"});
            let command = format!("curl -X PUT {judge} {body} '{wish}' {address}/assignment/{sheet}/score");
            add("Judge an entry, as that judge", command);
        }
    }
    if let Some((entry, chapter)) = targets.moving {
        let wish = json!({"chapter": chapter});
        let command = format!("curl -X PUT {write} {body} '{wish}' {address}/entry/{entry}/update-chapter");
        add("Move an entry to another chapter", command);
    }
    if let Some((chapter, name)) = &targets.chapter {
        let names: serde_json::Map<_, _> =
            name.iter().map(|(locale, text)| (locale.to_string(), json!(text))).collect();
        // A name may hold an apostrophe, which would end the shell's quotation.
        let wish = json!({"translated": {"name": names}}).to_string().replace('\'', "\\u0027");
        let command =
            format!("curl -X PUT {write} -H 'x-api-language: all' {body} '{wish}' {address}/chapter/{chapter}");
        add("Give a chapter another name, and see it in every language", command);
    }
    if let Some((field, title)) = &targets.spare_field {
        let about = format!("Move the field \"{title}\" to the trash (works once, 404 when repeated)");
        add(&about, format!("curl -i -X DELETE {write} {address}/field/{field}"));
    }
    if let Some((chapter, name)) = &targets.spare_chapter {
        let about = format!("Delete the chapter \"{name}\" (works once, 404 when repeated)");
        add(&about, format!("curl -i -X DELETE {write} {address}/chapter/{chapter}"));
    }
    text.push_str("\nCtrl-C stops it; run again, it goes on. Without ./plaudit-demo it begins anew.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::text::Locale;

    #[test]
    fn commands_are_about_what_there_is() {
        let slug = |text| Slug::parse(text).unwrap();
        let targets = Targets {
            moving: Some((slug("EntryAAA"), slug("ChapterA"))),
            chapter: Some((slug("ChapterB"), Translated::of(Locale::EnGb, "King's Road"))),
            spare_chapter: Some((slug("ChapterC"), "East".to_owned())),
            spare_field: Some((slug("FieldAAA"), "Topics".to_owned())),
            boards: vec![(slug("ScoreAAA"), "Final".to_owned())],
            judge: Some(("plaudit_j".to_owned(), AssignmentSlug::parse("EntryAAAUserAAAAScoreAAAJ"))),
        };
        let commands = |targets: &Targets| {
            let text = text("http://127.0.0.1:1", "plaudit_r", "plaudit_w", targets);
            text.lines().filter(|line| line.trim().starts_with("curl ")).map(str::to_owned).collect::<Vec<_>>()
        };
        let all = commands(&targets);
        assert_eq!(all.len(), 9);
        assert!(all[2].contains("/leaderboard?score_set=ScoreAAA") && all[3].contains("plaudit_j"));
        assert!(all[4].contains("/assignment/EntryAAAUserAAAAScoreAAAJ/score"));
        assert!(all[5].contains("/entry/EntryAAA/update-chapter") && all[5].contains("plaudit_w"));
        assert!(all[6].contains(r"King\u0027s Road"));
        assert_eq!(commands(&Targets::default()).len(), 2);
    }
}
