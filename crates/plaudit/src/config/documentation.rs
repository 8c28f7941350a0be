//! `docs/configuration.md`, from the table of settings.

use std::fmt::Write as _;

use super::{Config, ConfigArgs, SECTIONS, SETTINGS};

impl Config {
    /// The text of `docs/configuration.md`.
    #[must_use]
    pub fn documentation() -> String {
        let args = ConfigArgs::default();
        let options = args.given();
        let mut text = DOCUMENTATION.to_owned();
        for (section, about) in SECTIONS {
            let _ = write!(text, "\n## {section}\n\n{}\n\n", about.trim());
            text.push_str("| Setting | Default | Allowed | Meaning |\n|---|---|---|---|\n");
            for setting in SETTINGS.iter().filter(|setting| setting.section == *section) {
                let mut options =
                    options.iter().filter(|(_, section, name, _)| (*section, *name) == (setting.section, setting.name));
                let option = options.next().map_or(String::new(), |(option, ..)| format!("<br>`{option}`"));
                let default =
                    if setting.default.is_empty() { "nothing".to_owned() } else { format!("`{}`", setting.default) };
                let (name, variable, allowed) = (setting.name, setting.variable(), setting.kind.allowed());
                let meaning = setting.text.trim();
                let _ = writeln!(text, "| `{name}`<br>`{variable}`{option} | {default} | {allowed} | {meaning} |");
            }
        }
        text
    }
}

const DOCUMENTATION: &str = "# Configuration

Plaudit starts without any configuration. What is set is taken from the last of these that gives a value:

1. the default;
2. `plaudit.toml` in the working directory, or the file that `--config FILE` or `PLAUDIT_CONFIG` names;
3. the environment: `PLAUDIT_<SECTION>_<NAME>`, such as `PLAUDIT_SERVER_LISTEN`;
4. the command line.

A section or setting that does not exist and a value that is not allowed are faults, wherever they stand: the program
says all of them, with what is allowed, and does not start. `plaudit config show` prints the values in use and where
each came from; passwords are masked. Relative paths are relative to the working directory.

```toml
[server]
listen = \"0.0.0.0:8080\"
base_url = \"https://awards.example.org\"
trusted_proxies = [\"10.0.0.0/8\"]

[database]
url = \"postgres://plaudit:secret@db.example.org/plaudit\"
```

This page is generated from the table in `crates/plaudit/src/config.rs`; a test compares the two.
";
