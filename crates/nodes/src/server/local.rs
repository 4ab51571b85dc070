//! Commands on this machine: a socket in the folder of the books instead of certificates.
//!
//! The right to write is the right to open the file: the socket has mode 0600, and the kernel reports the user of each
//! connection. Only the user that runs the node, or root, is served: both could write the books' file itself. A command
//! relays requests of the Funds API, as a node of role `api` does: it proves itself with a key, and not by the socket.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::{
    net::{UnixListener, UnixStream},
    sync::Semaphore,
};

use super::{CallHandler, Listener, NodeServerError, ServerState, ServerTask, connection};
use crate::{NodeName, NodeRole, NodeRoles, identity::Peer};

const ROOT: u32 = 0;
/// The name of every peer: all commands are one user.
const PEER: &str = "command";

/// Answers commands until it is stopped or dropped.
#[derive(Debug)]
pub struct LocalServer {
    task: ServerTask,
    path: PathBuf,
}

impl LocalServer {
    /// Listens at this path. A socket left by an earlier process is replaced: the caller holds the lock of the books,
    /// so that process has ended.
    ///
    /// # Errors
    /// If the path exists and is not a socket, or the socket cannot be made: a path may have about 100 bytes.
    pub fn start<D: CallHandler>(path: &Path, handler: Arc<D>) -> Result<Self, NodeServerError> {
        let failed = |source: io::Error| NodeServerError::Socket { path: path.to_owned(), source };
        let (task, shared) = ServerTask::start(1, handler).map_err(failed)?;
        let (listener, owner) = task.block_on(async { bind(path) }).map_err(failed)?;
        let node: NodeName = PEER.parse().map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let roles = NodeRoles::of(&[NodeRole::Api]);
        task.accept(CommandListener { listener, owner, peer: Peer { node, roles } }, shared);
        Ok(Self { task, path: path.to_owned() })
    }

    /// Reads no more requests and waits for calls in flight. Removes the socket if the caller still holds the lock of
    /// the books: without it another process may have made a socket of its own.
    pub fn stop(self, is_own: bool) {
        self.task.stop();
        if is_own {
            let _ = fs::remove_file(&self.path);
        }
    }
}

struct CommandListener {
    listener: UnixListener,
    owner: u32,
    /// What every command is to the books.
    peer: Peer,
}

impl Listener for CommandListener {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<UnixStream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }

    async fn serve<D: CallHandler>(&self, stream: UnixStream, connections: &Semaphore, shared: &Arc<ServerState<D>>) {
        let Ok(_permit) = connections.try_acquire() else { return };
        let is_served = stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner || peer.uid() == ROOT);
        // The kernel named the user; no certificate expires.
        let untrusted = std::future::pending();
        connection::serve(stream, is_served.then(|| self.peer.clone()), untrusted, shared).await;
    }
}

/// The listener, and the user that owns it.
fn bind(path: &Path) -> io::Result<(UnixListener, u32)> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path exists and is not a socket")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    // Between these two lines another user may connect; the kernel reports that user, and it is not served.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok((listener, fs::symlink_metadata(path)?.uid()))
}
