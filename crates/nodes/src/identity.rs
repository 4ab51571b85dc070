//! Who a node is: its certificate and key, the authority it believes, and what it makes of the other side's certificate.
//!
//! TLS 1.3 and nothing older, a certificate demanded of both sides, no resumption: every connection is proven anew, so that
//! a certificate that is over opens none.

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

/// The name that whoever answers for the books must have in its certificate.
pub(crate) const BOOKS_NAME: &str = "books.role.bankroll";

/// A node's certificate in its folder.
#[must_use]
pub fn certificate_file(folder: &Path, node: &NodeName) -> PathBuf {
    folder.join(format!("{node}.pem"))
}

/// A node's key in its folder.
#[must_use]
pub fn key_file(folder: &Path, node: &NodeName) -> PathBuf {
    folder.join(format!("{node}.key"))
}

/// Why a node cannot say who it is.
#[derive(Debug, thiserror::Error)]
pub enum NodeIdentityError {
    /// A file cannot be read, or has no certificate or key in it.
    #[error("cannot read {path}; `bankroll nodes init` makes an authority, `bankroll nodes add` a node's certificate")]
    File {
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// Others than the owner may read the key.
    #[error("{path} may be read by others: chmod 600")]
    Exposed { path: PathBuf },
    /// The certificate is over, of another authority, or does not fit the key.
    #[error("the certificate {path} cannot be used")]
    Certificate {
        path: PathBuf,
        #[source]
        source: rustls::Error,
    },
    /// The certificate is another node's.
    #[error("the certificate {path} does not name the node {node}")]
    Name {
        path: PathBuf,
        /// Whose it should be.
        node: NodeName,
    },
}

#[derive(Clone)]
pub struct NodeIdentity {
    node: NodeName,
    roles: NodeRoles,
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) client: Arc<ClientConfig>,
}

impl NodeIdentity {
    /// Reads the node's files, and checks that others will believe them.
    ///
    /// # Errors
    /// If a file is missing, the key may be read by others, or the certificate is not one of this node and authority, now.
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

    /// The roles that its certificate says.
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
        // A file that is not there is told when it is read.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path) -> Result<(), NodeIdentityError> {
    Ok(())
}

/// The other side of a connection, as its certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub node: NodeName,
    pub roles: NodeRoles,
}

impl Peer {
    /// Reads a certificate that was verified already; `None` if it names no node.
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
        f.debug_struct("Identity").field("node", &self.node).field("roles", &self.roles).finish_non_exhaustive()
    }
}
