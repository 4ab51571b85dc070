//! Key files of game servers, of the owner, and of players who use commands: they sign what the Funds API verifies. And
//! the key of the deployment, which signs published heads.
//!
//! The file is the private key as text, `0x` and 64 hexadecimal digits, as common libraries read it. It is not
//! encrypted, because a game server starts without a person; so only its user may read it. Such a key opens sessions
//! and holds no coins.
//!
//! It guarantees that a file is never overwritten, that a file that other users can read is refused, and that no error
//! and no debug output contains the key.

use std::{
    fmt, fs,
    fs::OpenOptions,
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use bankroll_orders::{Address, typed_data::WalletSignature};
use k256::ecdsa::SigningKey;
use rand_core::OsRng;
use zeroize::Zeroizing;

/// The owner's key in the folder of a deployment.
pub const OWNER_KEY_FILE: &str = "owner.key";
/// The key that signs published heads, in the folder of a node.
pub const HEAD_KEY_FILE: &str = "head.key";
/// Longer than any key with its newline.
const FILE_BYTES_MAX: u64 = 128;

/// The key of a caller of the Funds API.
pub struct AuthKey(SigningKey);

#[derive(Debug, thiserror::Error)]
pub enum AuthKeyError {
    #[error("{} exists already; nothing was changed", path.display())]
    Exists { path: PathBuf },
    #[error("there is no key file {}; create one with `bankroll keys auth {}`", path.display(), path.display())]
    Missing { path: PathBuf },
    #[error("the key file {} is not 0x and 64 hexadecimal digits of a private key", path.display())]
    Malformed { path: PathBuf },
    #[error("other users can read the key file {}; run `chmod 600 {}`", path.display(), path.display())]
    Exposed { path: PathBuf },
    #[error("cannot use the key file {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl AuthKey {
    /// Makes a key and writes it into a new file that only this user can read. The file is synced when this returns.
    pub fn create(path: &Path) -> Result<Self, AuthKeyError> {
        let key = SigningKey::random(&mut OsRng);
        let secret = Zeroizing::new(<[u8; 32]>::from(key.to_bytes()));
        let text = Zeroizing::new(format!("0x{}\n", *Zeroizing::new(hex::encode(secret.as_slice()))));
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => AuthKeyError::Exists { path: path.into() },
            _ => AuthKeyError::Io { path: path.into(), source },
        })?;
        Ok(Self(key))
    }

    pub fn read(path: &Path) -> Result<Self, AuthKeyError> {
        let malformed = || AuthKeyError::Malformed { path: path.into() };
        let io = |source: io::Error| match source.kind() {
            ErrorKind::NotFound => AuthKeyError::Missing { path: path.into() },
            _ => AuthKeyError::Io { path: path.into(), source },
        };
        let file = fs::File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.permissions().mode() & 0o077 != 0 {
            return Err(AuthKeyError::Exposed { path: path.into() });
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(256));
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(io)?;
        let digits = bytes.trim_ascii().strip_prefix(b"0x").ok_or_else(malformed)?;
        let mut secret = Zeroizing::new([0; 32]);
        hex::decode_to_slice(digits, secret.as_mut_slice()).map_err(|_| malformed())?;
        SigningKey::from_slice(secret.as_slice()).map(Self).map_err(|_| malformed())
    }

    /// A key that is in no file, as those of simulated players.
    #[must_use]
    pub const fn new(key: SigningKey) -> Self {
        Self(key)
    }

    /// What the registry allows or knows the key by.
    pub fn address(&self) -> Address {
        Address::of(self.0.verifying_key())
    }

    /// Signs a digest of [`typed_data`](bankroll_orders::typed_data). `None` for about one digest in 2^127: sign another
    /// message then.
    pub fn sign(&self, digest: &[u8; 32]) -> Option<WalletSignature> {
        WalletSignature::by(&self.0, digest)
    }
}

impl fmt::Debug for AuthKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthKey({})", self.address())
    }
}

#[cfg(test)]
mod tests {
    use bankroll_orders::typed_data;

    use super::*;

    fn with_text(folder: &Path, text: &str, mode: u32) -> Result<AuthKey, AuthKeyError> {
        let path = folder.join("some.key");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        AuthKey::read(&path)
    }

    #[test]
    fn a_new_key_is_read_back_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OWNER_KEY_FILE);
        assert!(matches!(AuthKey::read(&path), Err(AuthKeyError::Missing { .. })));
        let made = AuthKey::create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("0x") && text.len() == 67, "0x, 64 digits and a newline");
        assert!(matches!(AuthKey::create(&path), Err(AuthKeyError::Exists { .. })));
        let read = AuthKey::read(&path).unwrap();
        assert_eq!(read.address(), made.address());
        let signature = read.sign(&[7; 32]).unwrap();
        assert_eq!(typed_data::recover(&[7; 32], &signature), Ok(made.address()));
        assert_eq!(format!("{read:?}"), format!("AuthKey({})", made.address()));
    }

    #[test]
    fn a_key_of_another_tool_is_read() {
        let folder = tempfile::tempdir().unwrap();
        // The first account of anvil.
        let text = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
        let key = with_text(folder.path(), text, 0o400).unwrap();
        assert_eq!(key.address().to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let key = format!("0x{}", "ab".repeat(32));
        for mode in [0o640, 0o604, 0o666] {
            let error = with_text(folder.path(), &key, mode).unwrap_err();
            assert!(matches!(error, AuthKeyError::Exposed { .. }), "{error}");
            fs::set_permissions(folder.path().join("some.key"), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let (zero, above) = (format!("0x{}", "00".repeat(32)), format!("0x{}", "ff".repeat(32)));
        for text in ["", "0x", &key[2..], &key[..65], &format!("{key}ab"), &zero, &above, &key.repeat(100)] {
            let error = with_text(folder.path(), text, 0o600).unwrap_err();
            assert!(matches!(error, AuthKeyError::Malformed { .. }), "{error}");
            assert!(!error.to_string().contains("abab"), "{error}");
        }
    }
}
