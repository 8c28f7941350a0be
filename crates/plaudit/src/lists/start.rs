//! Where a page begins.

use list_view::{Direction, From, Key};

use super::page::{ListQuery, ListQueryError};

/// Where a page begins that a query asks for.
#[derive(Debug)]
pub struct Start {
    /// In which direction the list is shown.
    pub direction: Direction,
    /// How many records to pass over, where the page does not begin at a place.
    passed: u64,
    /// The key and the name of the record behind which the page begins.
    place: Option<(Key, String)>,
    /// How many records are wanted.
    pub most: usize,
}

impl Start {
    /// What a query asks for; `takes` tells whether the cursors of its sort hold such a key.
    pub fn of(query: &ListQuery, takes: impl Fn(&Key) -> bool) -> Result<Self, ListQueryError> {
        let place = match query.cursor.as_ref().filter(|cursor| !cursor.is_start()) {
            None => None,
            Some(cursor) => Some(
                place(&cursor.position)
                    .filter(|(key, _)| takes(key))
                    .ok_or_else(|| ListQueryError::of("cursor does not belong to this list and its order"))?,
            ),
        };
        Ok(Self {
            direction: query.direction,
            passed: if place.is_some() { 0 } else { query.rows_before() },
            place,
            most: usize::try_from(query.per_page).unwrap_or(usize::MAX),
        })
    }

    /// The beginning, as views take it.
    pub fn from(&self) -> From<'_> {
        match &self.place {
            Some((key, name)) => From::Place(key, name),
            None => From::Number(self.passed),
        }
    }
}

/// The position of a record for a cursor: its name and its key.
pub fn position(key: &Key, name: &str) -> Vec<u8> {
    let mut position = name.as_bytes().to_vec();
    match key {
        Key::Nothing => position.push(b' '),
        Key::Number(number) => {
            position.push(b'#');
            position.extend_from_slice(&number.to_be_bytes());
        }
        Key::Text(text) => {
            position.push(b'=');
            position.extend_from_slice(text.as_bytes());
        }
    }
    position
}

/// The key and the name of a position; nothing where it is none.
fn place(position: &[u8]) -> Option<(Key, String)> {
    let end = position.iter().position(|byte| !byte.is_ascii_alphabetic())?;
    let (name, rest) = position.split_at(end);
    let key = match rest.split_first()? {
        (b' ', []) => Key::Nothing,
        (b'#', number) => Key::Number(i64::from_be_bytes(number.try_into().ok()?)),
        (b'=', text) => Key::Text(std::str::from_utf8(text).ok()?.to_owned()),
        _ => return None,
    };
    Some((key, std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && name.len() <= 64)?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_and_what_is_none_is_refused() {
        for key in [Key::Nothing, Key::Number(-5), Key::Text("a title".to_owned()), Key::Text(String::new())] {
            assert_eq!(place(&position(&key, "AbCdEfGh")), Some((key, "AbCdEfGh".to_owned())));
        }
        for wrong in [&b""[..], b"AbCdEfGh", b"#12345678", b"AbCdEfGh#1", b"AbCdEfGh?", b"AbCdEfGh=\xff", b"AbCdEfGh x"]
        {
            assert_eq!(place(wrong), None, "{wrong:?}");
        }
    }
}
