//! The help of the command line: commands in groups, each with examples and with the options that mean something to it.

use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// Commands by what they are for, in the order in which an operator meets them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Begin", &["demo", "serve", "account", "key", "user"]),
    ("Programs", &["apply", "schema", "import", "export", "fill"]),
    ("Results", &["scores", "orders", "document", "verify-result"]),
    ("Operation", &["migrate", "backup", "restore", "doctor", "health", "maintenance", "webhook", "config"]),
    ("Help", &["version", "completions", "help"]),
];

/// The options of the service that mean something to a command. To those that are not named here none does.
const SERVICE_OPTIONS: &[(&str, &[&str])] = &[
    ("demo", &["config", "listen", "base_url", "region"]),
    ("serve", &["config", "database", "storage", "listen", "base_url", "region"]),
    ("account", &["config", "database", "region"]),
    ("key", &["config", "database"]),
    ("user", &["config", "database", "storage", "listen", "base_url"]),
    ("webhook", &["config", "database"]),
    ("orders", &["config", "database"]),
    ("document", &["config", "database", "storage"]),
    ("scores", &["config", "database"]),
    ("health", &["config", "listen"]),
    ("maintenance", &["config", "database", "region"]),
    ("apply", &["config", "database", "storage"]),
    ("import", &["config", "database", "storage"]),
    ("export", &["config", "database", "storage"]),
    ("migrate", &["config", "database"]),
    ("backup", &["config", "database", "storage"]),
    ("restore", &["config", "database", "storage"]),
    ("doctor", &["config", "database", "storage"]),
    ("config", &["config", "database", "storage", "listen", "base_url", "region"]),
    ("fill", &["config", "database", "storage"]),
];

/// What to type, by the command that it stands below.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "plaudit demo",
            "plaudit serve",
            "plaudit account create --name \"Example Awards\"",
            "plaudit help key create",
        ],
    ),
    ("demo", &["plaudit demo", "plaudit demo --listen 127.0.0.1:9000"]),
    (
        "serve",
        &["plaudit serve", "plaudit serve --database postgres://plaudit@db.example.org/plaudit --listen 0.0.0.0:8080"],
    ),
    (
        "account",
        &[
            "plaudit account create --name \"Example Awards\" --slug OtherAwd --language en_GB,de_DE",
            "plaudit account set OtherAwd --rate-limit 600",
            "plaudit account list --output json",
        ],
    ),
    (
        "key",
        &[
            "plaudit key create --account OtherAwd --name \"web site\" --scope read --expires 90d",
            "plaudit key list --account OtherAwd",
            "plaudit key revoke --account OtherAwd \"web site\"",
        ],
    ),
    (
        "user",
        &[
            "plaudit user list --account OtherAwd",
            "plaudit user confirm-link --account OtherAwd ada@example.org",
            "plaudit user erase --account OtherAwd ada@example.org --for-good",
        ],
    ),
    ("apply", &["plaudit apply awards.yaml --dry-run", "plaudit apply awards.yaml"]),
    ("schema", &["plaudit schema"]),
    ("import", &["plaudit import awards.jsonl", "plaudit import more.jsonl --account OtherAwd --files pictures"]),
    ("export", &["plaudit export OtherAwd --output awards.jsonl", "plaudit export OtherAwd --set-up"]),
    ("fill", &["plaudit fill --entries 1000 --orders 0 --seed 7 --account TrialRun"]),
    ("scores", &["plaudit scores export OtherAwd --output scores.csv"]),
    (
        "orders",
        &["plaudit orders export OtherAwd --output orders.csv", "plaudit orders invoice OtherAwd 17 --form html"],
    ),
    ("document", &["plaudit document preview certificate.typ --account OtherAwd --entry EntryAAA --watch"]),
    ("verify-result", &["plaudit verify-result bundle.json"]),
    ("migrate", &["plaudit migrate"]),
    ("backup", &["plaudit backup plaudit.backup"]),
    ("restore", &["plaudit restore plaudit.backup --database postgres://plaudit@db.example.org/plaudit"]),
    ("doctor", &["plaudit doctor", "plaudit doctor --account OtherAwd --files"]),
    ("health", &["plaudit health"]),
    ("version", &["plaudit version", "plaudit version --json"]),
    ("maintenance", &["plaudit maintenance on \"We are back at 10:00 UTC\"", "plaudit maintenance off"]),
    ("webhook", &["plaudit webhook list OtherAwd", "plaudit webhook show OtherAwd HookSlug --output json"]),
    ("config", &["plaudit config show"]),
    ("completions", &["plaudit completions bash"]),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}";

/// The command line with its help.
pub(super) fn complete(command: Command) -> Command {
    let options: Vec<Arg> = command.get_arguments().cloned().collect();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let groups = groups(&command);
    let mut command = command.help_template(TEMPLATE).after_help(groups + &examples(""));
    for name in names {
        let meaning = listed(SERVICE_OPTIONS, &name);
        let own: Vec<Arg> = options
            .iter()
            .map(|option| {
                option.clone().help_heading("Options of the service").hide(!meaning.contains(&option.get_id().as_str()))
            })
            .collect();
        let examples = examples(&name);
        // An option that a command has by itself is not taken from the program.
        command = command.mut_subcommand(&name, |sub| with_examples(sub.args(own).after_help(examples), &name));
    }
    command
}

/// Gives the commands below a command the examples that begin as they do.
fn with_examples(command: Command, name: &str) -> Command {
    let leaves: Vec<String> = command.get_subcommands().map(|leaf| leaf.get_name().to_owned()).collect();
    leaves.into_iter().fold(command, |command, leaf| {
        let begin = format!("plaudit {name} {leaf} ");
        let own = listed(EXAMPLES, name).iter().copied().filter(|example| format!("{example} ").starts_with(&begin));
        let text = lines(own);
        command.mut_subcommand(leaf, |leaf| leaf.after_help(text))
    })
}

/// Refuses an option of the service that means nothing to the command: nobody is to think that it did something.
pub(super) fn refuse(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, _)) = matches.subcommand() else { return Ok(()) };
    let meaning = listed(SERVICE_OPTIONS, name);
    let mut given = matches.ids().map(clap::Id::as_str);
    let is_idle = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine) && !meaning.contains(id);
    given.find(is_idle).map_or(Ok(()), |id| {
        let option = id.replace('_', "-");
        let told = format!("--{option} means nothing to `plaudit {name}`");
        Err(super::command_line().error(ErrorKind::UnknownArgument, told))
    })
}

fn listed<'t>(table: &[(&str, &'t [&'t str])], name: &str) -> &'t [&'t str] {
    table.iter().find(|(known, _)| *known == name).map_or(&[], |(_, listed)| listed)
}

fn groups(command: &Command) -> String {
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
        found.unwrap_or_else(|| "Print the help of a command".to_owned())
    };
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in *names {
            let _ = writeln!(text, "  {name:14} {}", about(name));
        }
        text.push('\n');
    }
    text
}

fn examples(name: &str) -> String {
    lines(listed(EXAMPLES, name).iter().copied())
}

fn lines<'e>(examples: impl Iterator<Item = &'e str>) -> String {
    examples.fold(String::new(), |text, example| {
        let heading = if text.is_empty() { "Examples:\n" } else { "" };
        text + heading + "  " + example + "\n"
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::command_line;
    use super::*;

    /// The words of a line as a shell reads them.
    fn words(line: &str) -> Vec<String> {
        let pieces = line.split('"').enumerate();
        let words = pieces.flat_map(|(place, piece)| match place % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_is_in_a_group_and_has_an_example() {
        let command = command_line();
        let commands: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), commands);
        assert_eq!(grouped.len(), commands.len());
        for name in commands.iter().filter(|name| **name != "help") {
            assert!(!listed(EXAMPLES, name).is_empty(), "{name} has no example");
        }
    }

    #[test]
    fn every_example_is_a_command() {
        for example in EXAMPLES.iter().flat_map(|(_, examples)| examples.iter()) {
            match command_line().try_get_matches_from(words(example)) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{example}: {error}"),
            }
        }
    }

    #[test]
    fn an_option_of_the_service_stands_in_the_help_of_commands_that_it_means_something_to() {
        let help = |name: &str| {
            let error = command_line().try_get_matches_from(["plaudit", name, "--help"]).unwrap_err();
            error.to_string()
        };
        assert!(help("serve").contains("--listen") && help("serve").contains("--database"));
        assert!(help("export").contains("--storage") && !help("export").contains("--listen"));
        assert!(!help("schema").contains("--database"));
        let refused = |words: &[&str]| {
            let matches = command_line().try_get_matches_from(words).unwrap();
            refuse(&matches).err().map(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
        };
        let idle = "error: --listen means nothing to `plaudit export`".to_owned();
        assert_eq!(refused(&["plaudit", "export", "OtherAwd", "--listen", "a:1"]), Some(idle.clone()));
        assert_eq!(refused(&["plaudit", "--listen", "a:1", "export", "OtherAwd"]), Some(idle));
        assert_eq!(refused(&["plaudit", "key", "list", "--account", "OtherAwd", "--database", "sqlite:a.db"]), None);
        assert!(
            command_line()
                .try_get_matches_from(["plaudit", "help", "key", "create"])
                .unwrap_err()
                .to_string()
                .contains("Examples:")
        );
        let given = command_line().try_get_matches_from(["plaudit", "serve", "--database", "sqlite:a.db"]).unwrap();
        assert_eq!(given.get_one::<String>("database").map(String::as_str), Some("sqlite:a.db"));
    }
}
