//! The test accounts of `bankroll chain` and of anvil. Everybody has their keys: on any other chain the first user
//! of such a key takes what was paid to its account.

use bankroll_chains_simulated::{B256, SimulatedKey};

/// Chains that are used for tests only: 31337 of this program, anvil and Hardhat; 1337 of Ganache and of geth's
/// development mode.
pub const TEST_CHAINS: [u64; 2] = [31_337, 1_337];

/// The accounts are numbered from 0.
pub const COUNT: u64 = 10;

/// anvil and Hardhat derive them from the mnemonic "test test test test test test test test test test test junk".
const ANVIL: [&str; COUNT as usize] = [
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
    "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
    "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
    "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
    "4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
    "dbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
    "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
];

/// The accounts of a simulated chain with this seed, then those of anvil, each with its number.
pub fn keys(seed: u64) -> impl Iterator<Item = (u64, SimulatedKey)> {
    let simulated = (0..COUNT).map(move |number| (number, SimulatedKey::derived(seed, number)));
    let anvil = (0..COUNT).zip(ANVIL).filter_map(|(number, key)| Some((number, parse(key)?)));
    simulated.chain(anvil)
}

/// A key as 64 hexadecimal digits, with or without `0x`.
pub fn parse(text: &str) -> Option<SimulatedKey> {
    let bytes: [u8; 32] = hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok()?.try_into().ok()?;
    SimulatedKey::from_bytes(B256::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_number() {
        let all: Vec<_> = keys(1).map(|(number, key)| (number, key.address().to_string())).collect();
        assert_eq!(all.len(), 20);
        assert_eq!(all[3], (3, SimulatedKey::derived(1, 3).address().to_string()));
        assert_eq!(all[10], (0, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".to_owned()));
        assert_eq!(all[19], (9, "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720".to_owned()));
    }

    #[test]
    fn a_key_is_read_with_or_without_its_prefix_and_nothing_else_is_one() {
        let key = SimulatedKey::derived(1, 0).to_bytes().to_string();
        assert!(parse(&key).is_some() && parse(&key[2..]).is_some());
        let zero = "0".repeat(64);
        for text in ["", "0x", "ab", &key[..65], &zero] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
