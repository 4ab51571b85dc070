//! The name of a wallet in the books, from the text that people paste.

use bankroll_ledger::{Name, NameError};
use bankroll_orders::Address;

/// Why a text does not name a wallet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletNameError {
    #[error("{given} is not an address: its capital letters do not match its checksum, so a digit is wrong")]
    Checksum { given: String },
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The name of a wallet in the books, from the text that people paste: an address in lower or upper case, or with its
/// checksum, which must match; or any other name, in any case. The books know one spelling, the lower case.
///
/// # Errors
/// If a digit of an address is wrong, or the text is not a name.
pub fn wallet_name(text: &str) -> Result<Name, WalletNameError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_address = |digits: &&str| digits.len() == 40 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match digits.filter(is_address).map(|digits| format!("0x{digits}").parse::<Address>()) {
        Some(Ok(address)) => Ok(address.lower_hex().parse()?),
        Some(Err(_)) => Err(WalletNameError::Checksum { given: text.to_owned() }),
        None => Ok(text.to_lowercase().parse()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_is_pasted_in_every_spelling_and_has_one_name() {
        let name = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
        let check = |text: &str| assert_eq!(wallet_name(text).unwrap().as_str(), name, "{text}");
        check("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
        check("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED");
        check("0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
        check(name);
        assert_eq!(wallet_name("Ann").unwrap().as_str(), "ann", "a name that is no address");
        assert_eq!(
            wallet_name("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee").unwrap_err().to_string(),
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee is not an address: its capital letters do not match its checksum, \
             so a digit is wrong",
        );
        assert!(wallet_name("two words").is_err());
    }
}
