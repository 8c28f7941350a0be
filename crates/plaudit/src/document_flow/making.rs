//! The work of the job: some documents at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::Input;
use super::facts::{Facts, Reader};
use crate::jobs::{self, JobError, Run, Step};
use crate::log::{Action, Actor, Event, Origin};
use crate::mail::Message;
use crate::program::Program;
use crate::program::document_templates::{DocumentTemplate, FileType, PageSize, Subject};
use crate::records::documents::{Document, DocumentType};
use crate::records::entries;
use crate::records::files::{self, Content, File};
use crate::records::people::{change_causing, free_slug};
use crate::records::users;
use crate::services::App;
use crate::typesetter::{Format, Request, Session, TypesetError};
use db::{AccountId, BoxFuture, DbError, Source, Tx};
use kernel::document;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Timestamp, Token, Translated};

/// How many documents are recorded together.
const BATCH_SIZE: usize = 20;
/// The most characters of the name of a file, without its ending.
const FILENAME_LENGTH: usize = 100;
/// How many documents that take too long, one after the other, end the patience with a template.
const MOST_TOO_LONG: usize = 3;
/// The most bytes of the files of a template.
const FILE_BYTES: i64 = 32 << 20;

fn broken(what: &str) -> JobError {
    JobError::Failed(format!("The {what} of the job cannot be read."))
}

pub(super) async fn work(run: &mut Run) -> Result<(), JobError> {
    let input: Input = serde_json::from_str(&run.input).map_err(|_| broken("input"))?;
    let total = input.selected.len();
    let mut done = match run.checkpoint() {
        "" => 0,
        checkpoint => checkpoint.parse().map_err(|_| broken("checkpoint"))?,
    };
    let (app, account) = (run.app.clone(), run.account());
    let program = app.programs.reload(account).await?.ok_or(JobError::Stopped)?;
    let mut maker = Maker::begin(&app, &program, &input).await?;
    while done < total {
        let slugs = &input.selected[done..total.min(done + BATCH_SIZE)];
        let tokens: Vec<Token> = slugs.iter().map(|_| app.ids.token()).collect();
        let announced = (account, tokens.clone(), app.clock.now());
        app.db
            .write(account, announced, |tx, (account, tokens, now)| {
                Box::pin(async move {
                    for token in tokens {
                        files::store::announce(tx, *account, token, *now).await?;
                    }
                    Ok::<_, DbError>(())
                })
            })
            .await?;
        let mut made = Vec::with_capacity(slugs.len());
        for (slug, token) in slugs.iter().zip(tokens) {
            let outcome = match &mut maker {
                Ok(maker) => maker.make(slug, &token).await?,
                Err(message) => Err(message.clone()),
            };
            made.push((slug.clone(), token, outcome));
            done += 1;
            if let Ok(patient) = &maker
                && patient.too_long >= MOST_TOO_LONG
            {
                maker = Err(format!("It took too long to make {MOST_TOO_LONG} documents before this one."));
            }
        }
        let part = Part { app: app.clone(), input: input.clone(), program: Arc::clone(&program), made, done };
        run.step(part, |tx, part, step| part.write(tx, step)).await?;
        app.wakes.add(account);
    }
    Ok(())
}

/// A document that is made and stored, and not recorded yet.
struct Made {
    file: File,
    locale: Locale,
    entry: Option<Slug>,
    user: Option<Slug>,
    recipient: Option<Slug>,
    email: String,
}

/// What a document of a record would be, by a template that is not stored, with these files; what is wrong with it as a text.
pub async fn preview(
    app: &App,
    program: &Arc<Program>,
    (template, file_type): (&DocumentTemplate, FileType),
    slug: &str,
    files: Vec<(String, Bytes)>,
) -> Result<Bytes, String> {
    let name = template.name.iter().map(|(locale, text)| (locale.code().to_owned(), text.to_owned())).collect();
    let input = Input {
        template: template.slug,
        file_type: file_type.name().to_owned(),
        selected: Vec::new(),
        name,
        description: BTreeMap::new(),
        shared: false,
        notification: false,
        actor: String::new(),
    };
    let reader = Reader::new(app, program, template, false);
    let session = app.typesetter.session();
    let mut maker = Maker { reader, session, input: &input, file_type, files, too_long: 0 };
    let facts = maker.reader.read(slug).await.map_err(|error| error.to_string())?;
    let facts = facts.ok_or_else(|| missing(template.subject, slug))?;
    let made = maker.typeset(&facts, app.clock.now()).await.map_err(|error| error.to_string())?;
    made.map_err(|error| error.to_string())
}

fn missing(subject: Subject, slug: &str) -> String {
    format!("There is no {} {slug}.", subject.name().replace('_', " "))
}

/// Makes the documents of a job.
struct Maker<'a> {
    reader: Reader,
    session: Session<'a>,
    input: &'a Input,
    file_type: FileType,
    /// The files of the template, by name.
    files: Vec<(String, Bytes)>,
    /// How many documents took too long, one after the other.
    too_long: usize,
}

impl<'a> Maker<'a> {
    /// Begins with a template as it is now; what is wrong with it as a text.
    async fn begin(app: &'a App, program: &Arc<Program>, input: &'a Input) -> Result<Result<Self, String>, JobError> {
        let Some(template) = program.document_templates.live(input.template) else {
            return Ok(Err(format!("There is no template {} any more.", input.template)));
        };
        let Some(file_type) = input.file_type().filter(|file_type| template.file_types.contains(file_type)) else {
            return Ok(Err(format!("The template does not make files of the type {} any more.", input.file_type)));
        };
        let Some(files) = files_of(app, program, template).await? else {
            return Ok(Err(format!("The files of the template have more than {} MB.", FILE_BYTES >> 20)));
        };
        let reader = Reader::new(app, program, template, input.shared);
        Ok(Ok(Self { reader, session: app.typesetter.session(), input, file_type, files, too_long: 0 }))
    }

    /// Makes and stores the document of a record; what is wrong with it as a text.
    async fn make(&mut self, slug: &str, token: &Token) -> Result<Result<Made, String>, JobError> {
        let subject = self.reader.template.subject;
        let Some(facts) = self.reader.read(slug).await? else {
            return Ok(Err(missing(subject, slug)));
        };
        let now = self.reader.app.clock.now();
        let typeset = self.typeset(&facts, now).await?;
        self.too_long = if matches!(typeset, Err(TypesetError::TooLong(_))) { self.too_long + 1 } else { 0 };
        let bytes = match typeset {
            Ok(bytes) => bytes,
            Err(error @ (TypesetError::Missing | TypesetError::Failed(_))) => {
                return Err(JobError::Failed(error.to_string()));
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        let locales = [facts.locale, self.reader.program.account.default_language];
        let name = text_of(&self.input.name, locales).unwrap_or_default();
        let content = Content::of(&bytes);
        let file = File {
            token: token.clone(),
            filename: filename(name, slug, self.file_type),
            metadata: document::object(|object| object.text("sha256", &content.sha256)),
            content,
            duration: None,
            created: now,
        };
        let account = self.reader.program.account.slug;
        let stored = self.reader.app.storage.put(account.as_str(), token.as_str(), bytes).await;
        stored.map_err(|error| {
            tracing::warn!(%error, "a document could not be stored");
            JobError::Failed("A document could not be stored.".to_owned())
        })?;
        let Facts { locale, entry, recipient, email, .. } = facts;
        let user = recipient.filter(|_| subject == Subject::User);
        Ok(Ok(Made { file, locale, entry, user, recipient, email }))
    }

    async fn typeset(&mut self, facts: &Facts, now: Timestamp) -> Result<Result<Bytes, TypesetError>, JobError> {
        let (reader, input) = (&self.reader, self.input);
        // Pictures are held once it is this document's turn.
        let turn = self.session.turn().await;
        let mut bytes: Vec<Bytes> = self.files.iter().map(|(_, bytes)| bytes.clone()).collect();
        let mut pictures = Vec::new();
        for token in &facts.pictures {
            if let Some(picture) = stored(&reader.app, &reader.program, token).await? {
                pictures.push(token.to_string());
                bytes.push(picture);
            }
        }
        let locales = [facts.locale, reader.program.account.default_language];
        let title = text_of(&input.name, locales).unwrap_or_default();
        let description = text_of(&input.description, locales).unwrap_or_default();
        let code = facts.locale.code();
        let mut data = facts.data.clone();
        data.insert(
            "this".to_owned(),
            serde_json::json!({
                "name": title, "description": description, "created": now.to_string(), "language": code,
            }),
        );
        let (text, _) = reader.template.text_in(&[facts.locale]);
        let (language, region) = code.split_once('_').unwrap_or((code, ""));
        let request = Request {
            template: text.to_owned(),
            data,
            format: match self.file_type {
                FileType::Pdf => Format::Pdf,
                FileType::AccessiblePdf => Format::AccessiblePdf,
                FileType::Word => Format::Word,
            },
            paper: match reader.template.page_size {
                PageSize::A4 => "a4",
                PageSize::Letter => "us-letter",
            }
            .to_owned(),
            language: language.to_owned(),
            region: Some(region.to_owned()).filter(|region| !region.is_empty()),
            title: title.to_owned(),
            time: moment(now),
            files: self.files.iter().map(|(name, _)| name.clone()).collect(),
            pictures,
        };
        Ok(turn.typeset(&request, &bytes).await)
    }
}

/// Year, month, day, hour, minute and second.
fn moment(now: Timestamp) -> (i32, u8, u8, u8, u8, u8) {
    let text = now.to_string();
    let part = |at: usize| text.get(at..at + 2).and_then(|part| part.parse().ok()).unwrap_or_default();
    let year = text.get(..4).and_then(|year| year.parse().ok()).unwrap_or_default();
    (year, part(5), part(8), part(11), part(14), part(17))
}

/// The files of a template by their names; nothing where they are too long together.
async fn files_of(
    app: &App,
    program: &Arc<Program>,
    template: &DocumentTemplate,
) -> Result<Option<Vec<(String, Bytes)>>, JobError> {
    let source = Source::Db(&app.db);
    let names = files::store::names(program.id, source, &template.files).await?;
    let (mut found, mut total) = (Vec::with_capacity(names.len()), 0);
    for (token, name) in names {
        if let Some(bytes) = stored(app, program, &token).await? {
            total += i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            if total > FILE_BYTES {
                return Ok(None);
            }
            found.push((name, bytes));
        }
    }
    Ok(Some(found))
}

/// The bytes of a stored file; nothing where they are gone.
async fn stored(app: &App, program: &Program, token: &Token) -> Result<Option<Bytes>, JobError> {
    let account = program.account.slug;
    // One more than there may be, so that a longer one is seen to be.
    let most = u64::try_from(FILE_BYTES).unwrap_or_default() + 1;
    match app.storage.get_range(account.as_str(), token.as_str(), 0..most).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(crate::storage::StorageError::Missing(_)) => Ok(None),
        Err(error) => {
            tracing::warn!(%error, "a file of a document could not be read");
            Err(JobError::Failed("A file that the document shows cannot be read.".to_owned()))
        }
    }
}

/// The text in the first of these languages that has one, or the first that there is.
fn text_of(texts: &BTreeMap<String, String>, locales: [Locale; 2]) -> Option<&str> {
    let asked = locales.map(|locale| texts.get(locale.code()));
    asked.into_iter().flatten().chain(texts.values()).find(|text| !text.is_empty()).map(String::as_str)
}

/// The name of a file: that of the document, the record, and an ending.
fn filename(name: &str, slug: &str, file_type: FileType) -> String {
    let kept = |letter: char| if letter.is_control() || r#"/\:*?"<>|"#.contains(letter) { '-' } else { letter };
    let name: String = name.trim().chars().take(FILENAME_LENGTH).map(kept).collect();
    let ending = if file_type == FileType::Word { "docx" } else { "pdf" };
    format!("{} {slug}.{ending}", name.trim()).trim_start().to_owned()
}

/// Documents of a step.
struct Part {
    app: App,
    input: Input,
    program: Arc<Program>,
    made: Vec<(String, Token, Result<Made, String>)>,
    done: usize,
}

impl Part {
    fn write<'a>(&'a self, tx: &'a mut Tx, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let actor = Actor::parse(&self.input.actor).unwrap_or(Actor::System);
            let origin = Origin { actor, source: "api", at: step.now };
            // A person is erased by a writer of the account: before this or after it.
            tx.head(step.account).await?;
            for (slug, token, outcome) in &self.made {
                match outcome {
                    Ok(made) if is_of_erased(tx, step.account, made).await? => {
                        // Its bytes are swept like those of every upload that nobody recorded.
                        step.report.failed(slug, "The person was erased meanwhile.");
                    }
                    Ok(made) => self.record(tx, step, &origin, made).await?,
                    Err(message) => {
                        files::store::forget(tx, step.account, token).await?;
                        step.report.failed(slug, message);
                    }
                }
            }
            step.checkpoint = self.done.to_string();
            step.report.progress.total = i64::try_from(self.input.selected.len()).ok();
            Ok(())
        })
    }

    async fn record(&self, tx: &mut Tx, step: &mut Step, origin: &Origin, made: &Made) -> Result<(), JobError> {
        let (account, input) = (step.account, &self.input);
        let recorded = files::store::record(tx, account, origin, &made.file).await?;
        recorded.ok_or_else(|| JobError::Failed("It took so long that the files were removed.".to_owned()))?;
        let is_word = input.file_type() == Some(FileType::Word);
        let document = Document {
            slug: free_slug::<Document>(tx, account, &self.app.ids).await?,
            created_at: origin.at,
            description: translated(&input.description),
            entry: made.entry,
            file: made.file.token.clone(),
            file_type: if is_word { DocumentType::Word } else { DocumentType::Pdf },
            name: translated(&input.name),
            shared_with_user: input.shared,
            user: made.user,
            filename: made.file.filename.clone(),
            recipient: made.recipient,
            updated: origin.at,
        };
        let slug = document.slug;
        change_causing(tx, account, origin, (Action::Created, &[Event::DocumentCreated]), document).await?;
        step.report.done(1);
        step.report.result(Kind::Document, slug.as_str());
        if input.notification && !made.email.is_empty() {
            let message = self.message(slug, made);
            jobs::add(tx, account, (jobs::mail::WORK.kind, message.to_json()), origin, &self.app.ids).await?;
        }
        Ok(())
    }

    /// What is written to whom a document is for.
    fn message(&self, slug: Slug, made: &Made) -> Message {
        let locales = [made.locale, self.program.account.default_language];
        let name = text_of(&self.input.name, locales).unwrap_or_default();
        let description = text_of(&self.input.description, locales).unwrap_or_default();
        let address = format!("{}/document/{slug}", self.app.settings.base_url);
        let parts = [name, description, &address, &self.program.account.name];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        Message { to: vec![made.email.clone()], subject: name.to_owned(), text }
    }
}

/// Whether a document was made of what was known of a person who was erased since.
async fn is_of_erased(tx: &mut Tx, account: AccountId, made: &Made) -> Result<bool, DbError> {
    let entrant = match made.entry {
        Some(entry) => entries::store::entrant_of(tx, account, entry).await?,
        None => None,
    };
    for user in made.recipient.into_iter().chain(entrant) {
        let user = users::store::find(account, Source::Snapshot(tx), user).await?;
        if user.is_some_and(|user| user.is_erased()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Texts by the codes of their languages; what is no code of one was refused before.
fn translated(texts: &BTreeMap<String, String>) -> Translated {
    let pairs: Vec<(Locale, &str)> =
        texts.iter().filter_map(|(code, text)| Some((Locale::parse(code)?, text.as_str()))).collect();
    Translated::from_pairs(&pairs).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_in_the_language_of_whom_it_is_for_or_in_that_of_the_account() {
        let texts = [("de_DE", "Urkunde"), ("en_GB", "Certificate"), ("fr_FR", "")];
        let texts = texts.map(|(code, text)| (code.to_owned(), text.to_owned())).into();
        assert_eq!(text_of(&texts, [Locale::DeDe, Locale::EnGb]), Some("Urkunde"));
        assert_eq!(text_of(&texts, [Locale::FrFr, Locale::EnGb]), Some("Certificate"));
        assert_eq!(text_of(&texts, [Locale::FrFr, Locale::FrFr]), Some("Urkunde"));
    }

    #[test]
    fn a_file_is_called_by_its_document_and_its_record() {
        assert_eq!(filename("A/B: \"C\"", "EntryAAA", FileType::Pdf), "A-B- -C- EntryAAA.pdf");
        assert_eq!(filename(" ", "EntryAAA", FileType::Word), "EntryAAA.docx");
        assert_eq!(filename(&"x".repeat(300), "EntryAAA", FileType::AccessiblePdf).len(), 113);
    }
}
