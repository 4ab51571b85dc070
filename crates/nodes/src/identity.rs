//! The identity of a node: its certificate and key, the authority it trusts, and how it reads a peer's certificate.
//!
//! The files may change while the node runs: a renewed certificate and a new revocation list count from the next look
//! ([`LOOK_EVERY`]) on, for new connections and for those that are open. Files that cannot be used change nothing.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use bankroll_ledger::Time;
use rustls::{
    CertificateError,
    pki_types::{CertificateDer, UnixTime},
    time_provider::{DefaultTimeProvider, TimeProvider},
};

use crate::{NodeName, NodeRole, NodeRoles, credentials::Credentials};

/// A node that answers for the books must have this name in its certificate.
pub(crate) const BOOKS_NAME: &str = "books.role.bankroll";
/// How often a node checks its files, and the certificates of open connections.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The clock that decides whether certificates are valid.
pub type NodeClock = Arc<dyn TimeProvider>;

#[must_use]
pub fn certificate_file(folder: &Path, node: &NodeName) -> PathBuf {
    folder.join(format!("{node}.pem"))
}

#[must_use]
pub fn key_file(folder: &Path, node: &NodeName) -> PathBuf {
    folder.join(format!("{node}.key"))
}

#[derive(Debug, thiserror::Error)]
pub enum NodeIdentityError {
    /// The file cannot be read, or contains no certificate or key.
    #[error("cannot read {path}; `bankroll nodes init` makes an authority, `bankroll nodes add` a node's certificate")]
    File {
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    #[error("cannot read the revocation list {path}; copy it again from the machine of the authority")]
    RevocationList {
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    #[error("other users can read {path}; run chmod 600 {path}")]
    Exposed { path: PathBuf },
    /// The certificate is expired, revoked, of another authority, or does not match the key.
    #[error("the certificate {path} cannot be used")]
    Certificate {
        path: PathBuf,
        #[source]
        source: rustls::Error,
    },
    #[error("the certificate {path} does not name the node {node}")]
    Name { path: PathBuf, node: NodeName },
}

impl NodeIdentityError {
    /// Whether the certificate was good, and its time is over.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        matches!(self.certificate_error(), Some(CertificateError::Expired | CertificateError::ExpiredContext { .. }))
    }

    /// Whether the certificate is on the revocation list.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        matches!(self.certificate_error(), Some(CertificateError::Revoked))
    }

    pub(crate) fn is_outlived(&self) -> bool {
        self.is_expired() || self.is_revoked()
    }

    fn certificate_error(&self) -> Option<&CertificateError> {
        match self {
            Self::Certificate { source: rustls::Error::InvalidCertificate(error), .. } => Some(error),
            _ => None,
        }
    }
}

#[derive(Clone)]
pub struct NodeIdentity {
    inner: Arc<IdentityFiles>,
}

struct IdentityFiles {
    folder: PathBuf,
    node: NodeName,
    roles: NodeRoles,
    clock: NodeClock,
    current: RwLock<Arc<Credentials>>,
}

impl NodeIdentity {
    /// Reads the node's files, and checks that peers accept them at this time. Later the machine's clock decides.
    ///
    /// # Errors
    /// If a file is missing, other users can read the key, or the certificate is not valid for this node: expired,
    /// revoked, of another authority.
    pub fn load(folder: &Path, node: &NodeName, now: Time) -> Result<Self, NodeIdentityError> {
        let now = UnixTime::since_unix_epoch(Duration::from_micros(now.0));
        Self::load_at(folder, node, Arc::new(DefaultTimeProvider), now)
    }

    /// As [`NodeIdentity::load`], by this clock from the beginning.
    ///
    /// # Errors
    /// See [`NodeIdentity::load`].
    pub fn load_with_clock(folder: &Path, node: &NodeName, clock: NodeClock) -> Result<Self, NodeIdentityError> {
        let now = now(&clock);
        Self::load_at(folder, node, clock, now)
    }

    fn load_at(folder: &Path, node: &NodeName, clock: NodeClock, now: UnixTime) -> Result<Self, NodeIdentityError> {
        let credentials = Credentials::load(folder, node, &clock, now, None)?;
        let (folder, node, roles) = (folder.to_owned(), node.clone(), credentials.peer.roles);
        let current = RwLock::new(Arc::new(credentials));
        Ok(Self { inner: Arc::new(IdentityFiles { folder, node, roles, clock, current }) })
    }

    #[must_use]
    pub fn node(&self) -> &NodeName {
        &self.inner.node
    }

    #[must_use]
    pub fn roles(&self) -> NodeRoles {
        self.inner.roles
    }

    /// When the certificate expires, to the second.
    #[must_use]
    pub fn expires(&self) -> Time {
        Time(self.credentials().expires.as_secs().saturating_mul(1_000_000))
    }

    /// When the certificate began to be valid: a day before it was made, so that clocks may differ.
    #[must_use]
    pub fn begins(&self) -> Time {
        Time(self.credentials().begins.as_secs().saturating_mul(1_000_000))
    }

    /// For a connection that begins now.
    pub(crate) fn credentials(&self) -> Arc<Credentials> {
        Arc::clone(&self.inner.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files again whenever they change.
    pub(crate) async fn follow_files(self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.look();
        }
    }

    /// Files that are missing, half written or unusable change nothing: the next look tries again.
    fn look(&self) {
        let IdentityFiles { folder, node, clock, current, .. } = &*self.inner;
        let earlier = self.credentials();
        if !earlier.is_changed(folder, node) {
            return;
        }
        if let Ok(changed) = Credentials::load(folder, node, clock, now(clock), Some(&earlier)) {
            *current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(changed);
        }
    }

    /// Returns when the peer with this certificate must not be trusted any longer: it is expired or revoked. The
    /// handshake has verified it by the credentials `checked`; newer ones may exist by now.
    pub(crate) async fn until_untrusted(&self, certificate: &CertificateDer<'_>, mut checked: Arc<Credentials>) {
        let expires = checked.expiry_of(certificate);
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (now, current) = (now(&self.inner.clock), self.credentials());
            // The signature is verified again only when the files have changed.
            let is_known = Arc::ptr_eq(&checked, &current);
            if now.as_secs() > expires.as_secs() || (!is_known && !current.accepts(certificate, now)) {
                return;
            }
            checked = current;
        }
    }
}

/// A clock that does not know the time makes every certificate invalid.
fn now(clock: &NodeClock) -> UnixTime {
    clock.current_time().unwrap_or(UnixTime::since_unix_epoch(Duration::MAX))
}

#[cfg(unix)]
pub(crate) fn refuse_exposed(path: &Path) -> Result<(), NodeIdentityError> {
    use std::os::unix::fs::PermissionsExt;
    match path.metadata() {
        Ok(file) if file.permissions().mode() & 0o077 != 0 => Err(NodeIdentityError::Exposed { path: path.to_owned() }),
        // A missing file is reported when it is read.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn refuse_exposed(_: &Path) -> Result<(), NodeIdentityError> {
    Ok(())
}

/// The peer of a connection, by its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub node: NodeName,
    pub roles: NodeRoles,
}

impl Peer {
    /// Reads a verified certificate; `None` if it names no node.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = webpki::EndEntityCert::try_from(certificate).ok()?;
        let (mut node, mut roles) = (None, NodeRoles::default());
        for name in parsed.valid_dns_names() {
            if let Some(name) = name.strip_suffix(".node.bankroll") {
                node = name.parse().ok();
            } else if let Some(role) =
                name.strip_suffix(".role.bankroll").and_then(|role| role.parse::<NodeRole>().ok())
            {
                roles = roles.with(role);
            }
        }
        Some(Self { node: node?, roles })
    }
}

impl std::fmt::Debug for NodeIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeIdentity").field("node", self.node()).field("roles", &self.roles()).finish_non_exhaustive()
    }
}
