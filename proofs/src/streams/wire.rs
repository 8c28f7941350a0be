//! What a stream sends, read byte by byte: the chunks of HTTP/1.1, and the blocks of server-sent events in them.

use anyhow::{Context as _, Result, bail};

/// Takes the chunks of a body apart.
#[derive(Default)]
pub(super) struct Chunks {
    received: Vec<u8>,
    /// The body so far, as far as nobody has taken it.
    body: Vec<u8>,
    left: usize,
    has_ended: bool,
}

/// One block of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) id: Option<i64>,
    pub(super) retry: Option<u64>,
    pub(super) event: Option<String>,
    pub(super) data: Option<String>,
}

impl Chunks {
    /// Adds what was received.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<()> {
        self.received.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(used) = self.step(at)? {
            at += used;
        }
        self.received.drain(..at);
        Ok(())
    }

    /// Whether the body was ended as it should be.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The whole blocks of what has come.
    pub(super) fn blocks(&mut self) -> Result<Vec<Block>> {
        let mut blocks = Vec::new();
        let mut block = Block::default();
        let (mut taken, mut at) = (0, 0);
        while let Some(length) = self.body[at..].iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&self.body[at..at + length])?;
            at += length + 1;
            if line.is_empty() {
                blocks.push(std::mem::take(&mut block));
                taken = at;
            } else {
                block.line(line)?;
            }
        }
        self.body.drain(..taken);
        Ok(blocks)
    }

    /// Takes the next piece from a place on, and gives its length; nothing where it is not all there.
    fn step(&mut self, at: usize) -> Result<Option<usize>> {
        let rest = &self.received[at..];
        if self.left > 0 {
            let length = rest.len().min(self.left);
            self.body.extend_from_slice(&rest[..length]);
            self.left -= length;
            return Ok((length > 0).then_some(length));
        }
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line = std::str::from_utf8(&rest[..length])?.trim_end_matches('\r');
        // Behind the bytes of a chunk its line ends.
        if !line.is_empty() {
            if self.has_ended {
                bail!("something follows the end of the body");
            }
            self.left = usize::from_str_radix(line, 16).with_context(|| format!("no length of a chunk: {line}"))?;
            self.has_ended = self.left == 0;
        }
        Ok(Some(length + 1))
    }
}

impl Block {
    fn line(&mut self, line: &str) -> Result<()> {
        let (field, value) = line.split_once(':').with_context(|| format!("a line without a field: {line}"))?;
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => {}
            "id" => self.id = Some(value.parse()?),
            "retry" => self.retry = Some(value.parse()?),
            "event" => self.event = Some(value.to_owned()),
            "data" if self.data.is_none() => self.data = Some(value.to_owned()),
            _ => bail!("an unexpected line: {line}"),
        }
        Ok(())
    }
}

/// The microseconds since 1970 of a time such as `2026-01-31T12:00:00.25Z`.
pub(super) fn microseconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_same_however_they_arrive() {
        let body = "6\r\nretry:\r\n1b\r\n 7\nid: 1\n\n:\n\nid: 2\nevent: e\r\n8\r\n\ndata: x\r\n2\r\n\n\n\r\n0\r\n\r\n";
        let expected = [
            Block { id: Some(1), retry: Some(7), ..Block::default() },
            Block::default(),
            Block { id: Some(2), event: Some("e".to_owned()), data: Some("x".to_owned()), ..Block::default() },
        ];
        for step in 1..body.len() {
            let (mut chunks, mut blocks) = (Chunks::default(), Vec::new());
            for bytes in body.as_bytes().chunks(step) {
                chunks.receive(bytes).unwrap();
                blocks.extend(chunks.blocks().unwrap());
            }
            assert_eq!(blocks, expected, "{step} bytes at a time");
            assert!(chunks.has_ended());
        }
    }

    #[test]
    fn times_are_counted_from_1970() {
        assert_eq!(microseconds("1970-01-01T00:00:00.000000Z"), Some(0));
        assert_eq!(microseconds("2026-01-31T12:00:00.25Z"), Some(1_769_860_800_250_000));
        assert_eq!(microseconds("2024-02-29T23:59:59.000001Z"), Some(1_709_251_199_000_001));
        assert_eq!(microseconds("soon"), None);
    }
}
