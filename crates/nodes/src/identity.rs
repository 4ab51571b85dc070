//! The identity of a node: its certificate and key, the authority it trusts, and how it reads a peer's certificate.
//!
//! TLS 1.3 only, certificates on both sides, no resumption: every connection is authenticated, so an expired
//! certificate opens none.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bankroll_ledger::Time;
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::Resumption,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::TLS13,
};

use crate::{CA_CERTIFICATE, NodeName, NodeRole, NodeRoles};

/// A node that answers for the books must have this name in its certificate.
pub(crate) const BOOKS_NAME: &str = "books.role.bankroll";

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
    #[error("other users can read {path}; run chmod 600 {path}")]
    Exposed { path: PathBuf },
    /// The certificate is expired, of another authority, or does not match the key.
    #[error("the certificate {path} cannot be used")]
    Certificate {
        path: PathBuf,
        #[source]
        source: rustls::Error,
    },
    #[error("the certificate {path} does not name the node {node}")]
    Name { path: PathBuf, node: NodeName },
}

#[derive(Clone)]
pub struct NodeIdentity {
    node: NodeName,
    roles: NodeRoles,
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) client: Arc<ClientConfig>,
}

impl NodeIdentity {
    /// Reads the node's files, and checks that peers will accept them.
    ///
    /// # Errors
    /// If a file is missing, other users can read the key, or the certificate is not valid now for this node.
    pub fn load(folder: &Path, node: &NodeName, now: Time) -> Result<Self, NodeIdentityError> {
        let (ca_path, path, key_path) =
            (folder.join(CA_CERTIFICATE), certificate_file(folder, node), key_file(folder, node));
        let ca = one_certificate(&ca_path)?;
        let certificate = one_certificate(&path)?;
        refuse_exposed(&key_path)?;
        let key = || {
            PrivateKeyDer::from_pem_file(&key_path)
                .map_err(|source| NodeIdentityError::File { path: key_path.clone(), source })
        };
        let unusable = |source: rustls::Error| NodeIdentityError::Certificate { path: path.clone(), source };
        let mut roots = RootCertStore::empty();
        roots.add(ca).map_err(|source| NodeIdentityError::Certificate { path: ca_path, source })?;
        let (roots, provider) = (Arc::new(roots), Arc::new(rustls::crypto::ring::default_provider()));
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .build()
            .map_err(|error| unusable(rustls::Error::General(error.to_string())))?;
        let at = UnixTime::since_unix_epoch(Duration::from_micros(now.0));
        verifier.verify_client_cert(&certificate, &[], at).map_err(unusable)?;
        let peer = Peer::of(&certificate).filter(|peer| peer.node == *node);
        let peer = peer.ok_or_else(|| NodeIdentityError::Name { path: path.clone(), node: node.clone() })?;
        let chain = vec![certificate];
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.clone(), key()?)
            .map_err(unusable)?;
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        let client = client_config(provider, roots, chain, key()?).map_err(unusable)?;
        Ok(Self { node: node.clone(), roles: peer.roles, server: Arc::new(server), client: Arc::new(client) })
    }

    #[must_use]
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    #[must_use]
    pub const fn roles(&self) -> NodeRoles {
        self.roles
    }
}

fn client_config(
    provider: Arc<CryptoProvider>,
    roots: Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ClientConfig, rustls::Error> {
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)?;
    client.resumption = Resumption::disabled();
    Ok(client)
}

fn one_certificate(path: &Path) -> Result<CertificateDer<'static>, NodeIdentityError> {
    CertificateDer::from_pem_file(path).map_err(|source| NodeIdentityError::File { path: path.to_owned(), source })
}

#[cfg(unix)]
fn refuse_exposed(path: &Path) -> Result<(), NodeIdentityError> {
    use std::os::unix::fs::PermissionsExt;
    match path.metadata() {
        Ok(file) if file.permissions().mode() & 0o077 != 0 => Err(NodeIdentityError::Exposed { path: path.to_owned() }),
        // A missing file is reported when it is read.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path) -> Result<(), NodeIdentityError> {
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
        f.debug_struct("NodeIdentity").field("node", &self.node).field("roles", &self.roles).finish_non_exhaustive()
    }
}
