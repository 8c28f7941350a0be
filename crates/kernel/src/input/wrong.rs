//! What is wrong with values from outside.

use crate::text::cut;

/// The most characters of a message.
const MESSAGE_LENGTH: usize = 1_000;

/// What is wrong with a record: the path of a member, such as `translated.name`, and a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations(Vec<(String, String)>);

impl Violations {
    /// Adds a message about a member.
    pub fn add(&mut self, member: impl Into<String>, message: impl Into<String>) {
        let message = message.into();
        self.0.push((member.into(), cut(&message, MESSAGE_LENGTH).into_owned()));
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members and messages, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(member, message)| (member.as_str(), message.as_str()))
    }

    /// Adds what another check found.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// What is wrong with a value of which these are the members.
    pub fn of_part<T>(self) -> Wrong<T> {
        Wrong { messages: self.iter().map(|(member, message)| format!("{member} {message}")).collect(), rest: None }
    }

    /// Adds what is wrong with a member.
    pub fn wrong<T>(&mut self, member: &str, wrong: &Wrong<T>) {
        wrong.messages().for_each(|message| self.add(member, message));
    }

    /// `made` where nothing is wrong, else the violations. A value that could not be made always left a violation.
    pub fn or<T>(self, made: Option<T>) -> Result<T, Self> {
        match made {
            Some(made) if self.is_empty() => Ok(made),
            _ => Err(self),
        }
    }
}

/// What is wrong with a value, a message each, and what could be read of it in spite of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong<T> {
    pub(super) messages: Vec<String>,
    pub(super) rest: Option<T>,
}

impl<T> From<String> for Wrong<T> {
    fn from(message: String) -> Self {
        Self { messages: vec![message], rest: None }
    }
}

impl<T> std::fmt::Display for Wrong<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.messages.join("; "))
    }
}

impl<T> Wrong<T> {
    /// `made` where there are no messages; else they, and what was made where it is of use.
    pub fn unless_none(messages: Vec<String>, made: T, is_of_use: bool) -> Result<T, Self> {
        if messages.is_empty() { Ok(made) } else { Err(Self { messages, rest: is_of_use.then_some(made) }) }
    }

    /// Each message.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().map(String::as_str)
    }

    /// The messages alone, of a value that is a part of another.
    pub fn of_part<U>(self) -> Wrong<U> {
        Wrong { messages: self.messages, rest: None }
    }

    /// The same of what is made of the value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Wrong<U> {
        Wrong { messages: self.messages, rest: self.rest.map(change) }
    }
}

/// Nothing is wrong where there are no messages.
pub fn all_well(messages: Vec<String>) -> Result<(), Wrong<()>> {
    Wrong::unless_none(messages, (), false)
}

/// What two checks of the same value found.
pub fn both(first: Result<(), Wrong<()>>, second: Result<(), Wrong<()>>) -> Result<(), Wrong<()>> {
    all_well([first, second].into_iter().filter_map(Result::err).flat_map(|wrong| wrong.messages).collect())
}
