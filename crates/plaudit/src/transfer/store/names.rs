//! What has to be remembered of a file while it is imported, in a temporary database of its own, so that a file of any
//! length takes the same memory.

use rusqlite::{Connection, OptionalExtension as _, params};

use db::DbError;
use kernel::kind::Kind;

/// Within what names are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transfer) enum Space {
    /// The slugs or tokens of a kind.
    Kind(Kind),
    /// E-mail addresses of users.
    Email,
    /// Mobile numbers of users.
    Mobile,
    /// The people that users are.
    Person,
    /// Numbers of entries.
    LocalId,
    /// Invoice numbers.
    Invoice,
    /// Entries whose documents have to be made anew.
    Touched,
    /// Records of a kind that wait for a slug or token.
    Nameless(Kind),
    /// Files whose bytes are to be put into the storage.
    Bytes,
    /// Entries whose titles were other ones before.
    Retitled,
    /// An entry, the season that a contributor of it states, and the contributor.
    StatedSeason,
    /// Entries of the file that do not state whether they are paid.
    UnstatedPayment,
    /// Entries that orders pay for since the import, or do not pay for any more.
    Ordered,
    /// Score sets that have a record of a kind of which they have one.
    OfScoreSet(Kind),
}

impl Space {
    fn number(self) -> i64 {
        match self {
            Self::Kind(kind) => i64::from(u32::from(kind.letter())),
            Self::Email => 1,
            Self::Mobile => 2,
            Self::LocalId => 3,
            Self::Invoice => 4,
            Self::Touched => 5,
            Self::Nameless(kind) => -i64::from(u32::from(kind.letter())),
            Self::Bytes => 6,
            Self::Retitled => 7,
            Self::Person => 8,
            Self::StatedSeason => 9,
            Self::UnstatedPayment => 10,
            Self::Ordered => 11,
            // Above every letter.
            Self::OfScoreSet(kind) => (1 << 32) + i64::from(u32::from(kind.letter())),
        }
    }
}

/// A record that waits for its stage, or a file whose bytes wait.
#[derive(Debug)]
pub(in crate::transfer) struct Waiting {
    /// What it belongs to; nothing for records that are taken in the order of their lines.
    pub(in crate::transfer) owner: String,
    /// The line of the file.
    pub(in crate::transfer) line: u64,
    /// Its text, or the bytes of a file.
    pub(in crate::transfer) content: Vec<u8>,
}

/// Up to where the records that wait have been taken: owner, line, and number within that.
pub(in crate::transfer) type Position = (String, i64, i64);

/// The most records, and about the most bytes, that are handled together.
const BATCH: (usize, usize) = (256, 1 << 20);

/// The names of a file with their lines, and the records that wait for what comes before them.
pub(in crate::transfer) struct Names(Connection);

impl Names {
    /// An empty one. SQLite deletes it with its connection.
    pub(in crate::transfer) fn new() -> Result<Self, DbError> {
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -24576; \
             CREATE TABLE names (space INTEGER, name TEXT, line INTEGER, PRIMARY KEY (space, name)) WITHOUT ROWID; \
             CREATE TABLE waiting (number INTEGER PRIMARY KEY, space INTEGER, owner TEXT, line INTEGER, content BLOB); \
             CREATE INDEX waiting_in_order ON waiting (space, owner, line); \
             BEGIN",
        )?;
        Ok(Self(connection))
    }

    /// Notes a name; gives the line that has it already, if there is one.
    pub(in crate::transfer) fn claim(&mut self, space: Space, name: &str, line: u64) -> Result<Option<u64>, DbError> {
        let added = self
            .0
            .prepare_cached("INSERT OR IGNORE INTO names (space, name, line) VALUES (?1, ?2, ?3)")?
            .execute(params![space.number(), name, line.cast_signed()])?;
        if added == 1 { Ok(None) } else { self.line_of(space, name) }
    }

    /// The line that has a name.
    pub(in crate::transfer) fn line_of(&mut self, space: Space, name: &str) -> Result<Option<u64>, DbError> {
        let line = self
            .0
            .prepare_cached("SELECT line FROM names WHERE space = ?1 AND name = ?2")?
            .query_row(params![space.number(), name], |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(line.map(i64::cast_unsigned))
    }

    /// Whether the file has a record of this kind and name.
    pub(in crate::transfer) fn has(&mut self, kind: Kind, name: &str) -> Result<bool, DbError> {
        Ok(self.line_of(Space::Kind(kind), name)?.is_some())
    }

    /// Notes a name that stands on no line of its own.
    pub(in crate::transfer) fn note(&mut self, space: Space, name: &str) -> Result<(), DbError> {
        self.claim(space, name, 0).map(|_| ())
    }

    /// Whether any name was noted.
    pub(in crate::transfer) fn any(&mut self, space: Space) -> Result<bool, DbError> {
        Ok(self.0.prepare_cached("SELECT 1 FROM names WHERE space = ?1")?.exists([space.number()])?)
    }

    /// The names that were noted after this one, in order and some at a time; those of records of a kind that the file
    /// has are left out.
    pub(in crate::transfer) fn noted_after(
        &mut self,
        space: Space,
        unless: Option<Kind>,
        name: &str,
    ) -> Result<Vec<String>, DbError> {
        let mut statement = self.0.prepare_cached(
            "SELECT name FROM names AS noted WHERE space = ?1 AND name > ?2 \
             AND NOT EXISTS (SELECT 1 FROM names WHERE space = ?3 AND name = noted.name) ORDER BY name LIMIT 256",
        )?;
        let unless = unless.map(|kind| Space::Kind(kind).number());
        let found = statement.query_map(params![space.number(), name, unless], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Keeps a record, or the bytes of a file, until it is taken.
    pub(in crate::transfer) fn push(
        &mut self,
        space: Space,
        owner: &str,
        line: u64,
        content: &[u8],
    ) -> Result<(), DbError> {
        let sql = "INSERT INTO waiting (space, owner, line, content) VALUES (?1, ?2, ?3, ?4)";
        let values = params![space.number(), owner, line.cast_signed(), content];
        self.0.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// The next records that wait, by owner and line, few enough to be held together; nothing at the end.
    pub(in crate::transfer) fn next(
        &mut self,
        space: Space,
        after: &mut Position,
    ) -> Result<Option<Vec<Waiting>>, DbError> {
        let mut statement = self.0.prepare_cached(
            "SELECT owner, line, number, content FROM waiting \
             WHERE space = ?1 AND (owner, line, number) > (?2, ?3, ?4) ORDER BY owner, line, number",
        )?;
        let mut rows = statement.query(params![space.number(), after.0, after.1, after.2])?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH.0 && bytes < BATCH.1 {
            let Some(row) = rows.next()? else { break };
            *after = (row.get(0)?, row.get(1)?, row.get(2)?);
            let waiting = Waiting { owner: after.0.clone(), line: after.1.cast_unsigned(), content: row.get(3)? };
            bytes += waiting.content.len();
            batch.push(waiting);
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }

    /// The records of a kind that are stored within another record and stand on lines of their own, in the order of the file.
    pub(in crate::transfer) fn lines_of(&mut self, kind: Kind, owner: &str) -> Result<Vec<Vec<u8>>, DbError> {
        let sql = "SELECT content FROM waiting WHERE space = ?1 AND owner = ?2 ORDER BY line, number";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = statement.query_map(params![Space::Kind(kind).number(), owner], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Hands over such records whose owner the file does not have: the line, and the owner that it names.
    pub(in crate::transfer) fn each_orphan_line(
        &mut self,
        (kind, owner): (Kind, Kind),
        mut each: impl FnMut(u64, String),
    ) -> Result<(), DbError> {
        let mut statement = self.0.prepare_cached(
            "SELECT line, owner FROM waiting WHERE space = ?1 \
             AND NOT EXISTS (SELECT 1 FROM names WHERE space = ?2 AND name = owner) ORDER BY line",
        )?;
        let mut rows = statement.query([kind, owner].map(|kind| Space::Kind(kind).number()))?;
        while let Some(row) = rows.next()? {
            each(row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_claimed_once_in_its_space() {
        let mut names = Names::new().unwrap();
        assert_eq!(names.claim(Space::Kind(Kind::Entry), "AbCdEfGh", 3).unwrap(), None);
        assert_eq!(names.claim(Space::Kind(Kind::User), "AbCdEfGh", 4).unwrap(), None);
        assert_eq!(names.claim(Space::Kind(Kind::Entry), "AbCdEfGh", 5).unwrap(), Some(3));
        assert!(names.has(Kind::User, "AbCdEfGh").unwrap());
        assert!(!names.has(Kind::Order, "AbCdEfGh").unwrap());
    }

    #[test]
    fn noted_names_of_the_file_are_passed_over() {
        let mut names = Names::new().unwrap();
        assert!(!names.any(Space::Touched).unwrap());
        for entry in ["EntryCCC", "EntryAAA", "EntryBBB", "EntryAAA"] {
            names.note(Space::Touched, entry).unwrap();
        }
        names.claim(Space::Kind(Kind::Entry), "EntryBBB", 1).unwrap();
        assert_eq!(names.noted_after(Space::Touched, Some(Kind::Entry), "").unwrap(), ["EntryAAA", "EntryCCC"]);
        assert_eq!(names.noted_after(Space::Touched, Some(Kind::Entry), "EntryAAA").unwrap(), ["EntryCCC"]);
        assert!(names.line_of(Space::Touched, "EntryBBB").unwrap().is_some());
    }

    #[test]
    fn items_are_found_by_their_order() {
        let mut names = Names::new().unwrap();
        for (order, line) in [("OrderAAA", 9), ("OrderBBB", 4), ("OrderAAA", 2)] {
            names.push(Space::Kind(Kind::OrderItem), order, line, line.to_string().as_bytes()).unwrap();
        }
        names.claim(Space::Kind(Kind::Order), "OrderAAA", 1).unwrap();
        assert_eq!(names.lines_of(Kind::OrderItem, "OrderAAA").unwrap(), [b"2".to_vec(), b"9".to_vec()]);
        let mut stray = Vec::new();
        names.each_orphan_line((Kind::OrderItem, Kind::Order), |line, order| stray.push((line, order))).unwrap();
        assert_eq!(stray, [(4, "OrderBBB".to_owned())]);
    }

    #[test]
    fn what_waits_is_taken_in_the_order_of_lines() {
        let mut names = Names::new().unwrap();
        for line in [1, 4, 9, 2, 2, 12] {
            names.push(Space::Kind(Kind::Entry), "", line, format!("{line}").as_bytes()).unwrap();
        }
        names.push(Space::Nameless(Kind::Entry), "", 3, b"3").unwrap();
        let batch = names.next(Space::Kind(Kind::Entry), &mut Position::default()).unwrap().unwrap();
        assert_eq!(batch.iter().map(|waiting| waiting.line).collect::<Vec<_>>(), [1, 2, 2, 4, 9, 12]);
        assert!(batch.iter().all(|waiting| waiting.content == waiting.line.to_string().as_bytes()));
    }

    #[test]
    fn a_batch_ends_before_it_holds_too_much() {
        let mut names = Names::new().unwrap();
        for line in 1..=300 {
            names.push(Space::Bytes, "", line, &vec![b'x'; 10_000]).unwrap();
        }
        let mut last = Position::default();
        let sizes: Vec<_> =
            std::iter::from_fn(|| names.next(Space::Bytes, &mut last).unwrap().map(|batch| batch.len())).collect();
        assert_eq!(sizes, [105, 105, 90]);
    }
}
