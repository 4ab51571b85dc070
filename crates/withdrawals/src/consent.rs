//! A player's own signature over a payout, as the intent's row keeps it for the signer.
//!
//! The message also names server, request id, account, destination, amount and fee cap. These are columns of the intent already;
//! only what the row would not have otherwise is kept here. It is stored, not judged: the API verifies it before, the
//! signer after.

use bankroll_ledger::ColumnValue;
use bankroll_orders::Address;
use bankroll_store::columns::{int, text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutConsent {
    /// The wallet that signed.
    pub wallet: Address,
    /// The deployment that the message is meant for.
    pub audience: String,
    /// The asset, as the message names it.
    pub asset: String,
    /// When the message expires, in seconds.
    pub expires: u64,
    pub signature: Vec<u8>,
}

/// The columns of a consent. An intent without one has nulls that a fact has set, so that an audit notices a consent
/// that was added later.
pub(crate) fn consent_columns(consent: Option<&PayoutConsent>) -> [(&'static str, ColumnValue); 5] {
    let value = |value: fn(&PayoutConsent) -> ColumnValue| consent.map_or(ColumnValue::Null, value);
    [
        ("consent_wallet", value(|consent| text(&consent.wallet.to_string()))),
        ("consent_audience", value(|consent| text(&consent.audience))),
        ("consent_asset", value(|consent| text(&consent.asset))),
        ("consent_expires", value(|consent| int(consent.expires))),
        ("consent_signature", value(|consent| ColumnValue::Bytes(consent.signature.clone()))),
    ]
}
