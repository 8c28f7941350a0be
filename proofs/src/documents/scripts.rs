//! `scripts`: the writing of many languages on one page.
//!
//! The picture of the page is compared with the one that was looked at: how dark each of its cells is. Fonts of another version
//! are a little darker or lighter; a script whose letters are not joined, or run the other way, is darker in other cells.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::made::Maker;
use super::{dots, flat, message, pictures};
use crate::service::Checks;
use crate::tools::{debian, install};
use crate::{Context, Proof, Verdict, process};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "scripts",
    claim: "Texts in Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Bengali, Thai, Armenian, Chinese, Japanese and Korean are \
            shaped right and read back; where a script has no font, the error names it.",
    run,
};

/// A language, and a text in it.
const TEXTS: [(&str, &str); 13] = [
    ("en", "Award for the best work"),
    ("de", "Größte Übung"),
    ("el", "Βραβείο καλύτερου έργου"),
    ("ru", "Лучшая работа года"),
    ("ar", "جائزة أفضل عمل"),
    ("he", "פרס היצירה הטובה"),
    ("hi", "सर्वश्रेष्ठ कार्य"),
    ("bn", "সেরা কাজের পুরস্কার"),
    ("th", "รางวัลผลงานดีที่สุด"),
    ("hy", "Լավագույն աշխատանք"),
    ("zh", "最佳作品奖"),
    ("ja", "最優秀作品賞を授与する"),
    ("ko", "최우수 작품상"),
];
/// Those whose text is read back as it was written; of the others the order of signs is that of the page.
const READ_BACK: [&str; 9] = ["en", "de", "el", "ru", "hy", "zh", "ja", "ko", "he"];
/// Files of fonts, and the packages that have them.
const FONTS: [(&str, &str); 2] =
    [("NotoSansDevanagari-Regular.ttf", "fonts-noto-core"), ("NotoSansCJK-Regular.ttc", "fonts-noto-cjk")];
/// Those that need no font of the system.
const CARRIED: usize = 4;
/// The picture that was looked at.
const REFERENCE: &str = "proofs/src/documents/scripts.txt";
/// The cells of the picture: columns and rows.
const CELLS: (usize, usize) = (60, 85);
/// How much darker or lighter, of 255, cells are on average.
const TOLERANCE: f64 = 2.5;

fn run(context: &Context) -> Result<Verdict> {
    let texts = if context.short { &TEXTS[..CARRIED] } else { &TEXTS[..] };
    if !context.short {
        for (font, package) in FONTS {
            let installed = process::output(Command::new(debian("fc-list", "fontconfig")?).args([":", "file"]))?;
            if !installed.contains(font) {
                install(package)?;
            }
        }
    }
    let engine = context.engines().first().copied().context("an engine")?;
    let maker = Maker::begin(context, engine)?;
    let lines = texts.iter().map(|(language, text)| format!("#block(text(lang: \"{language}\", size: 20pt)[{text}])"));
    let page = format!("#set page(width: 300pt, height: 600pt)\n{}", lines.collect::<Vec<_>>().join("\n\n"));
    // Signs that no font has, of an area for private use.
    maker.add(&[("TmpTexts", &page), ("TmpNoFon", "Text \u{F1234}\u{F1235}")])?;
    let mut checks = Checks::default();
    let job = maker.of_entry("TmpTexts", "PDF")?;
    checks.check(job["progress"]["done"] == 1, || format!("{job}"));
    let missing = maker.of_entry("TmpNoFon", "PDF")?;
    checks.check(message(&missing).contains("no font"), || format!("{missing}"));
    let Some(slug) = job["results"][0]["slug"].as_str() else { return Ok(checks.verdict("no document")) };
    let scratch = context.scratch()?;
    let file = scratch.path().join("scripts.pdf");
    fs::write(&file, maker.download(slug)?.1)?;
    let read = process::output(Command::new(debian("pdftotext", "poppler-utils")?).arg(&file).arg("-"))?;
    let read = flat(&read);
    for (language, text) in texts.iter().filter(|(language, _)| READ_BACK.contains(language)) {
        checks.check(read.contains(text), || format!("{language}: {text} is read as {read}"));
    }
    fs::create_dir_all(context.target()?.join("documents"))?;
    fs::copy(&file, context.target()?.join("documents/scripts.pdf"))?;
    if context.short {
        return Ok(checks.verdict(&format!("{CARRIED} scripts by the fonts that are carried")));
    }
    let picture = pictures(&file, 72)?.into_iter().next().context("a page")?;
    let cells = cells(&dots(&picture)?);
    let reference = fs::read_to_string(context.root.join(REFERENCE)).unwrap_or_default();
    let looked_at = read_cells(&reference)?;
    if looked_at.len() != cells.len() {
        fs::write(context.target()?.join("documents/scripts.txt"), written(&cells))?;
        bail!("{REFERENCE} is not of this page: look at scripts.pdf and take scripts.txt beside it");
    }
    let difference: f64 = cells.iter().zip(&looked_at).map(|(one, other)| f64::from(one.abs_diff(*other))).sum();
    let difference = difference / f64::from(u32::try_from(cells.len())?);
    checks.check(difference <= TOLERANCE, || {
        format!("the picture differs by {difference:.2} from the one that was looked at")
    });
    Ok(checks.verdict(&format!("{} scripts, the picture differs by {difference:.2} of 255", texts.len())))
}

/// How dark the cells of a picture are on average.
fn cells((width, height, dots): &(usize, usize, Vec<u8>)) -> Vec<u8> {
    let (columns, rows) = CELLS;
    let mut cells = Vec::with_capacity(columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let (mut sum, mut count) = (0_usize, 0_usize);
            for y in row * height / rows..(row + 1) * height / rows {
                for x in column * width / columns..(column + 1) * width / columns {
                    sum += 255 - usize::from(dots.get(y * width + x).copied().unwrap_or(255));
                    count += 1;
                }
            }
            cells.push(u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX));
        }
    }
    cells
}

fn written(cells: &[u8]) -> String {
    let row = |row: &[u8]| row.iter().map(|cell| format!("{cell:02x}")).collect::<Vec<_>>().concat();
    cells.chunks(CELLS.0).map(row).collect::<Vec<_>>().join("\n") + "\n"
}

fn read_cells(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| Ok(u8::from_str_radix(&pair.iter().collect::<String>(), 16)?)).collect()
}
