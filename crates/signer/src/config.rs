//! `signer.toml`: paths, and the signer's own rules.
//!
//! Amounts are decimal texts in base units. Unknown fields are refused: a limit with a mistyped name would be ignored.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use bankroll_input::without_excerpt;
use bankroll_money::Amount;
use bankroll_orders::{Address, ChainId};
use serde::Deserialize;

use crate::policy::{ChainRules, GasPricing, SigningLimits, SigningPolicy};

pub const CONFIG_FILE: &str = "signer.toml";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignerConfig {
    pub socket: PathBuf,
    /// The user that may connect; by default the signer's own user.
    pub client_uid: Option<u32>,
    pub memory: PathBuf,
    /// Addresses and key files.
    pub wallets: Vec<(Address, PathBuf)>,
    pub policy: SigningPolicy,
}

#[derive(Debug, thiserror::Error)]
pub enum SignerConfigError {
    #[error("there is no {path}")]
    Missing { path: PathBuf },
    #[error("cannot read {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: {what}")]
    Wrong { path: PathBuf, what: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(default = "default_socket")]
    socket: PathBuf,
    client_uid: Option<u32>,
    #[serde(default = "default_memory")]
    memory: PathBuf,
    window_seconds: u64,
    wallets: Vec<WalletSection>,
    chains: Vec<Chain>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WalletSection {
    address: Address,
    keystore: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chain {
    id: ChainId,
    transactions: GasPricing,
    max_fee_per_gas: Amount,
    max_priority_fee_per_gas: Amount,
    max_gas: u64,
    fees_per_window: Amount,
    #[serde(default)]
    assets: Vec<AssetLimits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssetLimits {
    /// The contract; `None` for the native coin.
    token: Option<Address>,
    per_payout: Amount,
    per_window: Amount,
}

fn default_socket() -> PathBuf {
    "signer.sock".into()
}

fn default_memory() -> PathBuf {
    "memory.db".into()
}

impl SignerConfig {
    /// Reads the configuration in a signer's folder; its paths are relative to that folder.
    ///
    /// # Errors
    /// As [`SignerConfigError`] says.
    pub fn read(folder: &Path) -> Result<Self, SignerConfigError> {
        let path = folder.join(CONFIG_FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SignerConfigError::Missing { path }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(SignerConfigError::Wrong { path, what: "it is not text in UTF-8".into() });
            }
            Err(source) => return Err(SignerConfigError::Io { path, source }),
            Ok(text) => text,
        };
        Self::parse(&text, folder).map_err(|what| SignerConfigError::Wrong { path, what })
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let file: ConfigFile = toml::from_str(text).map_err(|error| without_excerpt(&error.to_string()))?;
        let wallets: Vec<(Address, PathBuf)> =
            file.wallets.into_iter().map(|wallet| (wallet.address, folder.join(wallet.keystore))).collect();
        let addresses: BTreeSet<Address> = wallets.iter().map(|(address, _)| *address).collect();
        if addresses.is_empty() || addresses.len() != wallets.len() {
            return Err("list at least one wallet, each only once".into());
        }
        let window = file.window_seconds.checked_mul(1_000_000).filter(|window| *window > 0);
        let window = window.ok_or("window_seconds must be positive and fit 64 bits in microseconds")?;
        let mut chains = BTreeMap::new();
        for chain in file.chains {
            let id = chain.id;
            if id == ChainId(0) {
                return Err("0 is not the id of a chain; the id is a whole number of at least 1".into());
            }
            if chains.insert(id, chain.rules()?).is_some() {
                return Err(format!("chain {id} is listed twice"));
            }
        }
        Ok(Self {
            socket: folder.join(file.socket),
            client_uid: file.client_uid,
            memory: folder.join(file.memory),
            wallets,
            policy: SigningPolicy { window, wallets: addresses, chains },
        })
    }
}

impl Chain {
    fn rules(self) -> Result<ChainRules, String> {
        let (mut native, mut tokens) = (None, BTreeMap::new());
        for AssetLimits { token, per_payout, per_window } in self.assets {
            let limits = SigningLimits { per_payout, per_window };
            let before = match token {
                Some(token) => tokens.insert(token, limits),
                None => native.replace(limits),
            };
            if before.is_some() {
                return Err(format!("an asset of chain {} is listed twice", self.id));
            }
        }
        Ok(ChainRules {
            manner: self.transactions,
            max_price: self.max_fee_per_gas.units(),
            max_priority: self.max_priority_fee_per_gas.units(),
            max_gas: self.max_gas,
            fees_per_window: self.fees_per_window,
            native,
            tokens,
        })
    }
}

/// The text of a new configuration, with low limits.
#[must_use]
pub fn template(wallet: Address, keystore: &str, chain: ChainId) -> String {
    format!(
        r#"# The signer's own rules. Its callers cannot change them.
# Amounts are texts in base units (wei); limits count over a rolling window, not per calendar day.

socket = "signer.sock"
memory = "memory.db"
window_seconds = 86400
# The only user allowed to connect: the user of the payouts role. By default the signer's own user.
# client_uid = 1001

[[wallets]]
address = "{wallet}"
keystore = "{keystore}"

[[chains]]
id = {chain}
transactions = "eip1559" # or "legacy"
max_fee_per_gas = "200000000000"
max_priority_fee_per_gas = "20000000000"
max_gas = 100000
fees_per_window = "1000000000000000000"

# The native coin.
[[chains.assets]]
per_payout = "1000000000000000000"
per_window = "10000000000000000000"

# A token is identified by its contract.
# [[chains.assets]]
# token = "0x..."
# per_payout = "1000000000"
# per_window = "10000000000"
"#
    )
}
