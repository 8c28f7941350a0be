//! Lists: in columns for people, and as JSON for programs.

use serde_json::{Map, Value};

use super::{Failure, say};

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// In columns below their names
    #[default]
    Text,
    /// As an array of objects
    Json,
}

/// The option of every command that prints a list.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ListOptions {
    /// How to print the list
    #[arg(long = "output", value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
}

/// A list: the names of its columns, and its rows.
pub(super) struct Table<const N: usize> {
    columns: [&'static str; N],
    rows: Vec<[Value; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(columns: [&'static str; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, row: [Value; N]) {
        self.rows.push(row);
    }

    pub(super) fn print(&self, ListOptions { format }: ListOptions) -> Result<(), Failure> {
        match format {
            Format::Json => {
                let object = |row: &[Value; N]| -> Map<String, Value> {
                    self.columns.iter().map(|name| (*name).to_owned()).zip(row.iter().cloned()).collect()
                };
                let objects: Vec<_> = self.rows.iter().map(object).collect();
                say(&serde_json::to_string_pretty(&objects)?)
            }
            Format::Text => self.lines().iter().try_for_each(|line| say(line)),
        }
    }

    /// A line of names, and one for each row; a value begins where its name does.
    fn lines(&self) -> Vec<String> {
        let names = self.columns.map(|name| name.replace('_', " ").to_uppercase());
        let shown: Vec<[String; N]> =
            std::iter::once(names).chain(self.rows.iter().map(|row| row.each_ref().map(text))).collect();
        let width = |column: usize| shown.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; N] = std::array::from_fn(width);
        let line = |row: &[String; N]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        shown.iter().map(line).collect()
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_stand_below_the_names_of_their_columns() {
        let mut table = Table::new(["slug", "rate_limit", "name"]);
        table.add([json!("OtherAwd"), json!(60), json!("Grüße")]);
        table.add([json!("Second"), Value::Null, json!("B")]);
        let expected = ["SLUG      RATE LIMIT  NAME", "OtherAwd  60          Grüße", "Second    -           B"];
        assert_eq!(table.lines(), expected);
    }
}
