//! A node's files as TLS needs them, and whether they have changed since.
//!
//! TLS 1.3 only, certificates on both sides, no resumption: every connection is authenticated, so a certificate that is
//! expired or revoked opens none.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustls::{
    CertificateError, ClientConfig, RootCertStore, ServerConfig,
    client::{Resumption, WebPkiServerVerifier},
    pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{NoServerSessionStorage, WebPkiClientVerifier, danger::ClientCertVerifier},
    version::TLS13,
};

use crate::{
    CA_CERTIFICATE, NodeClock, NodeIdentityError, NodeName, REVOCATION_LIST, certificate_file,
    identity::{Peer, refuse_exposed},
    key_file,
};

/// No certificate is valid this long after 1970: the year 9999.
const END_OF_TIME: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(253_402_300_799));

pub(crate) struct Credentials {
    pub peer: Peer,
    pub expires: UnixTime,
    /// When it began to be valid.
    pub begins: UnixTime,
    pub server: Arc<ServerConfig>,
    pub client: Arc<ClientConfig>,
    /// Accepts the nodes of this authority whose certificates are valid and not revoked.
    verifier: Arc<dyn ClientCertVerifier>,
    files: [FileStamp; 4],
}

/// The place of the node's certificate among the files.
const CERTIFICATE: usize = 0;

/// Differs when a file was replaced or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp(Option<(u64, Option<SystemTime>, u64)>);

impl Credentials {
    /// Reads the node's files, and checks that peers accept them at this time; `earlier` are those that the node has
    /// used until now.
    pub fn load(
        folder: &Path,
        node: &NodeName,
        clock: &NodeClock,
        now: UnixTime,
        earlier: Option<&Self>,
    ) -> Result<Self, NodeIdentityError> {
        // Before the files are read: a change in between shows at the next look.
        let files = stamps(folder, node);
        let (path, key_path) = (certificate_file(folder, node), key_file(folder, node));
        let ca_path = folder.join(CA_CERTIFICATE);
        let ca = one_certificate(&ca_path)?;
        let certificate = one_certificate(&path)?;
        refuse_exposed(&key_path)?;
        let key = || {
            PrivateKeyDer::from_pem_file(&key_path)
                .map_err(|source| NodeIdentityError::File { path: key_path.clone(), source })
        };
        let unusable = |source: rustls::Error| NodeIdentityError::Certificate { path: path.clone(), source };
        let broken = |error: rustls::server::VerifierBuilderError| unusable(rustls::Error::General(error.to_string()));
        let mut roots = RootCertStore::empty();
        roots.add(ca).map_err(|source| NodeIdentityError::Certificate { path: ca_path, source })?;
        let (roots, provider) = (Arc::new(roots), Arc::new(rustls::crypto::ring::default_provider()));
        let revoked = revocation_list(folder)?;
        // Strict: with a list of another authority the status of a certificate is unknown, and none is accepted.
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .with_crls(revoked.clone())
            .only_check_end_entity_revocation()
            .build()
            .map_err(broken)?;
        let of_books = WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .with_crls(revoked)
            .only_check_end_entity_revocation()
            .build()
            .map_err(broken)?;
        match verifier.verify_client_cert(&certificate, &[], now).map_err(unusable) {
            // A new list must count even if this node itself is on it.
            Err(error)
                if earlier.is_some_and(|earlier| earlier.has_same_certificate(&files)) && error.is_outlived() => {}
            verified => _ = verified?,
        }
        let peer = Peer::of(&certificate).filter(|peer| peer.node == *node);
        let peer = peer.ok_or_else(|| NodeIdentityError::Name { path: path.clone(), node: node.clone() })?;
        let (expires, begins) = (expiry(&*verifier, &certificate), beginning(&*verifier, &certificate));
        let chain = vec![certificate];
        let mut server = ServerConfig::builder_with_details(Arc::clone(&provider), Arc::clone(clock))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(Arc::clone(&verifier))
            .with_single_cert(chain.clone(), key()?)
            .map_err(unusable)?;
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        let mut client = ClientConfig::builder_with_details(provider, Arc::clone(clock))
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_webpki_verifier(of_books)
            .with_client_auth_cert(chain, key()?)
            .map_err(unusable)?;
        client.resumption = Resumption::disabled();
        Ok(Self { peer, expires, begins, server: Arc::new(server), client: Arc::new(client), verifier, files })
    }

    pub fn is_changed(&self, folder: &Path, node: &NodeName) -> bool {
        stamps(folder, node) != self.files
    }

    fn has_same_certificate(&self, files: &[FileStamp; 4]) -> bool {
        self.files[CERTIFICATE] == files[CERTIFICATE]
    }

    /// Whether this certificate is of the authority, valid at this time, and not revoked.
    pub fn accepts(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> bool {
        self.verifier.verify_client_cert(certificate, &[], now).is_ok()
    }

    /// When a certificate of the authority expires.
    pub fn expiry_of(&self, certificate: &CertificateDer<'_>) -> UnixTime {
        expiry(&*self.verifier, certificate)
    }
}

/// Verification at the end of time fails, and its error says when the certificate expired. A certificate for which it
/// says something else counts as expired.
pub(crate) fn expiry(verifier: &dyn ClientCertVerifier, certificate: &CertificateDer<'_>) -> UnixTime {
    match verifier.verify_client_cert(certificate, &[], END_OF_TIME) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => not_after,
        _ => UnixTime::since_unix_epoch(Duration::ZERO),
    }
}

/// Verification at the beginning of time fails, too, and its error says when the certificate began to be valid. If it
/// says something else, that is not known.
fn beginning(verifier: &dyn ClientCertVerifier, certificate: &CertificateDer<'_>) -> UnixTime {
    let zero = UnixTime::since_unix_epoch(Duration::ZERO);
    match verifier.verify_client_cert(certificate, &[], zero) {
        Err(rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. })) => not_before,
        _ => zero,
    }
}

/// The revocation list, if there is one.
fn revocation_list(folder: &Path) -> Result<Option<CertificateRevocationListDer<'static>>, NodeIdentityError> {
    let path = folder.join(REVOCATION_LIST);
    if !path.exists() {
        return Ok(None);
    }
    let list = CertificateRevocationListDer::from_pem_file(&path);
    list.map(Some).map_err(|source| NodeIdentityError::RevocationList { path, source })
}

fn one_certificate(path: &Path) -> Result<CertificateDer<'static>, NodeIdentityError> {
    CertificateDer::from_pem_file(path).map_err(|source| NodeIdentityError::File { path: path.to_owned(), source })
}

fn stamps(folder: &Path, node: &NodeName) -> [FileStamp; 4] {
    let paths = [
        certificate_file(folder, node),
        key_file(folder, node),
        folder.join(CA_CERTIFICATE),
        folder.join(REVOCATION_LIST),
    ];
    paths.map(|path: PathBuf| {
        FileStamp(path.metadata().ok().map(|file| (file.len(), file.modified().ok(), place(&file))))
    })
}

#[cfg(unix)]
fn place(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> u64 {
    0
}
