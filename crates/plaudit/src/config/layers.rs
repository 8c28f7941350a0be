//! The layers that give values, put over one another.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, Origin, SECTIONS, SETTINGS, Setting, Source, names_of};

/// A setting, by section and name.
type Name = (&'static str, &'static str);

/// Settings of which the first, in bytes, must be at least so many times the second: whatever the one allows, the other has
/// room for.
const AT_LEAST: [(Name, u64, Name); 6] = [
    (("limits", "entry_bytes"), 1, ("limits", "field_answer_bytes")),
    (("limits", "page_bytes"), 1, ("limits", "entry_bytes")),
    // No account takes more than half.
    (("budgets", "memory_megabytes"), 2, ("budgets", "answer_megabytes")),
    (("budgets", "spool_megabytes"), 2, ("budgets", "account_spool_megabytes")),
    // With an `Idempotency-Key` an upload waits in base64 first, then decoded as well.
    (("budgets", "account_spool_megabytes"), 3, ("server", "max_upload_bytes")),
    (("budgets", "account_spool_megabytes"), 1, ("limits", "page_bytes")),
];

/// The layers put over one another so far.
pub(super) struct Layers {
    values: Vec<(String, Source)>,
    faults: Vec<String>,
}

impl Layers {
    pub(super) fn defaults() -> Self {
        let values = SETTINGS.iter().map(|setting| (setting.default.to_owned(), Source::Default)).collect();
        Self { values, faults: Vec::new() }
    }

    /// Takes a value if it is allowed; `place` says to people where it stands.
    pub(super) fn offer(&mut self, position: usize, text: &str, source: Source, place: &str) {
        let (Some(setting), Some(value)) = (SETTINGS.get(position), self.values.get_mut(position)) else { return };
        let text = text.trim();
        match setting.kind.check(text) {
            Ok(()) => *value = (text.to_owned(), source),
            Err(allowed) => {
                let Setting { section, name, .. } = setting;
                self.faults.push(format!("{place}: [{section}] {name} = {}: {allowed}", setting.shown(text)));
            }
        }
    }

    pub(super) fn file(&mut self, path: &Path, shown: &Path, required: bool) {
        let file = shown.display();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => return,
            Err(error) => return self.faults.push(format!("{file}: {error}")),
        };
        let line = |start: usize| 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        let table = match DeTable::parse(&text) {
            Ok(table) => table.into_inner(),
            // The line itself is not shown: it may hold a password.
            Err(error) => {
                let line = line(error.span().map_or(0, |span| span.start));
                return self.faults.push(format!("{file}, line {line}: this is not TOML: {}", error.message()));
            }
        };
        for (section, value) in &table {
            let place = format!("{file}, line {}", line(section.span().start));
            let section = section.get_ref().as_ref();
            if !SECTIONS.iter().any(|(known, _)| *known == section) {
                let known: Vec<_> = SECTIONS.iter().map(|(known, _)| *known).collect();
                self.faults.push(format!("{place}: [{section}]: no such section; there are {}", known.join(", ")));
            } else if let DeValue::Table(entries) = value.get_ref() {
                for (name, value) in entries {
                    let source = Source::File(shown.to_owned(), line(name.span().start));
                    self.entry(section, name.get_ref(), value, source);
                }
            } else {
                self.faults.push(format!("{place}: [{section}]: allowed is a section, with {}", names_of(section)));
            }
        }
    }

    fn entry(&mut self, section: &str, name: &str, value: &Spanned<DeValue<'_>>, source: Source) {
        let place = source.to_string();
        let Some(position) = Setting::position(section, name) else {
            let known = names_of(section);
            return self.faults.push(format!("{place}: [{section}] {name}: no such setting; there are {known}"));
        };
        let kind = SETTINGS[position].kind;
        match kind.text(value.get_ref()) {
            Some(text) => self.offer(position, &text, source, &place),
            None => self.faults.push(format!("{place}: [{section}] {name}: allowed is {}", kind.allowed())),
        }
    }

    pub(super) fn variable(&mut self, variable: &str, text: &str) {
        let found = SECTIONS.iter().find_map(|(section, _)| {
            let rest = variable.strip_prefix("PLAUDIT_")?.strip_prefix(&section.to_ascii_uppercase())?;
            Some((*section, rest.strip_prefix('_')?))
        });
        let Some((section, rest)) = found else { return };
        let place = format!("environment, {variable}");
        match Setting::position(section, &rest.to_ascii_lowercase()) {
            Some(position) => self.offer(position, text, Source::Environment(variable.to_owned()), &place),
            // Kubernetes gives every container such variables for a service named `plaudit-database`.
            None if rest == "PORT" || ["PORT_", "SERVICE_"].iter().any(|prefix| rest.starts_with(prefix)) => {}
            None => {
                let (name, known) = (rest.to_ascii_lowercase(), names_of(section));
                self.faults.push(format!("{place}: [{section}] {name}: no such setting; there are {known}"));
            }
        }
    }

    /// What a setting is, in bytes and as people read it.
    fn size(&self, (section, name): Name) -> Option<(u64, String)> {
        let (text, source) = self.values.get(Setting::position(section, name)?)?;
        let unit = if name.ends_with("megabytes") { 1 << 20 } else { 1 };
        Some((text.parse::<u64>().ok()? * unit, format!("[{section}] {name} = {text} ({source})")))
    }

    /// Finds settings that are right and contradict each other.
    fn compare(&mut self) {
        for (larger, times, smaller) in AT_LEAST {
            if let (Some((has, larger)), Some((bytes, smaller))) = (self.size(larger), self.size(smaller))
                && has < bytes.saturating_mul(times)
            {
                let needs = bytes.saturating_mul(times);
                let times = if times == 1 { String::new() } else { format!("{times} times ") };
                self.faults.push(format!("{larger}: must be at least {times}{smaller}, which is {needs} bytes"));
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Config, ConfigError> {
        if self.faults.is_empty() {
            self.compare();
        }
        let listen = Setting::position("server", "listen").and_then(|position| self.values.get(position));
        let listen = listen.map(|(text, _)| text.clone()).unwrap_or_default();
        if let Some((text, _)) = Setting::position("server", "base_url").and_then(|at| self.values.get_mut(at)) {
            *text = if text.is_empty() { default_base_url(&listen) } else { text.trim_end_matches('/').to_owned() };
        }
        let shown = |(setting, (text, source)): (&Setting, &(String, Source))| Origin {
            shown: setting.shown(text),
            source: source.clone(),
        };
        let origins = SETTINGS.iter().zip(&self.values).map(shown).collect();
        let texts: Vec<String> = self.values.into_iter().map(|(text, _)| text).collect();
        match Config::build(&texts, origins) {
            Some(config) if self.faults.is_empty() => Ok(config),
            _ => Err(ConfigError { faults: self.faults }),
        }
    }
}

/// The address listened on as a client on the same machine would write it.
fn default_base_url(listen: &str) -> String {
    let port = listen.rsplit_once(':').map_or("", |(_, port)| port);
    if listen.starts_with("0.0.0.0:") || listen.starts_with("[::]:") {
        format!("http://localhost:{port}")
    } else {
        format!("http://{listen}")
    }
}
