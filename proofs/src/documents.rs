//! Documents of the demonstration program, opened by other readers: PDFs by Poppler, Word by `LibreOffice`.
//!
//! What a reader shows is compared with what the interface says: texts, languages, tags, and that a page is not blank.

pub(super) mod job;
mod made;
pub(super) mod safe;
pub(super) mod scripts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use self::made::Maker;
use super::service::{Checks, on_each_engine};
use super::tools::debian;
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "documents",
    claim: "Documents of every layout and type are what other readers open: their texts are those of the interface, their pages are \
            not blank, accessible ones are tagged, and Word is converted by LibreOffice.",
    run: |context| {
        let first = context.engines().first().copied().filter(|_| context.short);
        first.map_or_else(|| on_each_engine(context, show), |engine| show(context, engine))
    },
};

/// A layout, what it is about, a record, and what a document of it says.
const MADE: [(&str, &str, &str, &[&str]); 5] = [
    ("TmpCertf", "entry", "EnHarbor", &["Harbour Library"]),
    ("TmpPacks", "entry", "EnHarbor", &["Harbour Library", "report.txt"]),
    ("TmpInvoi", "order", "OrdAaaaa", &["Okafor & Sons", "Leeds"]),
    ("TmpSheet", "assignment", "", &["Mei Tanaka"]),
    ("TmpBookl", "score_set", "SetFinal", &["Final"]),
];

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let maker = Maker::begin(context, engine)?;
    let scratch = context.scratch()?;
    let mut checks = Checks::default();
    for (template, resource, record, texts) in MADE {
        let record = if record.is_empty() { maker.assignment_of("UserMeii")? } else { record.to_owned() };
        for file_type in ["PDF", "accessible-pdf", "Word"] {
            let job = maker.make(&json!({
                "translated": { "name": { "en_GB": format!("{template} of {record}") } },
                "template": template, "fileType": file_type, "shared": false, "resource": resource, "selected": [record],
            }))?;
            checks.check(job["progress"]["done"] == 1, || format!("{template} as {file_type}: {job}"));
            let Some(slug) = job["results"][0]["slug"].as_str() else { continue };
            let (name, bytes) = maker.download(slug)?;
            let file =
                scratch.path().join(format!("{template}-{file_type}.{}", name.rsplit('.').next().unwrap_or_default()));
            fs::write(&file, bytes)?;
            match file_type {
                "Word" => check_word(context, &file, texts, &mut checks)?,
                _ => check_pdf(&file, texts, file_type == "accessible-pdf", &mut checks)?,
            }
        }
    }
    keep(context, scratch.path())?;
    Ok(checks.verdict("15 documents"))
}

/// A text without the breaks that lines and pages have.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check_texts(of: &Path, text: &str, texts: &[&str], checks: &mut Checks) {
    let (name, text) = (of.file_name().unwrap_or_default().to_string_lossy().into_owned(), flat(text));
    for expected in texts {
        checks.check(text.contains(expected), || format!("{name} does not say {expected:?}: {text}"));
    }
}

/// Text, tags and pages of a PDF, as Poppler reads them.
fn check_pdf(file: &Path, texts: &[&str], is_accessible: bool, checks: &mut Checks) -> Result<()> {
    let name = file.display().to_string();
    let text = process::output(Command::new(debian("pdftotext", "poppler-utils")?).arg(file).arg("-"))?;
    check_texts(file, &text, texts, checks);
    let about = process::output(Command::new(debian("pdfinfo", "poppler-utils")?).arg(file))?;
    let has = |line: &str| about.lines().any(|found| flat(found) == line);
    checks.check(has("Tagged: yes"), || format!("{name} has no tags: {about}"));
    checks
        .check(about.lines().any(|line| line.starts_with("Title: ") && line.len() > 20), || format!("{name}: {about}"));
    if is_accessible {
        let metadata = process::output(Command::new("pdfinfo").arg("-meta").arg(file))?;
        checks.check(metadata.contains("<pdfuaid:part>1<"), || format!("{name} is no PDF/UA-1: {metadata}"));
        let structure = process::output(Command::new("pdfinfo").arg("-struct-text").arg(file))?;
        // A certificate has a title and no heading.
        let has_headings = structure.contains("H1") || name.contains("TmpCertf");
        checks.check(structure.contains("Document") && has_headings, || format!("{name}: {structure}"));
        for expected in texts {
            checks.check(flat(&structure.replace('"', " ")).contains(expected), || {
                format!("{name}: no tag is around {expected:?}")
            });
        }
    }
    for picture in pictures(file, 40)? {
        checks.check(!is_blank(&picture)?, || format!("a page of {name} is blank"));
    }
    Ok(())
}

/// The pages of a PDF as pictures of so many dots an inch.
fn pictures(file: &Path, dots: u32) -> Result<Vec<PathBuf>> {
    let prefix = file.with_extension("");
    let dots = dots.to_string();
    process::output(
        Command::new(debian("pdftoppm", "poppler-utils")?).args(["-gray", "-r", &dots]).arg(file).arg(&prefix),
    )?;
    let folder = file.parent().context("a file is in a folder")?;
    let stem = prefix.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(&format!("{stem}-")) && path.extension().is_some_and(|ending| ending == "pgm") {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        bail!("{} has no page", file.display());
    }
    Ok(found)
}

/// The dots of a grey picture (PGM): width, height and their values.
fn dots(picture: &Path) -> Result<(usize, usize, Vec<u8>)> {
    let bytes = fs::read(picture)?;
    let (mut at, mut numbers) = (2, Vec::new());
    while numbers.len() < 3 {
        let rest = bytes.get(at..).context("a picture ends early")?;
        let begin = rest.iter().position(u8::is_ascii_digit).context("a picture has no size")?;
        let digits = rest[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        numbers.push(std::str::from_utf8(&rest[begin..begin + digits])?.parse::<usize>()?);
        at += begin + digits;
    }
    Ok((numbers[0], numbers[1], bytes.get(at + 1..).unwrap_or_default().to_vec()))
}

fn is_blank(picture: &Path) -> Result<bool> {
    let (_, _, dots) = dots(picture)?;
    Ok(dots.iter().all(|dot| *dot > 240))
}

/// A document of Word: its parts are well-formed XML, and `LibreOffice` reads its texts.
fn check_word(context: &Context, file: &Path, texts: &[&str], checks: &mut Checks) -> Result<()> {
    const SCRIPT: &str = "import sys, zipfile, xml.etree.ElementTree as tree\n\
        z = zipfile.ZipFile(sys.argv[1]); [tree.fromstring(z.read(n)) for n in z.namelist() if n.endswith(('.xml', '.rels'))]\n\
        print(' '.join(tree.fromstring(z.read('word/document.xml')).itertext()))";
    let text = process::output(Command::new(context.python()?).args(["-c", SCRIPT]).arg(file))?;
    check_texts(file, &text, texts, checks);
    if context.short {
        return Ok(());
    }
    let office = debian("soffice", "libreoffice-writer-nogui")?;
    let folder = file.parent().context("a file is in a folder")?;
    let profile = format!("-env:UserInstallation=file://{}", folder.join("office").display());
    let convert = ["--headless", "--convert-to", "pdf:writer_pdf_Export", "--outdir"];
    process::output(Command::new(office).arg(profile).args(convert).arg(folder.join("word")).arg(file))?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let converted = folder.join("word").join(format!("{stem}.pdf"));
    let text = process::output(Command::new(debian("pdftotext", "poppler-utils")?).arg(&converted).arg("-"))?;
    check_texts(file, &text, texts, checks);
    for picture in pictures(&converted, 40)? {
        checks.check(!is_blank(&picture)?, || format!("a page of {} is blank", converted.display()));
    }
    Ok(())
}

/// Leaves what was made to be looked at.
fn keep(context: &Context, folder: &Path) -> Result<()> {
    let kept = context.target()?.join("documents");
    fs::create_dir_all(&kept)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "pdf" || ending == "docx") {
            fs::copy(&path, kept.join(path.file_name().unwrap_or_default()))?;
        }
    }
    println!("  they are in {}", kept.display());
    Ok(())
}

/// What a job tells of an item that failed.
fn message(job: &Value) -> &str {
    job["errors"][0]["message"].as_str().unwrap_or_default()
}
