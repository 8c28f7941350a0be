//! Messages that the service sends: to a mail server, or into a folder, where each is a file that mail programs open.
//!
//! - A message is plain text in UTF-8. It is from the address of the settings, and says that a program wrote it (RFC 3834).
//! - The caller gives its id. It names the file and is the `Message-ID`, so that a message that is sent twice is one file, and
//!   a mail program can tell that it has it already.
//! - Nothing that is given becomes a header of its own: what cannot be an address is refused, and a subject is one line.
//! - A password is sent over encrypted connections alone, and is in no error and no log.
//! - An error tells whether another attempt may do better.

mod message;
pub mod notice;
mod server;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use lettre::Address;

use self::server::Server;
use crate::storage::make_folder;
use kernel::text::Timestamp;

pub use message::Message;

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The address that messages come from is none.
    #[error("this is no e-mail address")]
    Sender,
    /// The settings name no place that messages can go to.
    #[error("{0}")]
    Settings(&'static str),
    /// It can be no message.
    #[error("it can be no message: {0}")]
    Message(String),
    /// The server refuses it for good.
    #[error("the mail server refuses it: {0}")]
    Refused(String),
    /// The server refuses it for now.
    #[error("the mail server refuses it for now: {0}")]
    Later(String),
    /// It cannot be sent now.
    #[error("it cannot be sent now: {0}")]
    Unavailable(String),
}

impl MailError {
    /// Whether another attempt may do better.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Unavailable(_))
    }
}

/// Sends messages from one address.
#[derive(Debug)]
pub struct Sender {
    from: Address,
    place: Place,
}

/// Where messages go.
#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Server(Server),
}

impl Sender {
    /// A sender as the settings have it: to `file:DIRECTORY`, which is made with the first message, or to `smtp://` and `smtps://`.
    /// Nothing is reached yet.
    pub fn open(url: &str, from: &str) -> Result<Self, MailError> {
        let from = message::address(from).ok_or(MailError::Sender)?;
        let place = match url.strip_prefix("file:") {
            Some("") => return Err(MailError::Settings("it names no folder")),
            Some(folder) => Place::Folder(folder.into()),
            None => Place::Server(Server::parse(url, from.domain())?),
        };
        Ok(Self { from, place })
    }

    /// Sends a message by an id of up to 64 ASCII letters, digits, hyphens and low lines. When this returns, the server has taken it, or its file is on disk whole. Where a server refuses one of
    /// several recipients, none of them gets it.
    pub async fn send(&self, id: &str, message: &Message, now: Timestamp) -> Result<(), MailError> {
        let written = message.written(id, &self.from, now)?;
        match &self.place {
            Place::Server(server) => server.send(&written).await,
            Place::Folder(folder) => {
                let (folder, name) = (folder.clone(), format!("{id}.eml"));
                let kept = tokio::task::spawn_blocking(move || keep(&folder, &name, &written.formatted())).await;
                kept.map_err(io::Error::other).flatten().map_err(|error| MailError::Unavailable(error.to_string()))
            }
        }
    }
}

/// Writes a file that is seen whole or not at all. An earlier one of the same name is replaced.
fn keep(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    make_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name))?;
    File::open(folder)?.sync_all()
}
