//! The socket: frames in, frames out. It makes no decisions.
//!
//! It guarantees: only the configured user is served, even if others can open the socket file; a connection has one
//! request at a time; no frame is larger than [`FRAME_BYTES_MAX`](bankroll_orders::FRAME_BYTES_MAX); a malformed
//! request ends only its own connection. Bounded: [`CONNECTIONS_MAX`] connections, each with one frame.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use bankroll_orders::{SignerAnswer, SignerRequest, frame};

use crate::{clock, signer::Signer};

/// Connections above this number are closed immediately.
pub const CONNECTIONS_MAX: usize = 32;

#[derive(Debug)]
pub struct SignerServer {
    listener: UnixListener,
    path: PathBuf,
    client_uid: u32,
    signer: Arc<Mutex<Option<Signer>>>,
}

/// Stops a server from another thread.
#[derive(Clone, Debug)]
pub struct SignerServerHandle {
    path: PathBuf,
    signer: Arc<Mutex<Option<Signer>>>,
}

impl SignerServer {
    /// Listens at a path. A socket left by an earlier process is replaced: that process has ended, or it would still
    /// hold the lock of the memory.
    ///
    /// # Errors
    /// The path is not a socket, or the socket cannot be made.
    pub fn bind(path: &Path, client_uid: Option<u32>, signer: Signer) -> io::Result<Self> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => return Err(io::Error::new(ErrorKind::AlreadyExists, "the path exists and is not a socket")),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(path)?;
        let own = rustix::process::geteuid().as_raw();
        let client_uid = client_uid.unwrap_or(own);
        // Another user connects through a shared group; the kernel reports the peer's user at each connection.
        let mode = if client_uid == own { 0o600 } else { 0o660 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        Ok(Self { listener, path: path.into(), client_uid, signer: Arc::new(Mutex::new(Some(signer))) })
    }

    #[must_use]
    pub fn handle(&self) -> SignerServerHandle {
        SignerServerHandle { path: self.path.clone(), signer: Arc::clone(&self.signer) }
    }

    /// Serves until the process ends. When the signer must be restarted, it answers the caller and then calls `failed`
    /// with the reason.
    ///
    /// # Errors
    /// The socket's.
    pub fn serve(self, failed: impl Fn(&str) + Send + Sync + 'static) -> io::Result<()> {
        let (failed, open) = (Arc::new(failed), Arc::new(AtomicUsize::new(0)));
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => continue,
                Err(error) => return Err(error),
            };
            if !self.is_client(&stream) || open.load(Ordering::SeqCst) >= CONNECTIONS_MAX {
                continue;
            }
            open.fetch_add(1, Ordering::SeqCst);
            let (signer, failed, guard) =
                (Arc::clone(&self.signer), Arc::clone(&failed), ConnectionGuard(Arc::clone(&open)));
            let serve = move || {
                let _guard = guard;
                // A broken connection affects only its client.
                let _ = serve_connection(stream, &signer, failed.as_ref());
            };
            // Without a thread the connection is closed, as above the limit.
            let _ = thread::Builder::new().name("connection".into()).spawn(serve);
        }
    }

    #[cfg(target_os = "linux")]
    fn is_client(&self, stream: &UnixStream) -> bool {
        rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == self.client_uid)
    }

    /// Where the kernel does not report the peer's user, only our own user is served; the file's mode ensures that.
    #[cfg(not(target_os = "linux"))]
    fn is_client(&self, _: &UnixStream) -> bool {
        self.client_uid == rustix::process::geteuid().as_raw()
    }
}

impl SignerServerHandle {
    /// Waits for the request in flight, takes the signer, and removes the socket. Later requests get no answer.
    #[must_use]
    pub fn stop(&self) -> Option<Signer> {
        let signer = self.signer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = fs::remove_file(&self.path);
        signer
    }
}

struct ConnectionGuard(Arc<AtomicUsize>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve_connection(mut stream: UnixStream, signer: &Mutex<Option<Signer>>, failed: &impl Fn(&str)) -> io::Result<()> {
    while let Some(body) = frame::read(&mut stream)? {
        let Ok(request) = SignerRequest::decode(&body) else {
            return frame::write(&mut stream, &SignerAnswer::NotUnderstood.encode());
        };
        let (answer, fault) = {
            let Ok(mut signer) = signer.lock() else {
                // A thread panicked during a request: the state it left cannot be trusted.
                failed("a request ended in a panic");
                return Ok(());
            };
            let Some(signer) = signer.as_mut() else { return Ok(()) };
            (signer.handle(&request, clock::now()), signer.fault().map(|fault| with_causes(fault)))
        };
        let written = frame::write(&mut stream, &answer.encode());
        if let Some(fault) = fault {
            failed(&fault);
        }
        written?;
    }
    Ok(())
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
