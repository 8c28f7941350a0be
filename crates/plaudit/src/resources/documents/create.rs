//! Making documents: `POST /document`, which a job does.

use std::collections::{BTreeMap, BTreeSet};

use crate::document_flow::{Input, WORK, store};
use crate::http::{ApiError, Body, Caller, Reply, Writer, Writing};
use crate::jobs;
use crate::program::document_templates::{FileType, Subject};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH, Program};
use db::Tx;
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, Translated};

/// The most records of one body.
pub(crate) const MANY: usize = 10_000;
/// The most characters of the slug of a record.
const SLUG_LENGTH: usize = 32;

/// What a body says.
#[derive(Default)]
struct Given {
    name: Option<Translated>,
    description: Translated,
    template: Option<Slug>,
    file_type: Option<FileType>,
    shared: bool,
    resource: Option<Subject>,
    selected: Vec<String>,
    notification: bool,
}

/// Makes a document of each of the selected records by a template. A job does it: the documents are in the list as they are made.
#[utoipa::path(
    post,
    path = "/document",
    operation_id = "PostDocumentV23",
    tag = "Documents",
    request_body(content = ref("CreateDocuments"), content_type = "application/json"),
    responses((status = 202, description = "A job does it; `Location` is its address")),
)]
pub(super) async fn create(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    let reply = caller.write(body, |tx, writing| Box::pin(write_create(tx, writing))).await?;
    caller.app().wakes.add(caller.account());
    Ok(reply)
}

async fn write_create(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (account, program) = (writing.account(), &writing.program);
    let (given, mut violations) = read(&writing.state, program);
    check_template(program, &given, writing.access.is_manager(), &mut violations);
    if let Some(subject) = given.resource {
        if !writing.access.is_manager() && !matches!(subject, Subject::Entry | Subject::Assignment) {
            return Err(ApiError::NotPermitted);
        }
        let chapters = store::chapters_of(tx, account, subject, &given.selected).await?;
        // What is not of the chapters of their manager is as what does not exist.
        let is_seen = |slug: &String| {
            let chapter = chapters.get(slug)?;
            let is_managed = Slug::parse(chapter).is_some_and(|chapter| writing.access.manages(chapter));
            (writing.access.is_manager() || is_managed).then_some(())
        };
        for slug in given.selected.iter().filter(|slug| is_seen(slug).is_none()) {
            violations.add("selected", format!("{slug} is no {} of the account", subject.name().replace('_', " ")));
        }
    }
    let name = violations.or(given.name)?;
    writing.app().typesetter.program().map_err(|error| ApiError::Unavailable(error.to_string()))?;
    let input = Input {
        template: given.template.ok_or(ApiError::NotFound)?,
        file_type: given.file_type.ok_or(ApiError::NotFound)?.name().to_owned(),
        selected: given.selected,
        name: texts(&name),
        description: texts(&given.description),
        shared: given.shared,
        notification: given.notification,
        actor: writing.origin.actor.to_string(),
    };
    let job = jobs::add(tx, account, (WORK.kind, input.to_json()), &writing.origin, writing.ids()).await?;
    Ok(Reply::Accepted { location: Some(format!("/job/{job}")) })
}

fn texts(translated: &Translated) -> BTreeMap<String, String> {
    translated.iter().map(|(locale, text)| (locale.code().to_owned(), text.to_owned())).collect()
}

fn read(body: &JsonObject<'_>, program: &Program) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let context = &program.context;
    let translated = members.object("translated", |members| {
        let name = input::translated(&context.languages, NAME_LENGTH);
        let name = members.required("name", input::translated_name(context.default_language, true, name));
        let description = members.optional("description", input::translated(&context.languages, DESCRIPTION_LENGTH));
        (name, description.unwrap_or_default())
    });
    if !members.has("translated") {
        members.fault("translated", "is required");
    }
    let (name, description) = translated.unwrap_or_default();
    let given = Given {
        name,
        description,
        template: members.required("template", input::slug),
        file_type: members.required("fileType", input::one_of(FileType::CHOICES)),
        shared: members.required("shared", input::flag).unwrap_or_default(),
        resource: members.required("resource", input::one_of(Subject::CHOICES)),
        selected: members.required("selected", input::distinct(MANY, slug)).unwrap_or_default(),
        notification: members.nullable("notification", input::flag).flatten().unwrap_or_default(),
    };
    if members.get("selected").and_then(Json::as_array).is_some_and(<[_]>::is_empty) {
        members.fault("selected", "must have at least 1 item");
    }
    if given.shared && given.resource == Some(Subject::Assignment) {
        members.fault("shared", "must be false for documents of assignments, which judges do not read");
    }
    if given.notification && !given.shared {
        members.fault("notification", "can be true only where the documents are shared");
    }
    (given, members.finish())
}

/// The slug of a record: of eight letters, or that of an assignment.
fn slug(json: &Json) -> Result<String, String> {
    let is_slug = |text: &&str| {
        text.len() <= SLUG_LENGTH && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    json.as_str().filter(is_slug).map(str::to_owned).ok_or_else(|| "must be the slug of a record".to_owned())
}

/// The template makes such documents.
fn check_template(program: &Program, given: &Given, is_manager: bool, violations: &mut Violations) {
    let Some(slug) = given.template else { return };
    let Some(template) = program.document_templates.live(slug) else {
        return violations.add("template", format!("{slug} is no document template of the account"));
    };
    if template.score_set.is_some() && !is_manager {
        violations.add("template", "shows places of a score set, which program managers alone read");
    }
    if let Some(resource) = given.resource.filter(|resource| *resource != template.subject) {
        let message = format!("must be {}, which the template is for, and not {resource}", template.subject);
        violations.add("resource", message);
    }
    if given.file_type.is_some_and(|file_type| !template.file_types.contains(&file_type)) {
        let names: BTreeSet<&str> = template.file_types.iter().map(|file_type| file_type.name()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        violations.add("fileType", format!("must be one that the template makes: {names}"));
    }
}
