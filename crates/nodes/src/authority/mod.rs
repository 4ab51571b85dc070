//! The certificate authority of a deployment.
//!
//! Its key is needed only to add a node, so it need not be on any node. A node's certificate names the node
//! (`books-1.node.bankroll`) and each role it may act for (`api.role.bankroll`), and serves for both directions.
//!
//! Keys are never overwritten, and only their owner can read them. A renewed certificate and the revocation list replace
//! the file before in one step, so that a node that reads at the same time sees one or the other.
//!
//! All certificates of one key have one serial number: revoking a node's certificate revokes those that it replaced.

mod renewal;
mod revocation;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use bankroll_ledger::Time;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData,
};
use time::{Duration, OffsetDateTime};

use crate::{NodeName, NodeRoles, certificate_file, key_file};

/// The certificate of the authority; every node needs it.
pub const CA_CERTIFICATE: &str = "ca.pem";
/// The key of the authority; no node needs it.
pub const CA_KEY: &str = "ca.key";
/// The certificates that the authority has revoked; every node needs it once it exists.
pub const REVOCATION_LIST: &str = "revoked.pem";

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
    #[error("there is no certificate {path}: check the name of the node")]
    NoNode { path: PathBuf },
    /// It is no certificate, of another authority, or not of this node.
    #[error("{path} is not a certificate of this authority for {node}; nothing was changed")]
    NotOurs { path: PathBuf, node: NodeName },
    #[error("{path} is not a revocation list; nothing was changed")]
    List { path: PathBuf },
    #[error("{node} is revoked: remove its two files, and give it a new key with `bankroll nodes add {node}`")]
    Revoked { node: NodeName },
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
        let key = KeyPair::generate()?;
        let signed = self.sign(&key, node, roles, days, now)?;
        fs::create_dir_all(folder).map_err(at(folder))?;
        write_new(&key_path, &key.serialize_pem(), true)?;
        write_new(&certificate, &signed, false)?;
        Ok([certificate, key_path])
    }

    /// The certificate of a node's key, as PEM.
    fn sign(
        &self,
        key: &impl PublicKeyData,
        node: &NodeName,
        roles: NodeRoles,
        days: u32,
        now: Time,
    ) -> Result<String, AuthorityError> {
        let names: Vec<String> =
            roles.iter().map(|role| format!("{role}.role.bankroll")).chain([format!("{node}.node.bankroll")]).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = named(node.as_str());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = (moment(now) - EARLIER, moment(now) + Duration::days(days.into()));
        // Without a serial number in the parameters it is a digest of the key.
        Ok(params.signed_by(key, &self.issuer)?.pem())
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

fn not_ours(path: &Path, node: &NodeName) -> AuthorityError {
    AuthorityError::NotOurs { path: path.to_owned(), node: node.clone() }
}

fn refuse_existing(paths: &[&PathBuf]) -> Result<(), AuthorityError> {
    match paths.iter().find(|path| path.exists()) {
        Some(path) => Err(AuthorityError::Exists { path: path.to_path_buf() }),
        None => Ok(()),
    }
}

/// Replaces a public file in one step, or creates it.
fn replace(path: &Path, text: &str) -> Result<(), AuthorityError> {
    let new = path.with_extension("pem.new");
    // Left by a command that was interrupted.
    let _ = fs::remove_file(&new);
    write_new(&new, text, false)?;
    fs::rename(&new, path).map_err(at(path))
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
