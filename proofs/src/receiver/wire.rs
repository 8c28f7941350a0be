//! Requests of HTTP/1.1 as they come over a connection that stays open, read byte by byte.

use std::io::{Error, ErrorKind, Read, Result};

/// The most bytes of what stands before a body.
const HEAD: usize = 64 << 10;

/// A request, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The method.
    pub(crate) method: String,
    /// The path and the query.
    pub(crate) target: String,
    /// Every header, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body's bytes.
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Takes requests from what a connection sends.
pub(super) struct Requests<S> {
    stream: S,
    received: Vec<u8>,
}

impl<S: Read> Requests<S> {
    pub(super) fn of(stream: S) -> Self {
        Self { stream, received: Vec::new() }
    }

    /// The next request; none where the connection ends instead.
    pub(super) fn next(&mut self) -> Result<Option<Request>> {
        let mut seen = 0;
        let end = loop {
            let found = self.received[seen..].windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(at) = found {
                break seen + at + 4;
            }
            seen = self.received.len().saturating_sub(3);
            if self.received.len() > HEAD || !self.receive()? {
                return if self.received.is_empty() {
                    Ok(None)
                } else {
                    Err(fault("the head of a request has no end"))
                };
            }
        };
        let mut request = head(&self.received[..end])?;
        let length = match request.header("content-length") {
            None if request.header("transfer-encoding").is_none() => 0,
            None => return Err(fault("a body without a length")),
            Some(length) => length.parse().map_err(|_| fault("a length that is no number"))?,
        };
        while self.received.len() < end + length {
            if !self.receive()? {
                return Err(fault("the body of a request has no end"));
            }
        }
        request.body.extend_from_slice(&self.received[end..end + length]);
        self.received.drain(..end + length);
        Ok(Some(request))
    }

    /// Waits for more bytes; whether there are any.
    fn receive(&mut self) -> Result<bool> {
        let mut buffer = [0; 16 << 10];
        let length = self.stream.read(&mut buffer)?;
        self.received.extend_from_slice(&buffer[..length]);
        Ok(length > 0)
    }
}

fn head(bytes: &[u8]) -> Result<Request> {
    let text = std::str::from_utf8(bytes).map_err(|_| fault("a head that is no text"))?;
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.1"] = words[..] else { return Err(fault("the first line is no request")) };
    let headers = lines.filter(|line| !line.is_empty()).map(|line| {
        let (name, value) = line.split_once(':').ok_or_else(|| fault("a header without a name"))?;
        Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    let headers = headers.collect::<Result<_>>()?;
    Ok(Request { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() })
}

fn fault(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives so many bytes at a time.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            let length = self.1.min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn requests_are_the_same_however_they_arrive() {
        let bytes = b"POST /0?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{\r\nGET /1 HTTP/1.1\r\nwebhook-id:  m \r\n\r\n";
        for step in 1..bytes.len() {
            let mut requests = Requests::of(Slow(bytes, step));
            let first = requests.next().unwrap().unwrap();
            assert_eq!((first.method.as_str(), first.target.as_str()), ("POST", "/0?a=b"), "{step} bytes at a time");
            assert_eq!((first.header("host"), &first.body[..]), (Some("x"), &b"{\r\n"[..]));
            let second = requests.next().unwrap().unwrap();
            assert_eq!((second.header("webhook-id"), second.body.len()), (Some("m"), 0));
            assert_eq!(requests.next().unwrap(), None);
        }
    }

    #[test]
    fn what_is_no_request_is_a_fault() {
        for wrong in [
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nx",
            "GET / HTTP/1.1\r\nno header\r\n\r\n",
        ] {
            assert!(Requests::of(wrong.as_bytes()).next().is_err(), "{wrong}");
        }
    }
}
