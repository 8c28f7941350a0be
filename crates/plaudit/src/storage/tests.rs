use std::sync::Mutex;

use futures_util::future::BoxFuture;
use object_store::PutResult;
use test_bucket::Bucket;

use super::folder::PIECE;
use super::parts::Sent;
use super::*;

fn storage() -> (tempfile::TempDir, Storage) {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::open(&Settings::at(&format!("file:{}", folder.path().join("a/b").display()))).unwrap();
    (folder, storage)
}

/// A bucket, and how it is reached.
fn bucket() -> (tempfile::TempDir, Bucket, Settings) {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::serve(folder.path()).unwrap();
    let settings = Settings {
        url: format!("s3://{}/some/prefix", test_bucket::NAME),
        endpoint: bucket.endpoint().to_owned(),
        region: "eu-central-1".to_owned(),
        access_key_id: test_bucket::ACCESS_KEY_ID.to_owned(),
        secret_access_key: Secret::new(test_bucket::SECRET_ACCESS_KEY),
    };
    (folder, bucket, settings)
}

async fn whole(pieces: Pieces) -> Vec<u8> {
    pieces
        .try_fold(Vec::new(), |mut all, piece| async move {
            Ok({
                all.extend(piece);
                all
            })
        })
        .await
        .unwrap()
}

#[test]
fn addresses_are_parsed() {
    let folder = |path: &str| Location::Folder(PathBuf::from(path));
    assert_eq!(Location::parse("file:./files").unwrap(), folder("./files"));
    assert_eq!(Location::parse("file:/var/files").unwrap(), folder("/var/files"));
    assert_eq!(Location::parse("file:///var/files").unwrap(), folder("/var/files"));
    let bucket = Location::Bucket { bucket: "b".to_owned(), prefix: "p/q".to_owned() };
    assert_eq!(Location::parse("s3://b/p/q/").unwrap(), bucket);
    let wrong =
        ["", "files", "file:", "file://host/x", "s3://", "s3:///p", "s3://b/../c", "s3://b/p//q", "s3://..", "gs://b"];
    for wrong in wrong {
        assert!(Location::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let message = Storage::open(&Settings::at("file:/dev/null/files")).unwrap_err().to_string();
    assert!(message.contains("/dev/null/files"), "{message}");
}

#[tokio::test]
async fn a_file_is_kept_read_listed_and_removed() {
    let (_folder, storage) = storage();
    keeps_files(&storage).await;
    let (_folder, bucket, settings) = bucket();
    keeps_files(&Storage::open(&settings).unwrap()).await;
    assert_eq!(bucket.keys("some/prefix/Bccount").unwrap(), ["Token"]);
    let bare = Settings { url: format!("s3://{}", test_bucket::NAME), ..settings };
    keeps_files(&Storage::open(&bare).unwrap()).await;
    assert_eq!(bucket.keys("Account").unwrap(), ["Other"]);
}

/// More than two pieces of either place.
const LENGTH: usize = (2 << 20) + PIECE * 2 + 17;

async fn keeps_files(storage: &Storage) {
    let content: Vec<u8> = (0..LENGTH).map(|at| u8::try_from(at % 251).unwrap()).collect();
    assert!(!storage.exists("Account", "Token").await.unwrap());
    storage.put("Account", "Token", Bytes::from_static(b"first")).await.unwrap();
    storage.put("Account", "Token", Bytes::from(content.clone())).await.unwrap();
    storage.put("Account", "Other", Bytes::new()).await.unwrap();
    storage.put("Bccount", "Token", Bytes::new()).await.unwrap();
    assert_eq!(storage.size("Account", "Token").await.unwrap(), content.len() as u64);
    let (size, pieces) = storage.get_stream("Account", "Token", None).await.unwrap();
    assert_eq!(size, content.len() as u64);
    assert!(whole(pieces).await == content);
    let (_, pieces) = storage.get_stream("Account", "Token", Some(5..PIECE as u64 + 9)).await.unwrap();
    assert_eq!(whole(pieces).await, content[5..PIECE + 9]);
    let end = storage.get_range("Account", "Token", LENGTH as u64 - 17..u64::MAX).await.unwrap();
    assert_eq!(end, content[LENGTH - 17..]);
    let (size, pieces) = storage.get_stream("Account", "Other", None).await.unwrap();
    assert_eq!((size, whole(pieces).await), (0, Vec::new()));
    storage.delete("Account", "Token").await.unwrap();
    storage.delete("Account", "Token").await.unwrap();
    assert!(!storage.exists("Account", "Token").await.unwrap());
    let missing = storage.get_stream("Account", "Token", None).await;
    assert!(matches!(missing.err().unwrap(), StorageError::Missing(_)));
}

#[tokio::test]
async fn an_unfinished_upload_keeps_nobody_from_storing_the_file() {
    let (folder, storage) = storage();
    storage.put("Account", "Token", Bytes::from_static(b"x")).await.unwrap();
    std::fs::write(folder.path().join("a/b/Account/Token#1"), "half").unwrap();
    storage.put("Account", "Token", Bytes::from_static(b"yes")).await.unwrap();
    assert_eq!(storage.size("Account", "Token").await.unwrap(), 3);
}

#[tokio::test]
async fn a_file_that_comes_in_pieces_is_stored_whole() {
    let (folder, storage) = storage();
    receives_files(&storage).await;
    assert_eq!(std::fs::read_dir(folder.path().join("a/b/Account")).unwrap().count(), 0);
    let (_folder, bucket, settings) = bucket();
    receives_files(&Storage::open(&settings).unwrap()).await;
    assert!(bucket.keys("some/prefix/Account").unwrap().is_empty());
    assert!(bucket.parts().unwrap().is_empty());
}

/// Pieces of a file that do not end where parts do.
fn pieces_of(content: &[u8]) -> impl Stream<Item = std::io::Result<Bytes>> + Unpin {
    let pieces: Vec<_> = content.chunks(PART_OF_BUCKET / 2 + 1).map(Bytes::copy_from_slice).map(Ok).collect();
    futures_util::stream::iter(pieces)
}

async fn receives_files(storage: &Storage) {
    let content: Vec<u8> = (0..2 * PART_OF_BUCKET + 17).map(|at| u8::try_from(at % 251).unwrap()).collect();
    for length in [0, 3, PART_OF_FOLDER, PART_OF_FOLDER + 1, PART_OF_BUCKET, PART_OF_BUCKET + 1, content.len()] {
        storage.put_stream("Account", "Token", pieces_of(&content[..length])).await.unwrap();
        let (size, pieces) = storage.get_stream("Account", "Token", None).await.unwrap();
        assert_eq!(size, length as u64);
        assert!(whole(pieces).await == content[..length]);
        storage.delete("Account", "Token").await.unwrap();
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_leaves_nothing() {
    let (folder, storage) = storage();
    breaks_off(&storage).await;
    assert_eq!(std::fs::read_dir(folder.path().join("a/b/Account")).unwrap().count(), 0);
    let (_folder, bucket, settings) = bucket();
    breaks_off(&Storage::open(&settings).unwrap()).await;
    assert!(bucket.parts().unwrap().is_empty());
    assert!(bucket.keys("some/prefix/Account").unwrap().is_empty());
}

async fn breaks_off(storage: &Storage) {
    let begun = vec![1; 2 * PART_OF_BUCKET + 1];
    let broken = futures_util::stream::iter([Err(std::io::ErrorKind::UnexpectedEof.into())]);
    let refused = storage.put_stream("Account", "Token", pieces_of(&begun).chain(broken)).await.unwrap_err();
    assert!(matches!(refused, StorageError::Read(_)), "{refused}");
    assert!(storage.put_stream("..", "Token", pieces_of(b"x")).await.is_err());
}

#[tokio::test]
async fn a_bucket_is_reached_with_its_key_alone_which_is_told_nobody() {
    let (_folder, _bucket, settings) = bucket();
    let wrong = Settings { secret_access_key: Secret::new("another/secret"), ..settings.clone() };
    let refused = Storage::open(&wrong).unwrap().put("Account", "Token", Bytes::new()).await.unwrap_err();
    let storage = Storage::open(&settings).unwrap();
    assert!(!storage.exists("Account", "Token").await.unwrap());
    for reported in [format!("{refused} {refused:?}"), format!("{settings:?}"), format!("{storage:?}")] {
        assert!(
            !reported.contains("another/secret") && !reported.contains(test_bucket::SECRET_ACCESS_KEY),
            "{reported}"
        );
    }
}

#[tokio::test]
async fn what_a_crash_left_is_discarded() {
    let (folder, storage) = storage();
    storage.put("Account", "Token", Bytes::from_static(b"x")).await.unwrap();
    storage.put("Account", "Other", Bytes::from_static(b"x")).await.unwrap();
    std::fs::write(folder.path().join("a/b/Account/Token#1"), "half").unwrap();
    storage.discard("Account", "Token").await.unwrap();
    storage.discard("Account", "Token").await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("a/b/Account")).unwrap().count(), 1);
}

#[tokio::test]
async fn names_cannot_lead_out() {
    let (_folder, storage) = storage();
    for name in ["", ".", "..", "a/b", "../x", "a\\b", "a.b", "a1", "é", "a\0", "%2e", &"a".repeat(65)] {
        let refused = storage.put(name, "Token", Bytes::new()).await.unwrap_err();
        assert!(matches!(refused, StorageError::Name(_)), "{name}");
        let refused = storage.put("Account", name, Bytes::new()).await.unwrap_err();
        assert!(matches!(refused, StorageError::Name(_)), "{name}");
    }
}

/// An upload whose parts are stored when the test says so, and which tells what happened to it in which order.
#[derive(Debug)]
struct Slow {
    events: Arc<Mutex<Vec<&'static str>>>,
    stored: Arc<tokio::sync::Notify>,
}

impl object_store::MultipartUpload for Slow {
    fn put_part(&mut self, _part: PutPayload) -> object_store::UploadPart {
        let (events, stored) = (Arc::clone(&self.events), Arc::clone(&self.stored));
        Box::pin(async move {
            stored.notified().await;
            events.lock().unwrap().push("stored");
            Ok(())
        })
    }

    fn complete<'upload, 'outcome>(&'upload mut self) -> BoxFuture<'outcome, object_store::Result<PutResult>>
    where
        'upload: 'outcome,
    {
        self.events.lock().unwrap().push("completed");
        Box::pin(std::future::ready(Err(object_store::Error::NotImplemented {
            operation: "complete".to_owned(),
            implementer: "Slow".to_owned(),
        })))
    }

    fn abort<'upload, 'outcome>(&'upload mut self) -> BoxFuture<'outcome, object_store::Result<()>>
    where
        'upload: 'outcome,
    {
        self.events.lock().unwrap().push("taken back");
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn a_part_on_its_way_is_stored_before_its_upload_is_taken_back() {
    let (events, stored) = (Arc::new(Mutex::new(Vec::new())), Arc::new(tokio::sync::Notify::new()));
    let mut sent = Sent::new(Box::new(Slow { events: Arc::clone(&events), stored: Arc::clone(&stored) }));
    sent.send(Bytes::from_static(b"part").into());
    let taken_back = tokio::spawn(sent.take_back());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    stored.notify_one();
    taken_back.await.unwrap();
    assert_eq!(*events.lock().unwrap(), ["stored", "taken back"]);
}
