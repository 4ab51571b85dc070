//! What the owner sends to register something; each becomes a draft that the registry decides.

use bankroll_ledger::Name;
use bankroll_registry::{AssetDraft, ChainDraft, CustodyKeyDraft, TreasuryDraft, WalletDraft, WalletRole};
use serde::Deserialize;
use utoipa::ToSchema;

use super::sessions::address_of;
use crate::{ApiError, ErrorCode};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainBody {
    #[schema(example = "eip155:1")]
    pub name: String,
    /// For people.
    pub label: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssetBody {
    pub chain: String,
    /// The contract of a token; missing for the chain's coin.
    #[serde(default)]
    pub token: Option<String>,
    pub decimals: u8,
    pub symbol: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WalletBody {
    pub name: String,
    pub chain: String,
    pub address: String,
    /// `hot`, `deposit`, `warm` or `cold`.
    pub role: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CustodyKeyBody {
    pub id: String,
    /// The extended public key of an account, or
    #[serde(default)]
    pub xpub: Option<String>,
    /// the address of a single key.
    #[serde(default)]
    pub address: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TreasuryBody {
    pub chain: String,
    pub address: String,
    #[serde(default)]
    pub label: String,
}

impl ChainBody {
    pub(super) fn draft(self) -> Result<ChainDraft, ApiError> {
        Ok(ChainDraft { name: name("name", &self.name)?, label: self.label })
    }
}

impl AssetBody {
    pub(super) fn draft(self) -> Result<AssetDraft, ApiError> {
        let token = self.token.map(|token| address_of("token", &token)).transpose()?;
        Ok(AssetDraft { chain: name("chain", &self.chain)?, token, decimals: self.decimals, symbol: self.symbol })
    }
}

impl WalletBody {
    pub(super) fn draft(self) -> Result<WalletDraft, ApiError> {
        let role: WalletRole = self
            .role
            .parse()
            .map_err(|_| ApiError::with(ErrorCode::BodyInvalid, "role is hot, deposit, warm or cold"))?;
        let address = address_of("address", &self.address)?;
        Ok(WalletDraft { name: name("name", &self.name)?, chain: name("chain", &self.chain)?, address, role })
    }
}

impl CustodyKeyBody {
    pub(super) fn draft(self) -> Result<CustodyKeyDraft, ApiError> {
        let xpub = self.xpub.map(|xpub| xpub.parse()).transpose();
        let xpub = xpub.map_err(|_| ApiError::with(ErrorCode::BodyInvalid, "xpub is no extended public key"))?;
        let address = self.address.map(|address| address_of("address", &address)).transpose()?;
        Ok(CustodyKeyDraft { id: name("id", &self.id)?, xpub, address })
    }
}

impl TreasuryBody {
    pub(super) fn draft(self) -> Result<TreasuryDraft, ApiError> {
        let address = address_of("address", &self.address)?;
        Ok(TreasuryDraft { chain: name("chain", &self.chain)?, address, label: self.label })
    }
}

pub(super) fn name(field: &str, text: &str) -> Result<Name, ApiError> {
    text.parse().map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("{field}: {error}")))
}
