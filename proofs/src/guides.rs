//! Every command of the README and of the documentation, in sequence from an empty folder.
//!
//! - A page is run by one shell, so that a block finds what those before it made. The first command that fails ends the page.
//! - A comment above a block says why it is not run, or what program it needs and the Debian package that has it.

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::service::Checks;
use super::tools::{self, Tools};
use super::{Context, Proof, Verdict};
use crate::process;

/// What the documentation says works.
pub(crate) const PROOF: Proof = Proof {
    name: "guides",
    claim: "Every command of the README and of the documentation works, in sequence from an empty folder; what the crates say of \
            themselves is built without a warning, and nothing is misspelt.",
    run,
};

/// How long the commands of a page may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// The port of the service in all pages, and one of a page's own. Free ones are put in.
const PORTS: [&str; 2] = ["8080", "9099"];
/// How much of what a page printed is told where a command failed.
const TOLD: usize = 3_000;
/// The spell checker.
const TYPOS: &[&str] = &["typos==1.52.0"];

/// A block of commands of a page.
#[derive(Debug, PartialEq)]
struct Block<'p> {
    /// The line that it begins in.
    line: usize,
    commands: String,
    /// Why it is not run.
    not_run: Option<&'p str>,
    /// A program that not every machine has, and its package.
    needs: Option<(&'p str, &'p str)>,
}

fn run(context: &Context) -> Result<Verdict> {
    let mut checks = Checks::default();
    let (mut run, mut left) = (0, 0);
    for page in pages(&context.root)? {
        let text = fs::read_to_string(&page)?;
        let name = page.strip_prefix(&context.root).unwrap_or(&page).display().to_string();
        let mut wanted = Vec::new();
        for block in blocks(&text) {
            match (block.not_run, block.needs) {
                (Some(reason), _) => {
                    println!("  {name}:{}: not run: {reason}", block.line);
                    left += 1;
                }
                (None, Some((program, package))) if !is_there(context, program, package)? => {
                    println!("  {name}:{}: not run: there is no {program}", block.line);
                    left += 1;
                }
                _ => wanted.push(block),
            }
        }
        if wanted.is_empty() {
            continue;
        }
        run += wanted.len();
        let begun = Instant::now();
        let (succeeded, printed) = run_page(context, &wanted)?;
        println!("  {name}: {} blocks in {:.1} s", wanted.len(), begun.elapsed().as_secs_f64());
        checks.check(succeeded, || {
            format!("{name}: {}", printed.get(printed.len().saturating_sub(TOLD)..).unwrap_or(&printed))
        });
    }
    checks.check(run > 0, || "no block was run".to_owned());
    if !context.short {
        let documented = context
            .cargo(&["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings");
        let (succeeded, said) = documented.capture()?;
        checks.check(succeeded, || format!("cargo doc: {said}"));
        let tools = Tools::install(context, "typos", TYPOS, &[])?;
        let spelt = tools
            .python("typos")
            .args(["--format", "brief"])
            .arg(".")
            .current_dir(&context.root)
            .output()
            .context("typos cannot be started")?;
        checks.check(spelt.status.success(), || format!("typos: {}", String::from_utf8_lossy(&spelt.stdout)));
    }
    Ok(checks.verdict(&format!("{run} blocks of commands, {left} left out")))
}

/// Whether a program is there. The whole form installs it.
fn is_there(context: &Context, program: &str, package: &str) -> Result<bool> {
    if context.short {
        return Ok(process::find(program).is_some());
    }
    tools::debian(program, package).map(|_| true)
}

/// The README and the pages of the documentation; decisions tell of what was, and not what to type.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = vec![root.join("README.md")];
    for folder in [root.join("docs"), root.join("docs/guides")] {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The blocks of `sh` of a page.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut comment, mut is_open) = (None, false);
    for (number, line) in (1..).zip(page.lines()) {
        if is_open {
            is_open = line != "```";
            if let Some(block) = blocks.last_mut().filter(|_| is_open) {
                block.commands += line;
                block.commands.push('\n');
            }
        } else if line == "```sh" {
            let comment: Option<&str> = comment.take();
            let not_run = comment.and_then(|comment| comment.strip_prefix("not run: "));
            let needs = comment.and_then(|comment| comment.strip_prefix("needs: "));
            let needs = needs.map(|needs| needs.split_once(' ').unwrap_or((needs, needs)));
            blocks.push(Block { line: number, commands: String::new(), not_run, needs });
            is_open = true;
        } else if !line.is_empty() {
            comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        }
    }
    blocks
}

/// Runs the blocks of a page in an empty folder; gives whether all of them succeeded, and what they printed.
fn run_page(context: &Context, blocks: &[Block<'_>]) -> Result<(bool, String)> {
    let directory = context.scratch()?;
    let folder = directory.path().join("empty");
    fs::create_dir(&folder)?;
    let mut script = "set -euo pipefail\ntrap 'echo \"line $BLOCK: $BASH_COMMAND\" >&2' ERR\n".to_owned();
    for block in blocks {
        let _ = write!(script, "BLOCK={}\n{}\n", block.line, block.commands);
    }
    // Both are taken until both are known, so that they differ.
    let taken = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    for (port, free) in PORTS.into_iter().zip(&taken) {
        script = script.replace(port, &free.local_addr()?.port().to_string());
    }
    let listen = taken[0].local_addr()?.to_string();
    drop(taken);
    let (path, log) = (directory.path().join("page.sh"), directory.path().join("page.log"));
    fs::write(&path, script)?;
    let output = File::create(&log)?;
    let mut command = Command::new("bash");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PLAUDIT_")) {
        command.env_remove(name);
    }
    let binary = context.binary()?;
    let own = binary.parent().context("the binary is in no folder")?.to_owned();
    let search = env::var_os("PATH").unwrap_or_default();
    command
        .arg(&path)
        .current_dir(&folder)
        .env("PATH", env::join_paths([own].into_iter().chain(env::split_paths(&search)))?)
        .env("PLAUDIT_SERVER_LISTEN", &listen)
        .env("PLAUDIT_DOCUMENTS_TYPESETTER", context.typesetter()?)
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output)
        // Servers that the page leaves running end with it.
        .process_group(0);
    let mut shell = command.spawn().context("bash cannot be started")?;
    let begun = Instant::now();
    let mut ended = None;
    while ended.is_none() && begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(50));
        ended = shell.try_wait()?;
    }
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", shell.id())]).stderr(Stdio::null()).status();
    let printed = fs::read_to_string(&log)?;
    let Some(status) = ended else {
        shell.wait()?;
        return Ok((false, format!("{printed}\nit took longer than {} s", PATIENCE.as_secs())));
    };
    Ok((status.success(), printed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_run_unless_the_comment_above_it_says_why_not() {
        let page = "# Title\n\n```sh\nfirst\n```\n\n<!-- not run: it serves -->\n```sh\nserve\n```\n<!-- needs: php php-cli -->\n\
                    ```sh\nphp\n```\n<!-- not run: far away -->\nText.\n```text\nnothing\n```\n";
        let block =
            |line, commands: &str, not_run, needs| Block { line, commands: format!("{commands}\n"), not_run, needs };
        let expected = [
            block(3, "first", None, None),
            block(8, "serve", Some("it serves"), None),
            block(12, "php", None, Some(("php", "php-cli"))),
        ];
        assert_eq!(blocks(page), expected);
    }
}
