//! A bucket behind the real interface of S3, served from a folder by the process of a test or proof.
//!
//! - Requests are signed and verified as AWS does it: with another key nothing is read or written.
//! - It serves from a thread of its own until it is dropped, so that tests without a runtime can use it too.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The id of the one key that is let in.
pub const ACCESS_KEY_ID: &str = "TESTACCESSKEYID";
/// That key.
pub const SECRET_ACCESS_KEY: &str = "test/secret+access/key";
/// The name of the bucket.
pub const NAME: &str = "files";

/// A bucket that is being served.
#[derive(Debug)]
pub struct Bucket {
    endpoint: String,
    folder: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<()>>,
}

impl Bucket {
    /// Serves the bucket from a folder, which is made where it does not exist, at a free port of this machine.
    pub fn serve(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder.join(NAME))?;
        let files = FileSystem::new(folder).map_err(|error| io::Error::other(format!("{error:?}")))?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let service = service.build();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, mut stopped) = oneshot::channel();
        let server = std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                let http = Builder::new(TokioExecutor::new());
                loop {
                    let accepted = tokio::select! {
                        accepted = listener.accept() => accepted,
                        _ = &mut stopped => return,
                    };
                    if let Ok((stream, _)) = accepted {
                        let connection = http.serve_connection(TokioIo::new(stream), service.clone()).into_owned();
                        tokio::spawn(async move { drop(connection.await) });
                    }
                }
            });
        });
        Ok(Self { endpoint, folder: folder.to_owned(), stop: Some(stop), server: Some(server) })
    }

    /// The address of the interface.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The keys of the objects that begin with this prefix and a slash, without them, sorted.
    pub fn keys(&self, prefix: &str) -> io::Result<Vec<String>> {
        let folder = self.folder.join(NAME).join(prefix);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut keys = std::fs::read_dir(folder)?.map(name).collect::<io::Result<Vec<_>>>()?;
        keys.sort();
        Ok(keys)
    }

    /// The parts of uploads that are neither finished nor taken back.
    pub fn parts(&self) -> io::Result<Vec<String>> {
        let mut names = std::fs::read_dir(&self.folder)?.map(name).collect::<io::Result<Vec<_>>>()?;
        names.retain(|name| name.starts_with(".upload"));
        names.sort();
        Ok(names)
    }
}

fn name(entry: io::Result<std::fs::DirEntry>) -> io::Result<String> {
    Ok(entry?.file_name().to_string_lossy().into_owned())
}

impl Drop for Bucket {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(server) = self.server.take() {
            drop(server.join());
        }
    }
}
