//! Answers: what a record says in the fields of its form.
//!
//! - An answer is given to a live field about what the record is, of its form or tab. It is taken back wherever it stands.
//! - The cells of a table are merged, every other answer is replaced; null and the empty string take one back.
//! - What is too long since a limit was lowered can be shortened, and not made longer.

use crate::program::fields::{Field, Resource, check_answer, form_of, is_asked_in, merged, validate_answer};
use crate::program::{Context, Member, MemberValue, Program, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members, Violations, Wrong};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, excerpt, write_json_string};

/// Answers by field, ordered by the field's slug, each one a value that is not null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(Vec<(Slug, Json<'static>)>);

impl Answers {
    /// Reads an answer map. A null is no answer.
    pub fn read(json: &Json) -> Result<Self, Wrong<Self>> {
        let Json::Object(members) = json else {
            return Err("must be a map from field slug to value".to_owned().into());
        };
        let mut answers = Vec::with_capacity(members.len());
        let mut messages = Vec::new();
        for (name, value) in members.iter() {
            match Slug::parse(name) {
                Some(_) if value.is_null() => {}
                Some(field) => answers.push((field, value.clone().into_owned())),
                None => messages.push(format!("{} is no slug of a field", excerpt(name))),
            }
        }
        answers.sort_by_key(|(field, _)| *field);
        Wrong::unless_none(messages, Self(answers), true)
    }

    /// The fields and values, by the field's slug.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Slug, &Json<'static>)> {
        self.0.iter().map(|(field, value)| (*field, value))
    }

    /// The answer to a field.
    pub fn get(&self, field: Slug) -> Option<&Json<'static>> {
        let index = self.0.binary_search_by_key(&field, |(field, _)| *field).ok()?;
        Some(&self.0[index].1)
    }

    /// Gives an answer, or takes the one away that is there.
    pub fn set(&mut self, field: Slug, answer: Option<Json<'static>>) {
        match (self.0.binary_search_by_key(&field, |(field, _)| *field), answer) {
            (Ok(index), Some(answer)) => self.0[index].1 = answer,
            (Ok(index), None) => drop(self.0.remove(index)),
            (Err(index), Some(answer)) => self.0.insert(index, (field, answer)),
            (Err(_), None) => {}
        }
    }

    /// The canonical text of the answer map.
    pub fn to_json(&self) -> String {
        let mut text = Vec::with_capacity(64 * self.0.len() + 2);
        text.push(b'{');
        for (index, (field, value)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write_json_string(field.as_str(), &mut text);
            text.push(b':');
            value.write_json(&mut text);
        }
        text.push(b'}');
        // Only whole strings were written, so that the lossy way is never taken.
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl MemberValue for Answers {
    const SHAPE: Shape = Shape::Component("Answers");

    fn read(json: &Json, _: &Shape, _: &Context) -> Result<Self, Wrong<Self>> {
        Self::read(json)
    }

    fn write(&self, member: &Member, object: &mut Object<'_>, _: Texts) {
        object.raw(member.name, &self.to_json());
    }

    fn absent(_: &Context) -> Option<Self> {
        Some(Self::default())
    }
}

/// The answers that a body gives, by the slug of their field.
pub type Given = JsonObject<'static>;

/// Reads the answers that a body gives, each of which its field checks.
pub fn given(json: &Json) -> Result<Given, String> {
    match json {
        Json::Object(answers) => Ok(answers.clone().into_owned()),
        _ => Err("must be a map from field slug to value".to_owned()),
    }
}

/// Reads the body that gives the answer to one field; other members are passed over.
pub fn given_to_field(body: &JsonObject, field: Slug) -> (Option<JsonObject<'static>>, Violations) {
    let mut members = Members::open(body);
    let value = members.required("value", input::any);
    let answers = value.map(|value| JsonObject::of_distinct([(field.to_string().into(), value)]));
    (answers, members.finish())
}

/// What answers are given to; `None` is what is not known.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The member that has the answers, under which is told what is wrong.
    pub member: &'static str,
    /// What the fields ask about.
    pub resource: Resource,
    /// The form that they are on.
    pub form: Option<Slug>,
    /// The tab that they stand on, where not every one of the form will do.
    pub tab: Option<Slug>,
    /// The category that they are asked in.
    pub category: Option<Slug>,
}

impl Asked {
    /// Whether it is asked for the answer to a field.
    pub fn takes(&self, field: &Field, program: &Program) -> bool {
        let is_of_form = || self.form.is_none_or(|form| form_of(field, program) == Some(form));
        field.resource == self.resource && self.tab.is_none_or(|tab| field.tab == Some(tab)) && is_of_form()
    }

    fn has_no_such(&self) -> String {
        let place = match self.resource {
            Resource::Users => "is no field about users",
            Resource::Attachments | Resource::Contributors => "is no field of the tab",
            Resource::Entries | Resource::Referees => "is no field of the form",
        };
        place.to_owned()
    }
}

/// The answers after these were given. What is wrong is told under the member and the field's slug.
pub fn given_to(
    program: &Program,
    asked: Asked,
    before: &Answers,
    given: &JsonObject,
    violations: &mut Violations,
) -> Answers {
    let mut after = before.clone();
    for (name, value) in given.iter() {
        match answer(program, asked, before, (name, value)) {
            Ok((field, answer)) => after.set(field, answer),
            Err(wrong) => violations.wrong(&format!("{}.{}", asked.member, excerpt(name)), &wrong),
        }
    }
    let [had, has] = [before, &after].map(|answers| answers.iter().map(|(_, answer)| answer.length()).sum::<usize>());
    if has > had
        && let Err(message) = program.lengths.check_entry(has)
    {
        violations.add(asked.member, message);
    }
    after
}

/// The field of a name, and the answer that it has after this one was given.
fn answer(
    program: &Program,
    asked: Asked,
    before: &Answers,
    (name, value): (&str, &Json),
) -> Result<(Slug, Option<Json<'static>>), Wrong<()>> {
    let found =
        Slug::parse(name).and_then(|slug| program.fields.live(slug)).map(|field| (field, before.get(field.slug)));
    let is_taken_back = value.is_null() || value.as_str() == Some("");
    let found = found.filter(|(field, had)| had.is_some() && is_taken_back || asked.takes(field, program));
    let (field, had) = found.ok_or_else(|| asked.has_no_such())?;
    validate_answer(field, value)?;
    let answer = merged(field.kind, had, value);
    let is_asked = asked.category.is_none_or(|category| is_asked_in(field, category, program));
    if let Some(answer) = &answer {
        if !is_asked {
            return Err("is not asked in the category".to_owned().into());
        }
        check_answer(field, answer)?;
        if had.is_none_or(|had| answer.length() > had.length()) {
            program.lengths.check_answer(answer)?;
        }
    }
    Ok((field.slug, answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::json::parse_value;

    fn read(text: &str) -> Result<Answers, String> {
        Answers::read(&parse_value(text.as_bytes()).unwrap()).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn answers_are_ordered_by_field_and_keep_their_values() {
        let answers = read(r#"{"BbBbBbBb":[1.50,{"A1":"x"}],"CcCcCcCc":null,"AaAaAaAa":"\u007f"}"#).unwrap();
        assert_eq!(answers.to_json(), r#"{"AaAaAaAa":"\u007f","BbBbBbBb":[1.50,{"A1":"x"}]}"#);
        assert_eq!(read(&answers.to_json()), Ok(answers.clone()));
        assert!(answers.get(Slug::parse("BbBbBbBb").unwrap()).is_some());
        assert!(answers.get(Slug::parse("CcCcCcCc").unwrap()).is_none());
        assert_eq!(answers.iter().count(), 2);
    }

    #[test]
    fn an_answer_is_given_replaced_and_taken_away() {
        let mut answers = read(r#"{"BbBbBbBb":1}"#).unwrap();
        let [first, second] = ["AaAaAaAa", "BbBbBbBb"].map(|slug| Slug::parse(slug).unwrap());
        answers.set(first, Some(Json::Bool(true)));
        answers.set(second, Some(Json::Bool(false)));
        assert_eq!(answers.to_json(), r#"{"AaAaAaAa":true,"BbBbBbBb":false}"#);
        answers.set(first, None);
        answers.set(first, None);
        assert_eq!(answers.to_json(), r#"{"BbBbBbBb":false}"#);
    }

    #[test]
    fn what_is_no_answer_map_is_refused() {
        assert!(read("[]").is_err());
        assert_eq!(read(r#"{"short":1}"#), Err("short is no slug of a field".to_owned()));
    }
}
