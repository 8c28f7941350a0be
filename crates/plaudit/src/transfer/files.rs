//! The files of a file: what is known of them, and their bytes.

use std::path::{Component, Path};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::join_all;

use super::import::{Import, Item};
use super::store::{Position, Space, Waiting};
use super::{Error, FileSource};
use crate::log;
use crate::program::Program;
use crate::records::entries::attachments;
use crate::records::files::{self, Content, File, SIZE};
use crate::storage::{Storage, StorageError};
use kernel::input::Members;
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Slug, Token};

/// What is said of a file's bytes.
enum Given {
    /// They are here.
    Bytes(Vec<u8>),
    /// Nothing: they are those that are stored already.
    Nothing,
    /// Something that is wrong, which was told.
    Wrong,
}

impl Import<'_> {
    /// Checks and writes what is known of a file; its bytes wait until everything has been checked.
    pub(super) async fn file(&mut self, program: &Program, mut item: Item) -> Result<(), Error> {
        let account = program.account.slug;
        let Some(token) = Token::parse(&item.location.name) else { return Ok(()) };
        if item.deleted {
            self.faults.member(&item.location, "deleted", "must be false: a file has no trash");
        }
        let given = self.given(&mut item);
        let Some(content) = self.content(account, &token, &item, given).await? else { return Ok(()) };
        let reader = |members: &mut Members<'_>| File::read(members, token, &program.context, Some(&content));
        let Some(file) = item.read(reader, &mut self.faults) else { return Ok(()) };
        let stored = file.stored();
        if !self.faults.is_empty() || item.found.as_ref().is_some_and(|found| found.doc == stored) {
            return Ok(());
        }
        // The documents of its entry show the name of a file.
        if item.found.is_some()
            && let Some(entry) = attachments::store::entry_of(&mut self.tx, self.id, &file.token).await?
        {
            self.reading.names.note(Space::Touched, entry.as_str())?;
        }
        let revision = self.log(Kind::File, file.token.as_str(), stored).await?;
        if item.found.is_some() {
            // So do those of set-up records that have it as an image.
            log::outdate_program(&mut self.tx, self.id).await?;
        }
        files::store::put(&mut self.tx, self.id, &file, revision).await?;
        Ok(())
    }

    /// Takes the bytes, or the path to them, out of a record.
    fn given(&mut self, item: &mut Item) -> Given {
        let (data, path) = (item.object.remove("data"), item.object.remove("path"));
        let read = match (&data, &path) {
            (None, None) => return Given::Nothing,
            (Some(_), Some(_)) => Err(("path", "must be left out where there is data".to_owned())),
            (Some(Json::String(text)), None) => {
                STANDARD.decode(text.as_bytes()).map_err(|error| ("data", format!("is not base64: {error}")))
            }
            (Some(_), None) => Err(("data", "must be a string in base64".to_owned())),
            (None, Some(Json::String(path))) => read_path(self.files, path).map_err(|message| ("path", message)),
            (None, Some(_)) => Err(("path", "must be a string".to_owned())),
        };
        match read {
            Ok(bytes) if bytes.len() <= SIZE => Given::Bytes(bytes),
            Ok(_) => {
                let member = if data.is_some() { "data" } else { "path" };
                self.faults.member(&item.location, member, "is more than 256 MB");
                Given::Wrong
            }
            Err((member, message)) => {
                self.faults.member(&item.location, member, message);
                Given::Wrong
            }
        }
    }

    /// What the bytes of a file tell; bytes that are not stored yet are kept for later. The content under a token
    /// never changes, so that other bytes than those of a stored file are a fault.
    async fn content(
        &mut self,
        account: Slug,
        token: &Token,
        item: &Item,
        given: Given,
    ) -> Result<Option<Content>, Error> {
        let storage = self.deployment.storage;
        let name = token.as_str();
        match given {
            Given::Wrong => Ok(None),
            Given::Nothing => {
                let content = read_stored(storage, account, name).await?.map(|bytes| Content::of(&bytes));
                if content.is_none() {
                    self.faults.member(
                        &item.location,
                        "data",
                        "is required, or a path, because the file is not stored",
                    );
                }
                Ok(content)
            }
            Given::Bytes(bytes) => {
                let content = Content::of(&bytes);
                if is_stored(storage, account, name, &bytes).await? {
                    return Ok(Some(content));
                }
                // Another database may use the token too: no bytes ever take the place of others.
                if storage.exists(account.as_str(), name).await? {
                    self.faults.member(
                        &item.location,
                        "data",
                        "is not what is stored under this token, and never changes",
                    );
                } else if self.faults.is_empty() {
                    self.reading.names.push(Space::Bytes, name, item.location.line, &bytes)?;
                }
                Ok(Some(content))
            }
        }
    }

    /// Puts the bytes of the new files into the storage.
    pub(super) async fn put_blobs(&mut self, account: Slug) -> Result<(), Error> {
        let storage = self.deployment.storage;
        let put = |file: &Waiting| {
            let (token, bytes) = (file.owner.clone(), Bytes::copy_from_slice(&file.content));
            async move { storage.put(account.as_str(), &token, bytes).await }
        };
        let (mut last, mut done) = (Position::default(), 0);
        while let Some(batch) = self.reading.names.next(Space::Bytes, &mut last)? {
            for some in batch.chunks(BATCH_SIZE) {
                self.commit_step().await?;
                let put = join_all(some.iter().map(put)).await.into_iter().collect::<Result<(), StorageError>>();
                if let Err(error) = put.map_err(Error::from).and(self.begin_step().await) {
                    self.remove_blobs(account, &last).await?;
                    return Err(error);
                }
            }
            done += batch.len() as u64;
            self.faults.progress("files stored", done);
        }
        Ok(())
    }

    /// Removes the bytes of the new files up to the last that was begun, because the import has failed.
    async fn remove_blobs(&mut self, account: Slug, end: &Position) -> Result<(), Error> {
        let mut last = Position::default();
        while last != *end
            && let Some(batch) = self.reading.names.next(Space::Bytes, &mut last)?
        {
            for file in batch {
                // What cannot be removed harms nothing: no record names it.
                let _ = self.deployment.storage.delete(account.as_str(), &file.owner).await;
            }
        }
        Ok(())
    }
}

/// How many files are put at the same time: each waits for the disk.
const BATCH_SIZE: usize = 16;

/// The bytes of a stored file.
async fn read_stored(storage: &Storage, account: Slug, token: &str) -> Result<Option<Bytes>, StorageError> {
    let size = match storage.size(account.as_str(), token).await {
        Ok(0) => return Ok(Some(Bytes::new())),
        Ok(size) => size,
        Err(StorageError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    storage.get_range(account.as_str(), token, 0..size).await.map(Some)
}

/// Whether these are the bytes that are stored.
async fn is_stored(storage: &Storage, account: Slug, token: &str, bytes: &[u8]) -> Result<bool, StorageError> {
    match storage.size(account.as_str(), token).await {
        Ok(size) if size == bytes.len() as u64 => {
            Ok(read_stored(storage, account, token).await?.is_some_and(|stored| stored == bytes))
        }
        Ok(_) | Err(StorageError::Missing(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of a file in the folder of files. A path leads down from there and nowhere else, and to nothing of the service's
/// own, so that a program file from somebody else takes nothing from this machine.
fn read_path(FileSource { folder, own }: FileSource<'_>, path: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(path);
    let leads_down = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !leads_down || path.as_os_str().is_empty() {
        return Err(format!("must be a path below the folder of files, which is {}", folder.display()));
    }
    let reported = |error: std::io::Error| format!("{}: {error}", folder.join(path).display());
    let folder = folder.canonicalize().map_err(reported)?;
    let whole = folder.join(path).canonicalize().map_err(reported)?;
    if !whole.starts_with(&folder) {
        return Err("leads out of the folder of files".to_owned());
    }
    if own.iter().any(|own| whole.starts_with(own)) {
        return Err(format!("{} is a file of the service itself", path.display()));
    }
    let about = std::fs::metadata(&whole).map_err(reported)?;
    if !about.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    if about.len() > SIZE as u64 {
        return Err(format!("{} is more than 256 MB", path.display()));
    }
    std::fs::read(&whole).map_err(reported)
}
