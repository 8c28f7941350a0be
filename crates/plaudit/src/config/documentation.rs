//! `docs/configuration.md`, from the table of settings.

use std::fmt::Write as _;

use super::{Config, ConfigArgs, SECTIONS, SETTINGS};

impl Config {
    /// The text of `docs/configuration.md`.
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

/// What stands before the tables of settings.
const DOCUMENTATION: &str = include_str!("documentation.md");
