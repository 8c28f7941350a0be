//! The fonts that every template finds: those of the system, and those that the typesetter carries.
//!
//! - A font is read when a text first needs it, and its file is read once, however many fonts it has.
//! - Their order is that of their paths, so that a machine always chooses the same one.
//! - For a script of which fonts are known to be fit for running text, one of these is named. What else there is, the compiler finds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use fontdb::Source;
use serde_json::{Value, json};
use typesetting::Fault;
use typst::foundations::Bytes;
use typst::layout::{Frame, FrameItem};
use typst::text::{Font, FontBook, FontInfo};
use typst::utils::LazyHash;
use unicode_script::{Script, UnicodeScript as _};

/// The font of what is in Latin, Greek and Cyrillic letters; the typesetter carries it.
const BASE: &str = "Libertinus Serif";
/// The endings of the names of fonts.
const ENDINGS: [&str; 4] = [".ttf", ".otf", ".ttc", ".otc"];
/// How many characters of a script a fault names.
const NAMED: usize = 12;

/// Families for running text, the best one first.
const FAMILIES: [(Script, &[&str]); 6] = [
    (Script::Arabic, &["Noto Naskh Arabic", "Amiri", "Scheherazade New", "Noto Sans Arabic"]),
    (Script::Hebrew, &["Noto Serif Hebrew", "Frank Ruehl CLM", "Noto Sans Hebrew"]),
    (Script::Devanagari, &["Noto Serif Devanagari", "Noto Sans Devanagari", "Lohit Devanagari"]),
    (Script::Bengali, &["Noto Serif Bengali", "Noto Sans Bengali", "Lohit Bengali"]),
    (Script::Thai, &["Noto Serif Thai", "Noto Sans Thai", "Norasi"]),
    (Script::Armenian, &["Noto Serif Armenian", "Noto Sans Armenian", "DejaVu Serif"]),
];
/// What families of Chinese, Japanese and Korean begin with; the place whose glyphs they have follows.
const EAST_ASIAN: [&str; 4] = ["Noto Serif CJK ", "Source Han Serif ", "Noto Sans CJK ", "Source Han Sans "];

/// The fonts of the machine.
pub struct Fonts {
    book: LazyHash<FontBook>,
    slots: Vec<Slot>,
    files: Mutex<HashMap<PathBuf, Bytes>>,
}

/// A font, and where it is read from.
struct Slot {
    font: OnceLock<Option<Font>>,
    path: PathBuf,
    /// Which one of its file it is.
    index: u32,
}

impl Fonts {
    /// Those that the typesetter carries.
    pub fn carried() -> Self {
        let fonts = typst_assets::fonts().flat_map(|file| Font::iter(Bytes::new(file)));
        let (infos, slots) = fonts
            .map(|font| {
                let info = font.info().clone();
                (info, Slot { font: OnceLock::from(Some(font)), path: PathBuf::new(), index: 0 })
            })
            .unzip::<_, _, Vec<_>, _>();
        Self { book: LazyHash::new(FontBook::from_infos(infos)), slots, files: Mutex::default() }
    }

    /// Those and the fonts of the system.
    pub fn installed() -> Self {
        let mut fonts = Self::carried();
        let mut database = fontdb::Database::new();
        database.load_system_fonts();
        let mut found: Vec<(&PathBuf, u32, FontInfo)> = Vec::new();
        for face in database.faces() {
            let (Source::File(path) | Source::SharedFile(path, _)) = &face.source else { continue };
            let info = database.with_face_data(face.id, FontInfo::new).flatten();
            found.extend(info.map(|info| (path, face.index, info)));
        }
        found.sort_by_key(|(path, index, _)| (*path, *index));
        for (path, index, info) in found {
            fonts.book.push(info);
            fonts.slots.push(Slot { font: OnceLock::new(), path: path.clone(), index });
        }
        fonts
    }

    /// What is known of them.
    pub(crate) fn book(&self) -> &LazyHash<FontBook> {
        &self.book
    }

    pub(crate) fn font(&self, index: usize) -> Option<Font> {
        let slot = self.slots.get(index)?;
        slot.font.get_or_init(|| self.read(slot)).clone()
    }

    fn read(&self, slot: &Slot) -> Option<Font> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = files.get(&slot.path).cloned();
        let bytes = match read {
            Some(bytes) => bytes,
            None => Bytes::new(std::fs::read(&slot.path).ok()?),
        };
        files.entry(slot.path.clone()).or_insert_with(|| bytes.clone());
        Font::new(bytes, slot.index)
    }

    /// The families of a text in a language as the compiler takes them, the one to be tried first at the beginning.
    pub(crate) fn families(&self, language: &str, region: Option<&str>, texts: &[&str]) -> Vec<Value> {
        let scripts: BTreeSet<&str> = texts
            .iter()
            .flat_map(|text| text.chars())
            .filter(|letter| !letter.is_ascii())
            .map(|letter| letter.script().short_name())
            .collect();
        let has = |script: Script| scripts.contains(script.short_name());
        let listed = FAMILIES.iter().filter(|(script, _)| has(*script));
        let mut wanted: Vec<Vec<String>> =
            listed.map(|(_, families)| families.iter().map(|family| (*family).to_owned()).collect()).collect();
        let (kana, hangul) = (has(Script::Hiragana) || has(Script::Katakana), has(Script::Hangul));
        if kana || hangul || has(Script::Han) || has(Script::Bopomofo) {
            let place = match (language, region) {
                ("zh", Some("TW")) => "TC",
                ("zh", Some("HK" | "MO")) => "HK",
                ("zh", _) => "SC",
                ("ja", _) => "JP",
                ("ko", _) => "KR",
                _ if kana => "JP",
                _ if hangul => "KR",
                _ => "SC",
            };
            wanted.push(EAST_ASIAN.iter().map(|family| format!("{family}{place}")).collect());
        }
        let is_here = |family: &String| self.book().contains_family(&family.to_lowercase());
        let found = wanted.into_iter().filter_map(|families| families.into_iter().find(is_here)).map(Value::from);
        // Quotation marks and dots are those of the other letters.
        let base = match language {
            "zh" | "ja" | "ko" => json!({ "name": BASE, "covers": "latin-in-cjk" }),
            _ => BASE.into(),
        };
        std::iter::once(base).chain(found).collect()
    }
}

/// The fonts that a template brings; they come before those of the machine.
#[derive(Default)]
pub(crate) struct OwnFonts {
    fonts: Vec<Font>,
    /// Those of the template and of the machine; nothing where the template has none.
    book: Option<LazyHash<FontBook>>,
    files: Vec<Bytes>,
}

impl OwnFonts {
    /// Whether a file is a font.
    pub(crate) fn is_font(name: &str) -> bool {
        let name = name.to_lowercase();
        ENDINGS.iter().any(|ending| name.ends_with(ending))
    }

    /// Takes these files for the fonts of the template, which costs nothing where they are those of the one before.
    pub(crate) fn replace(&mut self, files: Vec<Bytes>, fonts: &Fonts) {
        if self.files == files {
            return;
        }
        self.fonts = files.iter().flat_map(|file| Font::iter(file.clone())).collect();
        let own = self.fonts.iter().map(|font| font.info().clone());
        let all: Vec<FontInfo> =
            own.chain((0..fonts.slots.len()).filter_map(|index| fonts.book().info(index).cloned())).collect();
        self.book = (!self.fonts.is_empty()).then(|| LazyHash::new(FontBook::from_infos(all)));
        self.files = files;
    }

    pub(crate) fn book<'a>(&'a self, fonts: &'a Fonts) -> &'a LazyHash<FontBook> {
        self.book.as_ref().unwrap_or_else(|| fonts.book())
    }

    pub(crate) fn font(&self, index: usize, fonts: &Fonts) -> Option<Font> {
        match index.checked_sub(self.fonts.len()) {
            Some(index) => fonts.font(index),
            None => self.fonts.get(index).cloned(),
        }
    }
}

/// What the script of a letter is called.
fn script(letter: char) -> &'static str {
    match letter.script() {
        Script::Common | Script::Inherited => "signs",
        script => script.full_name(),
    }
}

/// The characters that no font has, by their scripts.
#[derive(Default)]
pub(crate) struct Missing(BTreeMap<&'static str, BTreeSet<char>>);

impl Missing {
    /// Looks through what a page shows.
    pub(crate) fn collect(&mut self, frame: &Frame) {
        for (_, item) in frame.items() {
            match item {
                FrameItem::Group(group) => self.collect(&group.frame),
                FrameItem::Text(text) => {
                    for glyph in text.glyphs.iter().filter(|glyph| glyph.id == 0) {
                        for letter in text.text.get(glyph.range()).unwrap_or_default().chars() {
                            if !letter.is_whitespace() && !letter.is_control() {
                                self.0.entry(script(letter)).or_default().insert(letter);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A fault where there are any.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let mut message = String::new();
        for (script, letters) in &self.0 {
            let named: Vec<String> = letters.iter().take(NAMED).map(char::to_string).collect();
            let more = if letters.len() > NAMED { " and more" } else { "" };
            let before = if message.is_empty() { "no font has the characters" } else { "," };
            let _ = write!(message, "{before} {}{more} ({script})", named.join(" "));
        }
        (!message.is_empty())
            .then(|| Fault::new(format!("{message}: install a font that has them, or give the template one")))
    }
}
