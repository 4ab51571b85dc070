//! The certificate authority of a deployment.
//!
//! Its key is needed only to add a node, so it need not be on any node. A node's certificate names the node
//! (`books-1.node.bankroll`) and each role it may act for (`api.role.bankroll`), and serves for both directions.
//!
//! Files are never overwritten; only the owner can read keys.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use bankroll_ledger::Time;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::{NodeName, NodeRoles, certificate_file, key_file};

/// The certificate of the authority; every node needs it.
pub const CA_CERTIFICATE: &str = "ca.pem";
/// The key of the authority; no node needs it.
pub const CA_KEY: &str = "ca.key";

const NAME: &str = "Bankroll nodes";
const CA_DAYS: i64 = 3_650;
/// Clocks of machines differ.
const EARLIER: Duration = Duration::DAY;

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("cannot use {path}")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} exists already; nothing was changed")]
    Exists { path: PathBuf },
    /// A mistyped folder must not become a deployment of its own.
    #[error("there is no folder {path}: check its name, or create it with `bankroll init --dir {path}` or `mkdir`")]
    NoFolder { path: PathBuf },
    /// The authority's key cannot be used, or the certificate cannot be made.
    #[error("cannot make the certificate")]
    Certificate(#[from] rcgen::Error),
}

impl Authority {
    /// Creates an authority in this folder: its certificate and its key. The folder is created; the one above must exist.
    ///
    /// # Errors
    /// If there is one already, or the folder cannot be written to.
    pub fn init(folder: &Path, now: Time) -> Result<Self, AuthorityError> {
        let (certificate, key_path) = (folder.join(CA_CERTIFICATE), folder.join(CA_KEY));
        refuse_existing(&[&certificate, &key_path])?;
        let above = folder.parent().filter(|above| *above != Path::new(""));
        if let Some(path) = above.filter(|above| !above.is_dir()) {
            return Err(AuthorityError::NoFolder { path: path.into() });
        }
        let key = KeyPair::generate()?;
        let params = ca_params(now);
        let signed = params.self_signed(&key)?;
        fs::create_dir_all(folder).map_err(at(folder))?;
        write_new(&key_path, &key.serialize_pem(), true)?;
        write_new(&certificate, &signed.pem(), false)?;
        Ok(Self { issuer: Issuer::new(params, key) })
    }

    /// The authority in this folder.
    ///
    /// # Errors
    /// If its key is missing or malformed.
    pub fn open(folder: &Path, now: Time) -> Result<Self, AuthorityError> {
        let path = folder.join(CA_KEY);
        let pem = fs::read_to_string(&path).map_err(at(&path))?;
        // An issuer is a name and a key; the certificate in the folder has the same.
        Ok(Self { issuer: Issuer::new(ca_params(now), KeyPair::from_pem(&pem)?) })
    }

    /// Creates the certificate and key of a node in this folder; returns both paths.
    ///
    /// # Errors
    /// If the node already has them, or the folder cannot be written to.
    pub fn add(
        &self,
        folder: &Path,
        node: &NodeName,
        roles: NodeRoles,
        days: u32,
        now: Time,
    ) -> Result<[PathBuf; 2], AuthorityError> {
        let (certificate, key_path) = (certificate_file(folder, node), key_file(folder, node));
        refuse_existing(&[&certificate, &key_path])?;
        let names: Vec<String> =
            roles.iter().map(|role| format!("{role}.role.bankroll")).chain([format!("{node}.node.bankroll")]).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = named(node.as_str());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = (moment(now) - EARLIER, moment(now) + Duration::days(days.into()));
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &self.issuer)?;
        fs::create_dir_all(folder).map_err(at(folder))?;
        write_new(&key_path, &key.serialize_pem(), true)?;
        write_new(&certificate, &signed.pem(), false)?;
        Ok([certificate, key_path])
    }
}

fn ca_params(now: Time) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (moment(now) - EARLIER, moment(now) + Duration::days(CA_DAYS));
    params
}

fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

fn moment(now: Time) -> OffsetDateTime {
    let seconds = i64::try_from(now.0 / 1_000_000).unwrap_or(0);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> AuthorityError {
    let path = path.to_owned();
    |source| AuthorityError::File { path, source }
}

fn refuse_existing(paths: &[&PathBuf]) -> Result<(), AuthorityError> {
    match paths.iter().find(|path| path.exists()) {
        Some(path) => Err(AuthorityError::Exists { path: path.to_path_buf() }),
        None => Ok(()),
    }
}

/// Creates a file and syncs it; only the owner can ever read a secret one.
fn write_new(path: &Path, text: &str, secret: bool) -> Result<(), AuthorityError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if secret { 0o600 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = secret;
    let mut file = options.open(path).map_err(at(path))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(at(path))
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}
