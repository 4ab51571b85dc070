//! Renewing a node's certificate: the same key, name and roles, valid for longer. The key may be on another machine.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bankroll_ledger::Time;
use rcgen::{PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, UnixTime, pem::PemObject},
    server::WebPkiClientVerifier,
};

use super::{Authority, AuthorityError, CA_CERTIFICATE, replace, revocation};
use crate::{NodeName, certificate_file, credentials, identity::Peer};

/// What precedes the 65 bytes of a P-256 key in a certificate.
const P256_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The public key of an earlier certificate.
struct CertifiedPublicKey(Vec<u8>);

impl PublicKeyData for CertifiedPublicKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl Authority {
    /// Replaces the node's certificate in this folder by one that is valid for so many days from now; returns its path.
    /// The earlier one may be expired. It stays valid until then otherwise, so the node can go on with it.
    ///
    /// # Errors
    /// If the node has no certificate of this authority here, or is revoked.
    pub fn renew(&self, folder: &Path, node: &NodeName, days: u32, now: Time) -> Result<PathBuf, AuthorityError> {
        let (path, certificate, peer) = own_certificate(folder, node)?;
        if revocation::is_revoked(folder, &certificate)? {
            return Err(AuthorityError::Revoked { node: node.clone() });
        }
        let not_ours = || super::not_ours(&path, node);
        let parsed = webpki::EndEntityCert::try_from(&certificate).map_err(|_| not_ours())?;
        let key = parsed.subject_public_key_info();
        let key = key.strip_prefix(&P256_PREFIX).filter(|key| key.len() == 65).ok_or_else(not_ours)?;
        let signed = self.sign(&CertifiedPublicKey(key.to_vec()), node, peer.roles, days, now)?;
        replace(&path, &signed)?;
        Ok(path)
    }
}

/// The node's certificate in this folder, if the authority here signed it for this node. Its roles are believed only
/// because of that signature.
pub(super) fn own_certificate(
    folder: &Path,
    node: &NodeName,
) -> Result<(PathBuf, CertificateDer<'static>, Peer), AuthorityError> {
    let path = certificate_file(folder, node);
    if !path.exists() {
        return Err(AuthorityError::NoNode { path });
    }
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(super::at(path))
            .and_then(|bytes| CertificateDer::from_pem_slice(&bytes).map_err(|_| super::not_ours(path, node)))
    };
    let (ca, certificate) = (read(&folder.join(CA_CERTIFICATE))?, read(&path)?);
    let peer = verified(ca, &certificate).filter(|peer| peer.node == *node);
    peer.map(|peer| (path.clone(), certificate, peer)).ok_or_else(|| super::not_ours(&path, node))
}

/// Verifies the certificate at the last moment of its validity, because it may be expired by now.
fn verified(ca: CertificateDer<'static>, certificate: &CertificateDer<'_>) -> Option<Peer> {
    let mut roots = RootCertStore::empty();
    roots.add(ca).ok()?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().ok()?;
    let last: UnixTime = credentials::expiry(&*verifier, certificate);
    verifier.verify_client_cert(certificate, &[], last).ok()?;
    Peer::of(certificate)
}
