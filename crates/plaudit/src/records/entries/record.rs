//! The program-file form of an entry.

use crate::program::{Context, Identified, Program, RecordMembers, SetupRecord};
use crate::records::answers::Answers;
use crate::records::entries::{
    COMMENTS_LENGTH, Counts, Eligibility, Entry, Moderation, NO_DEADLINE, NOT_SCANNED, Payment, STATUS_LENGTH, Status,
    TITLE_LENGTH, rules,
};
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::kind::Kind;
use kernel::text::{Date, Slug};

/// The highest number that an entry can be given: what every reader of JSON has exactly (RFC 8259, section 6), with room
/// for those that follow it.
const HIGHEST_LOCAL_ID: i64 = (1 << 53) - 1;

fn number(json: &Json) -> Result<String, String> {
    match json {
        Json::Number(text) => Ok(text.clone().into_owned()),
        _ => Err("must be a number".to_owned()),
    }
}

/// The members that say where an entry stands.
struct Standing {
    status: Status,
    custom_deadline: String,
    division: Option<i64>,
    eligibility_status: Eligibility,
    moderation_status: Moderation,
    payment_status: Payment,
    plagiarism_scan_status: String,
    review_status: String,
    grant_status: Option<String>,
    grant_end_date: Option<Date>,
}

impl Standing {
    fn read(members: &mut Members<'_>) -> Self {
        let free = || input::text(STATUS_LENGTH);
        let status = members.optional("status", input::one_of(Status::CHOICES));
        let custom_deadline = members.optional("custom_deadline", rules::deadline::read);
        let division = members.nullable("division", input::integer(1..=i64::MAX));
        let eligibility_status = members.optional("eligibility_status", input::one_of(Eligibility::CHOICES));
        let moderation_status = members.optional("moderation_status", input::one_of(Moderation::CHOICES));
        let payment_status = members.optional("payment_status", input::one_of(Payment::CHOICES));
        let plagiarism_scan_status = members.optional("plagiarism_scan_status", free());
        let review_status = members.optional("review_status", free());
        let grant_status = members.nullable("grant_status", free());
        let grant_end_date = members.nullable("grant_end_date", input::date);
        Self {
            status: status.unwrap_or(Status::InProgress),
            custom_deadline: custom_deadline.unwrap_or_else(|| NO_DEADLINE.to_owned()),
            division: division.flatten(),
            eligibility_status: eligibility_status.unwrap_or(Eligibility::Unscreened),
            moderation_status: moderation_status.unwrap_or(Moderation::Undecided),
            payment_status: payment_status.unwrap_or(Payment::Unpaid),
            plagiarism_scan_status: plagiarism_scan_status.unwrap_or_else(|| NOT_SCANNED.to_owned()),
            review_status: review_status.unwrap_or_default(),
            grant_status: grant_status.flatten(),
            grant_end_date: grant_end_date.flatten(),
        }
    }
}

impl RecordMembers for Entry {
    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let local_id = members.required("local_id", input::integer(1..=HIGHEST_LOCAL_ID));
        let title = members.required("title", input::text(TITLE_LENGTH));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let submitted = members.nullable("submitted", input::time);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        let entrant = members.required("entrant", input::slug);
        let entry_fields = members.optional("entry_fields", Answers::read);
        let auto_score = members.optional("auto_score", number);
        let category = members.required("category", input::slug);
        let chapter = members.required("chapter", input::slug);
        let form = members.required("form", input::slug);
        let season = members.required("season", input::slug);
        let comments = members.optional("comments", input::text(COMMENTS_LENGTH));
        let user_comments = members.optional("user_comments", input::text(COMMENTS_LENGTH));
        let tags = members.optional("tags", input::text(COMMENTS_LENGTH));
        let archived = members.optional("archived", input::flag);
        let standing = Standing::read(members);
        // What is computed counts as read; whether it agrees is asked of `Stated` when the related data are known.
        members.nullable("parent_category", input::slug);
        members.optional("contributor_count", input::integer(0..=i64::MAX));
        members.optional("files_count", input::integer(0..=i64::MAX));
        Some(Self {
            slug,
            local_id: local_id?,
            title: title?,
            status: standing.status,
            created,
            submitted: submitted.flatten(),
            updated,
            entrant: entrant?,
            entry_fields: entry_fields.unwrap_or_default(),
            auto_score: auto_score.unwrap_or_else(|| "0".to_owned()),
            category: category?,
            chapter: chapter?,
            form: form?,
            season: season?,
            comments: comments.unwrap_or_default(),
            user_comments: user_comments.unwrap_or_default(),
            custom_deadline: standing.custom_deadline,
            division: standing.division,
            eligibility_status: standing.eligibility_status,
            moderation_status: standing.moderation_status,
            payment_status: standing.payment_status,
            plagiarism_scan_status: standing.plagiarism_scan_status,
            review_status: standing.review_status,
            grant_status: standing.grant_status,
            grant_end_date: standing.grant_end_date,
            tags: tags.unwrap_or_default(),
            archived: archived.unwrap_or(false),
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.integer("local_id", self.local_id);
        object.text("title", &self.title);
        object.text("status", self.status.name());
        object.time("created", self.created);
        object.optional_time("submitted", self.submitted);
        object.time("updated", self.updated);
        object.slug("entrant", self.entrant);
        object.raw("entry_fields", &self.entry_fields.to_json());
        object.raw("auto_score", &self.auto_score);
        object.slug("category", self.category);
        object.slug("chapter", self.chapter);
        object.slug("form", self.form);
        object.slug("season", self.season);
        object.text("comments", &self.comments);
        object.text("user_comments", &self.user_comments);
        object.text("custom_deadline", &self.custom_deadline);
        object.optional_integer("division", self.division);
        object.text("eligibility_status", self.eligibility_status.name());
        object.text("moderation_status", self.moderation_status.name());
        object.text("payment_status", self.payment_status.name());
        object.text("plagiarism_scan_status", &self.plagiarism_scan_status);
        object.text("review_status", &self.review_status);
        object.optional_text("grant_status", self.grant_status.as_deref());
        object.optional_date("grant_end_date", self.grant_end_date);
        object.text("tags", &self.tags);
        object.flag("archived", self.archived);
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![
            ("entrant", Kind::User, self.entrant),
            ("category", Kind::Category, self.category),
            ("chapter", Kind::Chapter, self.chapter),
            ("form", Kind::Form, self.form),
            ("season", Kind::Season, self.season),
        ]
    }
}

impl Identified for Entry {
    fn slug(&self) -> Slug {
        self.slug
    }
}

impl SetupRecord for Entry {
    const KIND: Kind = Kind::Entry;
}

/// What a record states of its computed members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// A parent that is stated to be null is not one that is left out.
#[allow(clippy::option_option)]
pub struct Stated {
    parent_category: Option<Option<Slug>>,
    contributor_count: Option<i64>,
    files_count: Option<i64>,
}

impl Stated {
    /// Looks them up in a record; what cannot be read is left to the reading of the record.
    #[must_use]
    pub fn of(record: &JsonObject) -> Self {
        let count = |name| record.get(name).and_then(|json| input::integer(0..=i64::MAX)(json).ok());
        Self {
            parent_category: record.get("parent_category").and_then(|json| match json {
                Json::Null => Some(None),
                json => input::slug(json).ok().map(Some),
            }),
            contributor_count: count("contributor_count"),
            files_count: count("files_count"),
        }
    }

    /// Whether the record states any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it has the parent of the entry's category for another one.
    #[must_use]
    pub fn contradicts_parent(&self, parent: Option<Slug>) -> bool {
        self.parent_category.is_some_and(|stated| stated != parent)
    }

    /// Where it contradicts what was counted.
    #[must_use]
    pub fn contradictions(&self, counts: Counts) -> Violations {
        let mut violations = Violations::default();
        if self.contributor_count.is_some_and(|stated| stated != counts.contributors) {
            violations
                .add("contributor_count", format!("contradicts the contributors, who are {}", counts.contributors));
        }
        if self.files_count.is_some_and(|stated| stated != counts.files) {
            violations.add("files_count", format!("contradicts the files, which are {}", counts.files));
        }
        violations
    }
}

/// Adds the members that an entry's record may leave out and the program tells: the season and form of its category,
/// the first chapter of its season, and the next number.
pub fn complete(record: &mut JsonObject, program: &Program, next_local_id: i64) {
    let slug_of = |record: &JsonObject, name| record.get(name).and_then(|json| input::slug(json).ok());
    let add = |record: &mut JsonObject, name, value: Option<Slug>| {
        if let (None, Some(slug)) = (record.get(name), value) {
            record.set(name, Json::String(slug.to_string().into()));
        }
    };
    let category = slug_of(record, "category").and_then(|category| program.categories.any(category));
    add(record, "season", category.map(|category| category.season));
    add(record, "form", category.and_then(|category| category.form));
    let season = slug_of(record, "season");
    let chapters = program.chapters.all_live().filter(|chapter| Some(chapter.season) == season);
    let first = chapters.min_by_key(|chapter| (chapter.created, chapter.slug));
    add(record, "chapter", first.map(|chapter| chapter.slug));
    if record.get("local_id").is_none() {
        record.set("local_id", Json::Number(next_local_id.to_string().into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_must_agree_with_what_is_computed() {
        let parent = Slug::parse("AbCdEfGh").unwrap();
        let counts = Counts { contributors: 1, files: 2 };
        let number = |number: &'static str| Json::Number(number.into());
        let mut record = JsonObject::new();
        record.set("parent_category", Json::Null);
        record.set("contributor_count", number("1"));
        record.set("files_count", number("3"));
        let stated = Stated::of(&record);
        assert!(stated.contradictions(Counts { contributors: 1, files: 3 }).is_empty());
        assert!(stated.contradicts_parent(Some(parent)) && !stated.contradicts_parent(None));
        let found = stated.contradictions(counts);
        assert_eq!(found.iter().map(|(member, _)| member).collect::<Vec<_>>(), ["files_count"]);
        assert!(Stated::of(&JsonObject::new()).is_empty());
        assert!(Stated::default().contradictions(counts).is_empty());
        assert!(!Stated::default().contradicts_parent(Some(parent)));
    }
}
