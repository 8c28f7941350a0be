//! What an entry becomes: made, changed, copied.
//!
//! - Everything that is wrong with the members of a body is told at once, what is wrong with them among the records that
//!   they name included. Only then the state of the entry is asked.
//! - A new entry is one in progress that has taken the steps to the status that it asks for at once. One that is made as
//!   `resubmission_required` has been handed in by nobody, so that nothing is asked of its answers.
//! - In a locked category nothing that an entrant gives changes, and nothing is handed in; managers go on to moderate,
//!   tag and grant.

use std::collections::BTreeMap;

use crate::program::categories::Category;
use crate::program::chapters;
use crate::program::fields::Field;
use crate::program::forms::{Form, FormType};
use crate::program::{Context, Program};
use crate::records::Refusal;
use crate::records::answers::Answers;
use crate::records::entries::given::{self, FieldScope};
use crate::records::entries::rules::answers::{self, EntryChildren};
use crate::records::entries::rules::body::Given;
use crate::records::entries::rules::status::{Step, step};
use crate::records::entries::rules::{check_not_destroyed, check_season, deadline, offered, screening, takes_another};
use crate::records::entries::{Entry, Moderation, NO_DEADLINE, Status};
use crate::records::review_tasks::{self, ReviewTask};
use kernel::input::Violations;
use kernel::json::Json;
use kernel::text::{Slug, Timestamp, Token};

/// What has to be known of other records that people make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Whether the entrant is a user who is not in the trash.
    pub(crate) has_entrant: bool,
    /// How many other entries the entrant has in the category.
    pub(crate) in_category: i64,
    /// How many entries each division of the category has.
    pub(crate) divisions: BTreeMap<i64, i64>,
    /// The review tasks of the entry, where it is about to be submitted.
    pub(crate) review_tasks: Vec<ReviewTask>,
    /// Whether its applicant writes.
    pub(crate) by_applicant: bool,
}

/// What a new entry is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) slug: Slug,
    pub(crate) local_id: i64,
    pub(crate) now: Timestamp,
}

/// The entry that a body makes, which was read with these violations.
pub(crate) fn create(
    program: &Program,
    (given, mut violations): (Given, Violations),
    facts: &Facts,
    identity: Identity,
) -> Result<Entry, Refusal> {
    if given.entrant.is_some() && !facts.has_entrant {
        violations.add("entrant", "is no user of the account");
    }
    let season = given.season.filter(|season| is_season_open(program, *season, &mut violations));
    // Of a season that there is not nothing more is said.
    let known_season = given.season.filter(|season| program.seasons.live(*season).is_some());
    let category = given.category.and_then(|category| open_category(program, category, &mut violations));
    if let (Some(category), Some(season)) = (category, known_season)
        && category.season != season
    {
        violations.add("category", "belongs to another season");
    }
    if let Some(category) = category
        && let Err(message) = takes_another(category, facts.in_category)
    {
        violations.add("category", message);
    }
    let form = form_of(program, given.form, (known_season, category), &mut violations);
    let chapter = chapter_of(program, given.chapter, (known_season, category), &mut violations);
    let place = FieldScope { form, category: category.map(|category| category.slug) };
    let empty = Answers::default();
    let entry_fields = match &given.entry_fields {
        Some(entry_fields) => given::given(program, place, &empty, entry_fields, &mut violations),
        None => empty,
    };
    let status = given.status.unwrap_or(Status::InProgress);
    let is_handed_in = status == Status::Submitted;
    if let (true, Some(form), Some(category)) = (is_handed_in, form, category) {
        let asked = (form, category.slug);
        let children = (&EntryChildren::default(), facts.by_applicant);
        answers::require(program, asked, &entry_fields, children, &mut violations);
    }
    let entry = (|| {
        Some(Entry {
            status,
            submitted: is_handed_in.then_some(identity.now),
            entry_fields,
            moderation_status: given.moderation_status.unwrap_or(Moderation::Undecided),
            custom_deadline: given.custom_deadline.clone().unwrap_or_else(|| NO_DEADLINE.to_owned()),
            division: screening::division(category?, &facts.divisions),
            grant_status: given.grant_status.clone().flatten(),
            grant_end_date: given.grant_end_date.flatten(),
            ..blank(
                program,
                identity,
                (given.title.clone()?, given.entrant?),
                [season?, form?, category?.slug, chapter?],
            )?
        })
    })();
    let Some(mut entry) = entry.filter(|_| violations.is_empty()) else { return Err(Refusal::Invalid(violations)) };
    if is_handed_in {
        check_open(program, &entry, identity.now)?;
        check_reviewed(program, &entry, &facts.review_tasks)?;
    }
    screening::set_eligibility(program, None, &mut entry, is_handed_in);
    Ok(entry)
}

/// An entry without anything of its own: in a season, a form, a category and a chapter.
fn blank(
    program: &Program,
    Identity { slug, local_id, now }: Identity,
    (title, entrant): (String, Slug),
    [season, form, category, chapter]: [Slug; 4],
) -> Option<Entry> {
    let context = Context { now, ..program.context.clone() };
    Entry::blank(slug, local_id, title, entrant, category, chapter, form, season, &context)
}

fn is_season_open(program: &Program, season: Slug, violations: &mut Violations) -> bool {
    match program.seasons.live(season) {
        None => violations.add("season", format!("{season} is no season of the account")),
        Some(found) if found.status.is_over() => violations.add("season", "is over"),
        Some(_) => return true,
    }
    false
}

/// A category that takes entries; otherwise why it does not.
fn open_category<'p>(program: &'p Program, category: Slug, violations: &mut Violations) -> Option<&'p Category> {
    let Some(found) = program.categories.live(category) else {
        violations.add("category", format!("{category} is no category of the account"));
        return None;
    };
    if found.status != chapters::Status::Active {
        violations.add("category", "is not active");
    }
    if found.locked {
        violations.add("category", "is locked");
    }
    Some(found)
}

/// The form of a new entry: the one that is named, the category's, or the first one for entries of the season. The season
/// and the category are `None` where they are not known, so that nothing follows from them.
fn form_of(
    program: &Program,
    named: Option<Slug>,
    (season, category): (Option<Slug>, Option<&Category>),
    violations: &mut Violations,
) -> Option<Slug> {
    let of_category = category.and_then(|category| category.form);
    let takes_entries = |form: &Form| {
        form.kind == FormType::Entry && !form.archived && form.season.is_none_or(|of| season.is_none_or(|is| is == of))
    };
    let Some(form) = named.or(of_category) else {
        let (Some(_), Some(_)) = (season, category) else { return None };
        let forms = program.forms.all_live().filter(|form| takes_entries(form));
        let first = forms.min_by_key(|form| (form.created, form.slug)).map(|form| form.slug);
        if first.is_none() {
            violations.add("form", "is required, because neither the category nor the season has one");
        }
        return first;
    };
    let Some(found) = program.forms.live(form) else {
        violations.add("form", format!("{form} is no form of the account"));
        return None;
    };
    if let (Some(named), Some(of_category)) = (named, of_category)
        && named != of_category
    {
        violations.add("form", format!("is not the form of the category, which is {of_category}"));
    }
    if !takes_entries(found) {
        violations.add("form", "takes no entries in the season");
    }
    Some(form)
}

/// The chapter of a new entry: the one that is named, or the first of the season that is active and offers the category.
fn chapter_of(
    program: &Program,
    named: Option<Slug>,
    (season, category): (Option<Slug>, Option<&Category>),
    violations: &mut Violations,
) -> Option<Slug> {
    if let Some(chapter) = named {
        violations.append(offered(program.chapters.live(chapter), season, category, chapter));
        return Some(chapter);
    }
    let (season, category) = (season?, category?);
    let chapters = program.chapters.all_live().filter(|chapter| chapter.season == season);
    let open = chapters.filter(|chapter| chapter.status == chapters::Status::Active && category.offers(chapter.slug));
    let first = open.min_by_key(|chapter| (chapter.created, chapter.slug)).map(|chapter| chapter.slug);
    if first.is_none() {
        violations.add("chapter", "is required, because no active chapter of the season offers the category");
    }
    first
}

/// The entry after a body that was read with these violations. `facts` are those of the entrant and the category that the
/// entry has then.
pub(crate) fn update(
    program: &Program,
    before: &Entry,
    (given, mut violations): (Given, Violations),
    facts: &Facts,
    entry_children: &EntryChildren,
    now: Timestamp,
) -> Result<Entry, Refusal> {
    let mut entry = before.clone();
    if let Some(entrant) = given.entrant.filter(|entrant| *entrant != before.entrant) {
        entry.entrant = entrant;
        if !facts.has_entrant {
            violations.add("entrant", "is no user of the account");
        }
    }
    relocate(program, before, &mut entry, &given, facts, &mut violations);
    if let Some(given) = &given.entry_fields {
        let place = FieldScope { form: Some(entry.form), category: Some(entry.category) };
        entry.entry_fields = given::given(program, place, &before.entry_fields, given, &mut violations);
    }
    entry.title = given.title.unwrap_or(entry.title);
    entry.moderation_status = given.moderation_status.unwrap_or(entry.moderation_status);
    entry.custom_deadline = given.custom_deadline.unwrap_or(entry.custom_deadline);
    entry.grant_status = given.grant_status.unwrap_or(entry.grant_status);
    entry.grant_end_date = given.grant_end_date.unwrap_or(entry.grant_end_date);
    let to = given.status.unwrap_or(before.status);
    let taken = step(before.status, to);
    let is_handed_in = taken.is_some_and(Step::hands_in);
    if is_handed_in {
        let asked = (entry.form, entry.category);
        let children = (entry_children, facts.by_applicant);
        answers::require(program, asked, &entry.entry_fields, children, &mut violations);
    }
    if !violations.is_empty() {
        return Err(Refusal::Invalid(violations));
    }
    if let Err(refusal) = check_season(program, before.season) {
        check_not_destroyed(program, before.season)?;
        if to != before.status || !is_open_after_archiving(before, &entry) {
            return Err(refusal);
        }
    }
    check_lock(program, before, &entry, is_handed_in)?;
    if let Some(taken) = taken {
        if taken == Step::Submit {
            check_open(program, &entry, now)?;
            check_reviewed(program, &entry, &facts.review_tasks)?;
        }
        entry.status = to;
        entry.submitted = taken.submitted(before.submitted, now);
    } else if to != before.status {
        return Err(Refusal::State(format!("An entry that is {} cannot become {to}.", before.status)));
    }
    screening::set_eligibility(program, Some(before), &mut entry, is_handed_in);
    Ok(entry)
}

/// Whether nothing changes but what can change of an entry of an archived season.
fn is_open_after_archiving(before: &Entry, after: &Entry) -> bool {
    let Entry { title, moderation_status, grant_status, grant_end_date, .. } = after.clone();
    *after == Entry { title, moderation_status, grant_status, grant_end_date, ..before.clone() }
}

/// The entry with a file as the answer to a field; everything that was wrong with the file is in `violations`.
pub(crate) fn give_file(
    program: &Program,
    before: &Entry,
    (field, token): (Slug, &Token),
    violations: Violations,
) -> Result<Entry, Refusal> {
    if !violations.is_empty() {
        return Err(Refusal::Invalid(violations));
    }
    let mut entry = before.clone();
    entry.entry_fields.set(field, Some(Json::String(token.as_str().to_owned().into())));
    check_season(program, before.season)?;
    check_lock(program, before, &entry, false)?;
    screening::set_eligibility(program, Some(before), &mut entry, false);
    Ok(entry)
}

/// Puts an entry into the category and the chapter that a body names.
fn relocate(
    program: &Program,
    before: &Entry,
    entry: &mut Entry,
    given: &Given,
    facts: &Facts,
    violations: &mut Violations,
) {
    let mut place = program.categories.any(before.category);
    if let Some(category) = given.category.filter(|category| *category != before.category)
        && let Some(found) = open_category(program, category, violations)
    {
        place = Some(found);
        entry.category = category;
        entry.division = screening::division(found, &facts.divisions);
        if found.season != before.season {
            violations.add("category", "belongs to another season than the entry");
        }
        if found.form.is_some_and(|form| form != before.form) {
            violations.add("category", "is on another form than the entry");
        }
        if given.chapter.is_none() && !found.offers(before.chapter) {
            violations.add("category", "is not offered in the chapter of the entry");
        }
    }
    let is_other_category = entry.category != before.category;
    if let Some(chapter) = given.chapter {
        entry.chapter = chapter;
        if is_other_category || chapter != before.chapter {
            violations.append(offered(program.chapters.live(chapter), Some(before.season), place, chapter));
        }
    }
    if let Some(place) = place
        && (is_other_category || entry.entrant != before.entrant)
        && let Err(message) = takes_another(place, facts.in_category)
    {
        violations.add("category", message);
    }
}

/// Refuses to change in a locked category what an entrant gives.
fn check_lock(program: &Program, before: &Entry, after: &Entry, is_handed_in: bool) -> Result<(), Refusal> {
    fn own(entry: &Entry) -> (&str, &Answers, [Slug; 3]) {
        (&entry.title, &entry.entry_fields, [entry.category, entry.chapter, entry.entrant])
    }
    if own(before) == own(after) && !is_handed_in {
        return Ok(());
    }
    crate::records::entries::rules::check_unlocked(program, before.category)
}

/// Refuses to submit an entry too early or too late.
fn check_open(program: &Program, entry: &Entry, now: Timestamp) -> Result<(), Refusal> {
    let Entry { season, form, chapter, .. } = *entry;
    let place = deadline::DeadlineScope { season, form, chapter, custom_deadline: &entry.custom_deadline };
    if deadline::is_open(program, place, now) {
        return Ok(());
    }
    let message = "The entry cannot be submitted now: no entry round is open for it, and it has no custom deadline in \
                   the future.";
    Err(Refusal::State(message.to_owned()))
}

/// Refuses to submit an entry while a review stage has not agreed that has to before.
fn check_reviewed(program: &Program, entry: &Entry, tasks: &[ReviewTask]) -> Result<(), Refusal> {
    let Some(stage) = review_tasks::rules::missing(program, entry.place(), tasks) else { return Ok(()) };
    let message =
        format!("The entry cannot be submitted yet: the review stage {} has not ended with proceed.", stage.slug);
    Err(Refusal::State(message))
}

/// The copy of an entry: in progress, with its title and its answers. Files stay with the first one.
pub(crate) fn copy(program: &Program, entry: &Entry, facts: &Facts, identity: Identity) -> Result<Entry, Refusal> {
    let mut violations = Violations::default();
    let category = open_category(program, entry.category, &mut violations);
    violations.append(offered(program.chapters.live(entry.chapter), Some(entry.season), category, entry.chapter));
    form_of(program, Some(entry.form), (Some(entry.season), category), &mut violations);
    if !facts.has_entrant {
        violations.add("entrant", "is in the trash");
    }
    if let Some(category) = category
        && let Err(message) = takes_another(category, facts.in_category)
    {
        violations.add("category", message);
    }
    check_season(program, entry.season)?;
    if let Some((member, message)) = violations.iter().next() {
        return Err(Refusal::State(format!("The entry cannot be copied: its {member} {message}.")));
    }
    let places = [entry.season, entry.form, entry.category, entry.chapter];
    let blank = blank(program, identity, (entry.title.clone(), entry.entrant), places);
    let mut copy = Entry {
        entry_fields: without_files(program, &entry.entry_fields),
        division: category.and_then(|category| screening::division(category, &facts.divisions)),
        ..blank.ok_or_else(|| Refusal::Failed("an entry cannot be made".to_owned()))?
    };
    screening::set_eligibility(program, None, &mut copy, false);
    Ok(copy)
}

/// The answers that are no files.
pub(crate) fn without_files(program: &Program, answers: &Answers) -> Answers {
    let is_file = |field: Slug| program.fields.any(field).is_some_and(Field::is_file);
    let mut kept = answers.clone();
    for (field, _) in answers.iter().filter(|(field, _)| is_file(*field)) {
        kept.set(field, None);
    }
    kept
}

#[cfg(test)]
mod tests;
