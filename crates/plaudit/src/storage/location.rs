//! Where files are kept, as it is configured.

use std::fmt;
use std::path::PathBuf;

use super::StorageError;

/// A text that does not get into logs: `Debug` masks it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret of this text; an empty one is none.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_empty() { "nothing" } else { "****" })
    }
}

/// Where files are kept, and how that place is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `file:DIRECTORY` or `s3://BUCKET/PREFIX`. What follows is about buckets alone.
    pub url: String,
    /// The address of the S3 interface; empty for that of AWS in the region.
    pub endpoint: String,
    /// The region that requests are signed for.
    pub region: String,
    /// The id of the access key; empty for the role of the machine.
    pub access_key_id: String,
    /// The access key.
    pub secret_access_key: Secret,
}

impl Settings {
    /// A place that needs nothing but its address.
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }
}

/// A storage address, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// `file:DIRECTORY`.
    Folder(PathBuf),
    /// `s3://BUCKET/PREFIX`.
    Bucket {
        /// The bucket.
        bucket: String,
        /// What the keys begin with, without slashes at the ends.
        prefix: String,
    },
}

impl Location {
    /// Parses `file:DIRECTORY`, `file:///DIRECTORY` or `s3://BUCKET/PREFIX`.
    pub fn parse(url: &str) -> Result<Self, StorageError> {
        let wrong = || StorageError::Address(url.to_owned());
        if let Some(rest) = url.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let prefix = prefix.trim_matches('/');
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(is_plain);
            if !is_part(bucket) || !(prefix.is_empty() || prefix.split('/').all(is_part)) {
                return Err(wrong());
            }
            return Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() });
        }
        let folder = url.strip_prefix("file:").ok_or_else(wrong)?;
        let folder = match folder.strip_prefix("//") {
            Some(absolute) if absolute.starts_with('/') => absolute,
            Some(_) => return Err(wrong()),
            None => folder,
        };
        if folder.is_empty() || folder.contains('\0') { Err(wrong()) } else { Ok(Self::Folder(PathBuf::from(folder))) }
    }
}
