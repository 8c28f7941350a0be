//! Changes of contributors.

use crate::access::{Sight, applicant};
use crate::http::{self, ApiError, Body, Caller, Reply, Writer, Writing};
use crate::lists::List;
use crate::log::Action;
use crate::program::{self, Program};
use crate::records::answers::{self, Answers};
use crate::records::entries::contributors::list::NAMED;
use crate::records::entries::contributors::{Contributor, MOST, rules};
use crate::records::entries::{self, Entry, check_changeable};
use crate::records::people;
use crate::resources::entry_children::{EntryChild, write};
use db::{AccountId, DbError, Tx};
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Adds a contributor to an entry.
#[utoipa::path(post, path = "/contributor", operation_id = "PostContributorV23", tag = "Contributors")]
pub async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program, now) = (writing.account(), &writing.program, writing.origin.at);
    let (mut given, mut violations) = rules::read_create(&writing.state);
    let entry = match given.entry {
        Some(entry) => entries::store::find_for_update(tx, account, entry).await?,
        None => None,
    };
    let head = match &entry {
        Some(entry) => Some(entry.head()?),
        None => None,
    };
    // What is not seen is as what does not exist.
    let seen = head.and_then(|head| Some((writing.access.entry(head.chapter, head.entrant)?, head)));
    let unseen = if writing.access.sees_fields() { Sight::Whole } else { Sight::Applicant };
    let (sight, head) = seen.map_or((unseen, None), |(sight, head)| (sight, Some(head)));
    if let (Some(named), None) = (given.entry, &head) {
        violations.add("entry", format!("{named} is no entry of the account"));
    }
    if sight == Sight::Applicant {
        applicant::check_answers(program, ("fields", "tab"), &mut given.fields, &mut violations);
    }
    let tab = given.tab.and_then(|tab| rules::tab_of(program, head.as_ref(), tab, &mut violations));
    let (place, none) = ((head.as_ref(), tab), Answers::default());
    let fields = rules::answers_after(program, place, &none, given.fields.as_ref(), &mut violations);
    let slug = people::free_slug::<Contributor>(tx, account, writing.ids()).await?;
    let contributor = head.as_ref().zip(tab).map(|(head, tab)| Contributor {
        slug,
        entry: head.slug,
        tab,
        fields,
        created: now,
        updated: now,
    });
    let contributor = violations.or(contributor)?;
    if let Some(head) = &head {
        check_changeable(program, head)?;
    }
    if people::count_of_entry::<Contributor>(tx, account, contributor.entry).await? >= MOST {
        return Err(ApiError::State(format!("The entry has {MOST} contributors, which are the most.")));
    }
    let (title, season) = head.map(|head| (head.title.clone(), head.season)).ok_or(ApiError::NotFound)?;
    let revision = write(tx, writing, contributor.clone(), Action::Created).await?;
    let document = rules::document(&contributor, &title, season);
    let created = Reply::created(document, revision, Kind::Contributor, slug.as_str());
    Ok(created.naming(&[&title, season.as_str()]).seen(sight))
}

impl EntryChild for Contributor {
    const GROUP: &'static str = "Contributors";
    const ANSWERS: &'static str = "fields";
    const LIST: &'static List = &NAMED;
    type Given = Option<JsonObject<'static>>;

    fn entry(&self) -> Slug {
        self.entry
    }

    fn answers(given: &mut Self::Given) -> &mut Option<JsonObject<'static>> {
        given
    }

    fn read_update(body: &JsonObject<'_>) -> (Self::Given, Violations) {
        rules::read_update(body)
    }

    fn read_answer(body: &JsonObject<'_>, field: Slug) -> (Self::Given, Violations) {
        answers::given_to_field(body, field)
    }

    fn updated(
        &self,
        program: &Program,
        head: &Entry,
        (given, mut violations): (Self::Given, Violations),
        now: Timestamp,
    ) -> Result<Self, Violations> {
        let after = rules::answered(program, head, self, given.as_ref(), &mut violations, now);
        violations.or(Some(after))
    }

    fn document(program: &Program, texts: &[&str]) -> Result<(String, [String; 2]), DbError> {
        let contributor = program::store::parse(texts[0], &program.context)?;
        let document = rules::document(&contributor, texts[1], http::list::slug(texts[2])?);
        Ok((document, [texts[1].to_owned(), texts[2].to_owned()]))
    }

    async fn shown(&self, _: &mut Tx, _: AccountId, head: &Entry) -> Result<(String, [String; 2]), DbError> {
        let document = rules::document(self, &head.title, head.season);
        Ok((document, [head.title.clone(), head.season.to_string()]))
    }
}
