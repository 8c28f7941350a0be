//! Records kept on disk between the reading of a file and the stage that their kind belongs to.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};

use kernel::kind::Kind;

/// A record as it waits for its stage: its line in the file, its kind and its JSON text.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) json: Vec<u8>,
}

/// Line, kind and length stand before every record.
const HEAD: usize = 13;

/// A file without a name, that goes away with whoever holds it. Records come out as they went in.
#[derive(Debug, Default)]
pub(super) struct Spool {
    file: Option<BufWriter<File>>,
    count: u64,
}

impl Spool {
    /// Adds a record.
    pub(super) fn push(&mut self, line: u64, kind: Kind, json: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(1 << 16, tempfile::tempfile()?)),
        };
        let position = Kind::ALL.iter().position(|other| *other == kind).unwrap_or_default();
        let length = u32::try_from(json.len()).map_err(|_| io::Error::other("a record is too long"))?;
        file.write_all(&line.to_le_bytes())?;
        file.write_all(&[u8::try_from(position).unwrap_or_default()])?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(json)?;
        self.count += 1;
        Ok(())
    }

    /// How many records are in it.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Begins to read it from its beginning.
    pub(super) fn read(self) -> io::Result<SpoolReader> {
        let file = match self.file {
            None => None,
            Some(file) => {
                let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.rewind()?;
                Some(BufReader::with_capacity(1 << 16, file))
            }
        };
        Ok(SpoolReader { file, left: self.count })
    }
}

/// A spool that is being read.
#[derive(Debug)]
pub(super) struct SpoolReader {
    file: Option<BufReader<File>>,
    left: u64,
}

impl SpoolReader {
    /// The next record.
    pub(super) fn next(&mut self) -> io::Result<Option<Waiting>> {
        let Some(file) = self.file.as_mut().filter(|_| self.left > 0) else { return Ok(None) };
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        let [l0, l1, l2, l3, l4, l5, l6, l7, kind, n0, n1, n2, n3] = head;
        let mut json = vec![0; u32::from_le_bytes([n0, n1, n2, n3]) as usize];
        file.read_exact(&mut json)?;
        self.left -= 1;
        let kind = Kind::ALL.get(usize::from(kind)).copied().ok_or_else(|| io::Error::other("a spool is damaged"))?;
        Ok(Some(Waiting { line: u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]), kind, json }))
    }
}

/// Two spools read as one, in the order of their lines.
#[derive(Debug)]
pub(super) struct Merged {
    parts: [(SpoolReader, Option<Waiting>); 2],
}

/// The most records, and about the most bytes, that are handled together.
const BATCH: (usize, usize) = (256, 1 << 20);

impl Merged {
    pub(super) fn new(first: Spool, second: Spool) -> io::Result<Self> {
        let begin = |spool: Spool| {
            let mut reading = spool.read()?;
            let next = reading.next()?;
            Ok::<_, io::Error>((reading, next))
        };
        Ok(Self { parts: [begin(first)?, begin(second)?] })
    }

    fn next(&mut self) -> io::Result<Option<Waiting>> {
        let line = |part: &(SpoolReader, Option<Waiting>)| part.1.as_ref().map_or(u64::MAX, |waiting| waiting.line);
        let index = usize::from(line(&self.parts[1]) < line(&self.parts[0]));
        let (reading, next) = &mut self.parts[index];
        let following = if next.is_some() { reading.next()? } else { None };
        Ok(std::mem::replace(next, following))
    }

    /// The next records, few enough to be held together.
    pub(super) fn batch(&mut self) -> io::Result<Vec<Waiting>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH.0 && bytes < BATCH.1 {
            let Some(waiting) = self.next()? else { break };
            bytes += waiting.json.len();
            batch.push(waiting);
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spools_are_read_in_the_order_of_lines() {
        let mut spools = [Spool::default(), Spool::default()];
        for (index, line) in [(0, 1), (1, 2), (1, 3), (0, 4), (0, 9), (1, 12)] {
            spools[index].push(line, Kind::Entry, format!("{line}").as_bytes()).unwrap();
        }
        assert_eq!(spools[0].count(), 3);
        let [first, second] = spools;
        let batch = Merged::new(first, second).unwrap().batch().unwrap();
        assert_eq!(batch.iter().map(|waiting| waiting.line).collect::<Vec<_>>(), [1, 2, 3, 4, 9, 12]);
        assert!(
            batch
                .iter()
                .all(|waiting| waiting.kind == Kind::Entry && waiting.json == waiting.line.to_string().as_bytes())
        );
    }

    #[test]
    fn a_batch_ends_before_it_holds_too_much() {
        let mut spool = Spool::default();
        for line in 1..=300 {
            spool.push(line, Kind::File, &vec![b'x'; 10_000]).unwrap();
        }
        let mut merged = Merged::new(spool, Spool::default()).unwrap();
        let sizes: Vec<_> =
            std::iter::from_fn(|| Some(merged.batch().unwrap().len()).filter(|size| *size > 0)).collect();
        assert_eq!(sizes, [105, 105, 90]);
    }
}
