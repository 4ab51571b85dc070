//! Assets: identity.

use crate::{Asset, Unit};

#[test]
fn an_asset_is_identified_by_chain_and_contract_not_by_symbol() {
    let asset = |chain: &str, unit: Unit, symbol: &str| Asset {
        chain: chain.parse().unwrap(),
        unit,
        decimals: 6,
        symbol: symbol.to_owned(),
    };
    let token = |address: &str| Unit::Token(address.parse().unwrap());
    let usdt = asset("eip155:1", token("0xdac1"), "USDT");
    assert!(usdt.is_same_coin(&asset("eip155:1", token("0xdac1"), "Tether")));
    assert!(!usdt.is_same_coin(&asset("eip155:1", token("0xbad1"), "USDT")));
    assert!(!usdt.is_same_coin(&asset("eip155:10", token("0xdac1"), "USDT")));
    assert!(!usdt.is_same_coin(&asset("eip155:1", Unit::Native, "USDT")));
}
