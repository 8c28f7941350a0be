//! Where the files of a trial are kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use test_bucket::Bucket;

use crate::service::Service;

/// A folder, or a bucket that this process serves from a folder.
pub(super) struct Place {
    folder: PathBuf,
    bucket: Option<Bucket>,
}

impl Place {
    pub(super) fn new(directory: &Path, in_bucket: bool) -> Result<Self> {
        let folder = directory.join("stored");
        fs::create_dir_all(&folder)?;
        let bucket = if in_bucket { Some(Bucket::serve(&folder)?) } else { None };
        Ok(Self { folder, bucket })
    }

    pub(super) fn name(&self) -> &'static str {
        if self.bucket.is_some() { "bucket" } else { "folder" }
    }

    /// Has the service keep its files here.
    pub(super) fn configure(&self, service: &mut Service) {
        match &self.bucket {
            None => service.set("PLAUDIT_STORAGE_URL", &format!("file:{}", self.folder.display())),
            Some(bucket) => {
                service.set("PLAUDIT_STORAGE_URL", &format!("s3://{}", test_bucket::NAME));
                service.set("PLAUDIT_STORAGE_ENDPOINT", bucket.endpoint());
                service.set("PLAUDIT_STORAGE_REGION", "eu-central-1");
                service.set("PLAUDIT_STORAGE_ACCESS_KEY_ID", test_bucket::ACCESS_KEY_ID);
                service.set("PLAUDIT_STORAGE_SECRET_ACCESS_KEY", test_bucket::SECRET_ACCESS_KEY);
            }
        }
    }

    /// The names of the files of an account; in a folder also of those that are unfinished.
    pub(super) fn files(&self, account: &str) -> Result<Vec<String>> {
        match &self.bucket {
            Some(bucket) => Ok(bucket.keys(account)?),
            None => names(&self.folder.join(account)),
        }
    }

    /// The same with the parts of unfinished files.
    pub(super) fn stored(&self, account: &str) -> Result<Vec<String>> {
        let mut stored = self.files(account)?;
        if let Some(bucket) = &self.bucket {
            stored.extend(bucket.parts()?);
        }
        Ok(stored)
    }

    /// What there is beside the files: the installation's own, and the folders of accounts.
    pub(super) fn outside(&self) -> Result<Vec<String>> {
        let mut names = names(self.folder.parent().unwrap_or(&self.folder))?;
        // The database has files beside its own for as long as somebody has it open.
        names.retain(|name| !name.starts_with("plaudit.db") && !name.contains(".log") && !name.starts_with(".tmp"));
        let root = match &self.bucket {
            Some(_) => self.folder.join(test_bucket::NAME),
            None => self.folder.clone(),
        };
        names.extend(self::names(&root)?);
        Ok(names)
    }
}

fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
