//! `plaudit document preview`: a document of a record by a template in a file, for who writes templates.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::{Failure, account_of, say, serve, spare_database};
use crate::config::Config;
use crate::document_flow::preview;
use crate::program::Program;
use crate::program::document_templates::{DocumentTemplate, FileType, PageSize, Subject};
use crate::services::App;
use crate::storage::Storage;
use db::Db;
use kernel::text::{Slug, Timestamp, Translated};

/// How often is looked whether the file has changed.
const PAUSE: Duration = Duration::from_millis(300);

/// What to do with documents.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a document of a record by a template in a file
    Preview(Arguments),
}

/// What to make.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file with the template, in Typst markup
    template: PathBuf,
    /// The account's slug
    #[arg(long)]
    account: Slug,
    #[command(flatten)]
    about: About,
    /// The score set whose scores and places the template finds
    #[arg(long, value_name = "SLUG")]
    scores: Option<Slug>,
    /// A picture or a font that the template finds by its name; may be given several times
    #[arg(long = "with", value_name = "FILE")]
    with: Vec<PathBuf>,
    /// The type of the file: PDF, Word or accessible-pdf
    #[arg(long, default_value = "PDF", value_parser = file_type)]
    file_type: FileType,
    /// The size of a page: A4 or Letter
    #[arg(long, default_value = "A4", value_parser = page_size)]
    page_size: PageSize,
    /// The file to write, in place of preview.pdf or preview.docx; one of this name is replaced
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Make it again whenever the template changes, until it is stopped
    #[arg(long)]
    watch: bool,
}

/// What the document is about.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct About {
    /// An entry
    #[arg(long, value_name = "SLUG")]
    entry: Option<String>,
    /// A user
    #[arg(long, value_name = "SLUG")]
    user: Option<String>,
    /// An order
    #[arg(long, value_name = "SLUG")]
    order: Option<String>,
    /// An assignment
    #[arg(long, value_name = "SLUG")]
    assignment: Option<String>,
    /// A score set
    #[arg(long, value_name = "SLUG")]
    score_set: Option<String>,
}

impl About {
    fn record(&self) -> Option<(Subject, &str)> {
        let of = |subject, slug: &'_ Option<String>| slug.clone().map(|_| subject);
        let subject = of(Subject::Entry, &self.entry)
            .or_else(|| of(Subject::User, &self.user))
            .or_else(|| of(Subject::Order, &self.order))
            .or_else(|| of(Subject::Assignment, &self.assignment))
            .or_else(|| of(Subject::ScoreSet, &self.score_set))?;
        let slugs = [&self.entry, &self.user, &self.order, &self.assignment, &self.score_set];
        Some((subject, slugs.into_iter().find_map(|slug| slug.as_deref())?))
    }
}

fn file_type(text: &str) -> Result<FileType, String> {
    named(FileType::CHOICES, text)
}

fn page_size(text: &str) -> Result<PageSize, String> {
    named(PageSize::CHOICES, text)
}

fn named<T: Copy>(choices: &[(&'static str, T)], text: &str) -> Result<T, String> {
    let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or_else(|| format!("must be one of {}", names()))
}

/// Runs the command.
pub(super) async fn run(db: &Db, storage: Storage, config: &Config, command: Command) -> Result<(), Failure> {
    let Command::Preview(arguments) = command;
    let output = arguments.output.clone().unwrap_or_else(|| {
        PathBuf::from(if arguments.file_type == FileType::Word { "preview.docx" } else { "preview.pdf" })
    });
    spare_database(config, &output)?;
    let mut tx = db.snapshot().await?;
    let account = account_of(&mut tx, arguments.account).await?;
    tx.commit().await?;
    let base_url = &config.server.base_url;
    let address = if base_url.is_empty() { format!("http://{}", config.server.listen) } else { base_url.clone() };
    let (app, _) = serve::app(config, db.clone(), storage, &address).await?;
    let mut last = None;
    loop {
        let changed = changed(&arguments);
        // While a file is replaced it is not there for a moment; one that never was is told.
        if !arguments.watch || last.is_none() || changed.is_some() && last != Some(changed) {
            last = Some(changed);
            let program = app.programs.reload(account).await?;
            let program = program.ok_or_else(|| Failure::Failed("the account has no set-up".to_owned()))?;
            match make(&app, &program, &arguments, &output).await {
                Ok(()) => say(&format!("{} is made", output.display()))?,
                Err(failure) if arguments.watch => super::complain(&failure),
                Err(failure) => return Err(failure),
            }
        }
        if !arguments.watch {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// When the template or one of its files was last changed; nothing where one is not there.
fn changed(Arguments { template, with, .. }: &Arguments) -> Option<SystemTime> {
    let times: Option<Vec<SystemTime>> =
        with.iter().chain([template]).map(|file| std::fs::metadata(file).ok()?.modified().ok()).collect();
    times?.into_iter().max()
}

async fn make(app: &App, program: &Arc<Program>, arguments: &Arguments, output: &Path) -> Result<(), Failure> {
    let Arguments { template, about, scores, with, file_type, page_size, .. } = arguments;
    let failed = |file: &Path, error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let body = std::fs::read_to_string(template).map_err(|error| failed(template, error))?;
    let (subject, slug) = about.record().ok_or_else(|| Failure::Usage("name a record".to_owned()))?;
    let mut files = Vec::with_capacity(with.len());
    for file in with {
        let bytes = std::fs::read(file).map_err(|error| failed(file, error))?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.push((name, Bytes::from(bytes)));
    }
    let in_default =
        |text: &str| Translated::from_pairs(&[(program.account.default_language, text)]).unwrap_or_default();
    let name = template.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let now = Timestamp::from_seconds(0);
    let template = DocumentTemplate {
        slug: program.account.slug,
        name: in_default(&name),
        subject,
        file_types: vec![*file_type],
        page_size: *page_size,
        body: in_default(&body),
        layout: None,
        files: Vec::new(),
        pictures: true,
        score_set: *scores,
        created: now,
        updated: now,
    };
    let made = preview(app, program, (&template, *file_type), slug, files).await.map_err(Failure::Failed)?;
    std::fs::write(output, made).map_err(|error| failed(output, error))
}
