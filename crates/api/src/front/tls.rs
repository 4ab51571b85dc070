//! The certificate of the front.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

use super::FrontError;

pub(super) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, FrontError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| FrontError::Pem { path, source }
    };
    let chain = CertificateDer::pem_file_iter(certificate).map_err(unreadable(certificate))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(unreadable(certificate))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(FrontError::Tls)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
