//! TLS to the server: which certificates are trusted.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection_config::{ConnectionConfig, RootSource};
use crate::{DatabaseUrlError, Protection};

/// The TLS connector for this configuration; `None` without TLS.
pub(super) fn connector(address: &ConnectionConfig) -> Result<Option<MakeRustlsConnect>, DatabaseUrlError> {
    let verified = match address.protection {
        Protection::Local | Protection::PlainText => return Ok(None),
        Protection::IfOffered { verified } => verified,
        Protection::Unverified => false,
        Protection::Verified => true,
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for both versions");
    let builder = if verified {
        builder.with_root_certificates(read(&address.roots)?)
    } else {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    };
    Ok(Some(MakeRustlsConnect::new(builder.with_no_client_auth())))
}

fn read(roots: &RootSource) -> Result<RootCertStore, DatabaseUrlError> {
    let mut store = RootCertStore::empty();
    match roots {
        RootSource::Machine => {
            // Some machines have a few unreadable certificates; it is enough that there are others.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if store.is_empty() { Err(DatabaseUrlError::NoRoots) } else { Ok(store) }
        }
        RootSource::File(path) => {
            let unusable = || DatabaseUrlError::Roots { path: path.clone() };
            let certificates = CertificateDer::pem_file_iter(path).map_err(|_| unusable())?;
            for certificate in certificates {
                store.add(certificate.map_err(|_| unusable())?).map_err(|_| unusable())?;
            }
            if store.is_empty() { Err(unusable()) } else { Ok(store) }
        }
    }
}

/// Accepts every certificate, but still verifies that the server has its key: stops eavesdroppers, not impostors.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
