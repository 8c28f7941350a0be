//! What a template sees: the standard library, what it is about, its own files and the fonts. Nothing else can be read.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};
use typesetting::{Fault, Format, NAMES, Request};
use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Binding, Bytes, Datetime, Duration, Module, Scope};
use typst::syntax::{DiagSpan, FileId, RootedPath, Source, Span, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Feature, Features, Library, LibraryExt as _, World, WorldExt as _};

use crate::fonts::{Fonts, OwnFonts};
use crate::pictures;

/// What every template finds as `plaudit`.
const PRELUDE: &str = include_str!("prelude.typ");
const PRELUDE_PATH: &str = "/plaudit/prelude.typ";
/// What the prelude reads.
const REQUEST_PATH: &str = "/plaudit/request.json";
const MAIN_PATH: &str = "/template.typ";

/// The standard library, with elements of HTML for Word and without plugins.
pub(crate) fn library() -> LazyHash<Library> {
    let mut library = Library::builder().with_features(Features::from_iter([Feature::Html])).build();
    let mut scope = Scope::deduplicating();
    for (name, binding) in library.global.scope().iter().filter(|(name, _)| *name != "plugin") {
        scope.bind(name.clone(), binding.clone());
    }
    library.global = Module::new("global", scope);
    library.std = Binding::detached(library.global.clone());
    LazyHash::new(library)
}

/// The files of a request.
pub struct Files {
    own: Vec<Bytes>,
    /// Those that can be shown.
    pictures: Vec<Option<Bytes>>,
}

impl Files {
    /// Takes the bytes of each file and then of each picture. A picture is made ready before the next one is taken, so that they do
    /// not stand in memory together as they were handed in.
    pub fn read(request: &Request, mut next: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Self> {
        let own = request.files.iter().map(|_| next().map(Bytes::new)).collect::<io::Result<_>>()?;
        let pictures = request.pictures.iter().map(|_| next().map(pictures::ready)).collect::<io::Result<_>>()?;
        Ok(Self { own, pictures })
    }
}

/// What one template sees.
pub(crate) struct TemplateWorld<'t> {
    library: &'t LazyHash<Library>,
    fonts: &'t Fonts,
    own_fonts: &'t OwnFonts,
    main: FileId,
    sources: HashMap<FileId, Source>,
    files: HashMap<FileId, Bytes>,
    now: Option<Datetime>,
}

impl<'t> TemplateWorld<'t> {
    /// The world of a request and its files.
    pub(crate) fn new(
        request: &Request,
        given: Files,
        library: &'t LazyHash<Library>,
        fonts: &'t Fonts,
        own_fonts: &'t mut OwnFonts,
    ) -> Result<Self, Fault> {
        let (mut files, mut sources, mut font_files) = (HashMap::new(), HashMap::new(), Vec::new());
        for (name, bytes) in request.files.iter().zip(given.own) {
            let id = file_id(&format!("/{name}"))?;
            if OwnFonts::is_font(name) {
                font_files.push(bytes);
            } else if Path::new(name).extension().is_some_and(|ending| ending == "typ") {
                let text = bytes.as_str().map_err(|_| Fault::new(format!("{name} is not UTF-8")))?.to_owned();
                sources.insert(id, Source::new(id, text));
            } else {
                files.insert(id, bytes);
            }
        }
        let mut shown = Map::new();
        for ((token, picture), number) in request.pictures.iter().zip(given.pictures).zip(0..) {
            if let Some(picture) = picture {
                // The compiler keeps the name of a file for ever, and has room for 65,535; tokens are too many.
                let path = format!("/plaudit/pictures/{number}");
                files.insert(file_id(&path)?, picture);
                shown.insert(token.clone(), path.into());
            }
        }
        own_fonts.replace(font_files, fonts);
        let asked = serde_json::to_vec(&asked(request, shown, fonts)).map_err(|error| Fault::new(error.to_string()))?;
        files.insert(file_id(REQUEST_PATH)?, Bytes::new(asked));
        for (path, text) in [(PRELUDE_PATH, PRELUDE.to_owned()), (MAIN_PATH, main_source(request))] {
            let id = file_id(path)?;
            sources.insert(id, Source::new(id, text));
        }
        let (year, month, day, hour, minute, second) = request.time;
        let now = Datetime::from_ymd_hms(year, month, day, hour, minute, second);
        Ok(Self { library, fonts, own_fonts, main: file_id(MAIN_PATH)?, sources, files, now })
    }

    /// The time of the document.
    pub(crate) fn now(&self) -> Option<Datetime> {
        self.now
    }

    /// A fault of the template, as the compiler tells it.
    pub(crate) fn fault(&self, diagnostic: &SourceDiagnostic) -> Fault {
        let mut message = diagnostic.message.to_string();
        for hint in &diagnostic.hints {
            message.push_str("; ");
            message.push_str(&hint.v);
        }
        // The place in the template is that of what it called last.
        let trace = diagnostic.trace.iter().map(|point| point.span.into());
        self.placed(message, std::iter::once(diagnostic.span).chain(trace))
    }

    /// A fault at a place of the template.
    pub(crate) fn fault_at(&self, message: String, span: Span) -> Fault {
        self.placed(message, std::iter::once(span.into()))
    }

    fn placed(&self, message: String, mut spans: impl Iterator<Item = DiagSpan>) -> Fault {
        let place = spans.find_map(|span| {
            let range = self.range(span).filter(|_| span.id() == Some(self.main))?;
            let (line, column) = self.sources.get(&self.main)?.lines().byte_to_line_column(range.start)?;
            Some(((line + 1).checked_sub(BEFORE)?, column + 1))
        });
        Fault { message, line: place.map(|(line, _)| line), column: place.map(|(_, column)| column) }
    }

    /// What is told of several faults.
    pub(crate) fn first_fault(&self, errors: &[SourceDiagnostic]) -> Fault {
        errors.first().map_or_else(Fault::default, |error| self.fault(error))
    }
}

/// How many lines of the main source stand before the template.
const BEFORE: usize = 3;

/// A template with what stands around it.
fn main_source(request: &Request) -> String {
    let names = NAMES.join(", ");
    let (rules, pages) = match request.format {
        Format::Word => ("word", "\n#plaudit.pages()"),
        Format::Pdf | Format::AccessiblePdf => ("paged", ""),
    };
    let template = &request.template;
    format!(
        "#import \"{PRELUDE_PATH}\" as plaudit\n#let ({names}) = plaudit.names\n#show: plaudit.{rules}\n{template}{pages}\n"
    )
}

/// What the prelude reads.
fn asked(request: &Request, pictures: Map<String, Value>, fonts: &Fonts) -> Value {
    let mut names: Map<String, Value> = NAMES.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    names.extend(request.data.clone());
    names.insert("pictures".to_owned(), pictures.into());
    let data = serde_json::to_string(&names).unwrap_or_default();
    let families =
        fonts.families(&request.language, request.region.as_deref(), &[&request.template, &request.title, &data]);
    json!({
        "format": request.format,
        "language": request.language,
        "region": request.region,
        "title": request.title,
        "paper": request.paper,
        "families": families,
        "names": names,
    })
}

fn file_id(path: &str) -> Result<FileId, Fault> {
    let path = VirtualPath::new(path).map_err(|_| Fault::new(format!("{path} is no name of a file")))?;
    Ok(RootedPath::new(VirtualRoot::Project, path).intern())
}

impl World for TemplateWorld<'_> {
    fn library(&self) -> &LazyHash<Library> {
        self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        self.own_fonts.book(self.fonts)
    }

    fn main(&self) -> FileId {
        self.main
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        self.sources.get(&id).cloned().ok_or_else(|| missing(id))
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        self.files.get(&id).cloned().ok_or_else(|| missing(id))
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.own_fonts.font(index, self.fonts)
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        self.now
    }
}

fn missing(id: FileId) -> FileError {
    match id.get().root() {
        VirtualRoot::Package(_) => FileError::Other(Some("packages cannot be loaded".into())),
        VirtualRoot::Project => FileError::NotFound(id.get().vpath().get_without_slash().into()),
    }
}
