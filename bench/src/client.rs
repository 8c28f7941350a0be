//! One connection that asks and waits: for latencies, and for what is read once.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// The media type of every request that does not say otherwise.
pub(crate) const JSON: &str = "application/vnd.service.v2.3+json";
/// The other media type.
pub(crate) const XML: &str = "application/vnd.service.v2.3+xml";

/// The name that the server is told to have: the owner of another one is looked up for each request.
const HOST: &str = "127.0.0.1";

/// No answer of the service takes longer, the first deep page of a million orders included.
const PATIENCE: Duration = Duration::from_mins(1);

/// The bytes of a GET request.
pub(crate) fn get(path: &str, media_type: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: {media_type}\r\nx-api-key: {key}\r\n\r\n").into_bytes()
}

/// How many spellings of a page [`respelled`] has.
pub(crate) const SPELLINGS: u64 = 1 << 15;

/// The bytes of a GET request in another spelling, which means the same. A cache of answers goes by what was written, so that
/// a new spelling is read and written again.
pub(crate) fn respelled(path: &str, media_type: &str, key: &str, number: u64) -> Vec<u8> {
    get(&respelled_path(path, number), &respelled_type(media_type, number), key)
}

/// Other letters of the media type are upper case.
fn respelled_type(media_type: &str, number: u64) -> String {
    let spell = |(place, letter): (usize, char)| {
        let is_other = place < 8 && number >> place & 1 == 1;
        if is_other { letter.to_ascii_uppercase() } else { letter }
    };
    media_type.chars().enumerate().map(spell).collect()
}

/// Other letters of `per_page`, of its digits and of `page` are percent-encoded.
fn respelled_path(path: &str, mut number: u64) -> String {
    let Some((start, rest)) = path.split_once("per_page=") else { return path.to_owned() };
    let (count, rest) = rest.split_at(rest.find('&').unwrap_or(rest.len()));
    let (before, after) = rest.split_once("&page=").unwrap_or((rest, "1"));
    let mut spell = |text: &str| -> String {
        let spell = |byte: u8| {
            let is_encoded = number & 1 == 1;
            number >>= 1;
            if is_encoded { format!("%{byte:02X}") } else { char::from(byte).to_string() }
        };
        text.bytes().map(spell).collect()
    };
    format!("{start}{}={}{before}&{}={after}", spell("per_page"), spell(count), spell("page"))
}

/// The bytes of a PUT request with a JSON body.
pub(crate) fn put(path: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "PUT {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: {JSON}\r\nx-api-key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// What stands before the body of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The bytes of the head itself, its empty line included.
    pub(crate) length: usize,
    /// The bytes of the body.
    pub(crate) content_length: usize,
}

/// Reads the head of an answer, or nothing while it is not all there.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).context("the head of an answer is no text")?;
    let mut lines = text.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.with_context(|| format!("no status line: {status_line}"))?;
    let mut content_length = None;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            content_length = Some(value.trim().parse()?);
        }
    }
    let content_length = match (content_length, status) {
        (Some(length), _) => length,
        (None, 204 | 304) => 0,
        (None, _) => bail!("an answer without Content-Length: {text}"),
    };
    Ok(Some(Head { status, length: end + 4, content_length }))
}

/// An answer, whole.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The start of the body, for a message.
    pub(crate) fn excerpt(&self) -> String {
        String::from_utf8_lossy(self.body.get(..400).unwrap_or(&self.body)).into_owned()
    }
}

/// A connection that is kept.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, buffer: vec![0; 1 << 20] })
    }

    /// Asks, and returns the answer whatever its status.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        let (head, text) = self.exchange(request)?;
        let body = self.buffer.get(head.length..head.length + head.content_length).unwrap_or_default().to_vec();
        Ok(Answer { status: head.status, head: text, body })
    }

    /// Asks for an answer 200 and returns it.
    pub(crate) fn ask_ok(&mut self, request: &[u8]) -> Result<Answer> {
        let answer = self.ask(request)?;
        if answer.status != 200 {
            bail!("answer {} to\n{}\n{}", answer.status, String::from_utf8_lossy(request), answer.excerpt());
        }
        Ok(answer)
    }

    /// The time from the first byte of the request to the last of the answer, which has to be a 200.
    pub(crate) fn time(&mut self, request: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        let (head, _) = self.exchange(request)?;
        let elapsed = start.elapsed();
        if head.status != 200 {
            bail!("answer {} to\n{}", head.status, String::from_utf8_lossy(request));
        }
        Ok(elapsed)
    }

    fn exchange(&mut self, request: &[u8]) -> Result<(Head, String)> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        let head = loop {
            filled += self.read_at(filled)?;
            let received = self.buffer.get(..filled).unwrap_or_default();
            if let Some(head) = parse_head(received)? {
                break head;
            }
        };
        let whole = head.length + head.content_length;
        if self.buffer.len() < whole {
            self.buffer.resize(whole, 0);
        }
        while filled < whole {
            filled += self.read_at(filled)?;
        }
        let text = String::from_utf8_lossy(self.buffer.get(..head.length).unwrap_or_default()).into_owned();
        Ok((head, text))
    }

    fn read_at(&mut self, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(filled * 2, 0);
        }
        let count = self.stream.read(self.buffer.get_mut(filled..).unwrap_or_default())?;
        if count == 0 {
            bail!("the connection was closed in the middle of an answer");
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_an_answer_is_read_when_it_is_all_there() -> Result<()> {
        let text = b"HTTP/1.1 200 OK\r\nContent-Type: x\r\ncontent-length: 12\r\n\r\nabc";
        let head = parse_head(text)?.context("no head")?;
        assert_eq!((head.status, head.length, head.content_length), (200, text.len() - 3, 12));
        assert!(parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n")?.is_none());
        Ok(())
    }

    #[test]
    fn an_answer_without_a_length_is_refused_but_for_those_without_a_body() -> Result<()> {
        assert!(parse_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
        let head = parse_head(b"HTTP/1.1 204 No Content\r\n\r\n")?.context("no head")?;
        assert_eq!(head.content_length, 0);
        Ok(())
    }
}
