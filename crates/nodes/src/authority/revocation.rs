//! Revoking a node's certificate: a list that the authority signs, and that every node reads.

use std::path::{Path, PathBuf};

use bankroll_ledger::Time;
use rcgen::{CertificateRevocationListParams, KeyIdMethod, RevokedCertParams, SerialNumber};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, pem::PemObject};
use time::{Duration, OffsetDateTime};

use super::{Authority, AuthorityError, CA_DAYS, REVOCATION_LIST, at, moment, renewal::own_certificate, replace};
use crate::NodeName;

impl Authority {
    /// Adds the node's certificate in this folder, and every earlier one of the same key, to the revocation list;
    /// returns the path of the list. Revoking again changes nothing.
    ///
    /// # Errors
    /// If the node has no certificate of this authority here, or the list cannot be read or written.
    pub fn revoke(&self, folder: &Path, node: &NodeName, now: Time) -> Result<PathBuf, AuthorityError> {
        let (path, certificate, _) = own_certificate(folder, node)?;
        let serial = serial(&certificate).ok_or_else(|| super::not_ours(&path, node))?;
        let list = folder.join(REVOCATION_LIST);
        let mut revoked = listed(folder)?;
        if revoked.iter().any(|(listed, _)| *listed == serial) {
            return Ok(list);
        }
        revoked.push((serial, moment(now)));
        let params = CertificateRevocationListParams {
            this_update: moment(now),
            next_update: moment(now) + Duration::days(CA_DAYS),
            crl_number: SerialNumber::from(now.0),
            issuing_distribution_point: None,
            revoked_certs: revoked.into_iter().map(entry).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        replace(&list, &params.signed_by(&self.issuer)?.pem()?)?;
        Ok(list)
    }
}

/// Whether the list in this folder names the certificate.
pub(super) fn is_revoked(folder: &Path, certificate: &CertificateDer<'_>) -> Result<bool, AuthorityError> {
    let serial = serial(certificate);
    Ok(listed(folder)?.iter().any(|(listed, _)| Some(listed) == serial.as_ref()))
}

fn serial(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    Some(webpki::EndEntityCert::try_from(certificate).ok()?.serial().to_vec())
}

/// The serial numbers on the list, and since when; none if there is no list.
fn listed(folder: &Path) -> Result<Vec<(Vec<u8>, OffsetDateTime)>, AuthorityError> {
    let path = folder.join(REVOCATION_LIST);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(at(&path))?,
    };
    let malformed = || AuthorityError::List { path: path.clone() };
    let der = CertificateRevocationListDer::from_pem_slice(&bytes).map_err(|_| malformed())?;
    let list = webpki::BorrowedCertRevocationList::from_der(&der).map_err(|_| malformed())?;
    let entries = list.into_iter().map(|entry| {
        let entry = entry.map_err(|_| malformed())?;
        let since = i64::try_from(entry.revocation_date.as_secs()).unwrap_or(0);
        let since = OffsetDateTime::from_unix_timestamp(since).map_err(|_| malformed())?;
        Ok((entry.serial_number.to_vec(), since))
    });
    entries.collect()
}

fn entry((serial, since): (Vec<u8>, OffsetDateTime)) -> RevokedCertParams {
    RevokedCertParams {
        serial_number: SerialNumber::from(serial),
        revocation_time: since,
        reason_code: None,
        invalidity_date: None,
    }
}
