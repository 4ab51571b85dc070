//! What the host of a target resolves to.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use crate::target::{TargetHost, TargetRefusal, WebhookTarget};

type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Finds the addresses of a name: the system's own way, or that of a test.
#[derive(Clone)]
pub struct HostResolver(Arc<Lookup>);

/// Why a target cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error(transparent)]
    Refused(#[from] TargetRefusal),
    /// The name server has no answer: another attempt may succeed.
    #[error("the host's name cannot be resolved")]
    Unresolved,
}

impl HostResolver {
    /// As every program on this machine resolves names.
    #[must_use]
    pub fn system() -> Self {
        Self::with(|host| Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }

    pub fn with(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Resolves the host of a target once and checks every address. Connect to these and to no others: the next answer
    /// of the name server may be another one.
    ///
    /// # Errors
    /// If an address is not allowed; if there is none, or none in time.
    pub fn checked(&self, target: &WebhookTarget, within: Duration) -> Result<Vec<SocketAddr>, TargetError> {
        let addresses = match target.host() {
            TargetHost::Address(address) => vec![*address],
            TargetHost::Name(name) => self.lookup(name.clone(), within)?,
        };
        target.check_addresses(&addresses)?;
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
    }

    /// The system's lookup has no limit of time, so that it gets a thread, which ends when the lookup does.
    fn lookup(&self, name: String, within: Duration) -> Result<Vec<IpAddr>, TargetError> {
        let (send, receive) = mpsc::sync_channel(1);
        let lookup = Arc::clone(&self.0);
        thread::spawn(move || send.send(lookup(&name)));
        match receive.recv_timeout(within) {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(_)) | Err(_) => Err(TargetError::Unresolved),
        }
    }
}

impl fmt::Debug for HostResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostResolver")
    }
}
