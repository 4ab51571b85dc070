//! The ABI of the built-in contracts: words of 32 bytes after a selector of four.

use alloy_primitives::{Address, Bytes, U256, keccak256};

use super::TokenManner;

/// The first four bytes of a call of this function.
pub fn selector(signature: &str) -> [u8; 4] {
    let hash = keccak256(signature);
    [hash[0], hash[1], hash[2], hash[3]]
}

/// Call data of `transfer(to, amount)`.
pub fn transfer_call(to: Address, amount: U256) -> Bytes {
    call("transfer(address,uint256)", &[to.into_word().into(), amount])
}

/// Call data of `mint(to, amount)`, which everyone may call.
pub fn mint_call(to: Address, amount: U256) -> Bytes {
    call("mint(address,uint256)", &[to.into_word().into(), amount])
}

/// Call data of `approve(spender, amount)`.
pub fn approve_call(spender: Address, amount: U256) -> Bytes {
    call("approve(address,uint256)", &[spender.into_word().into(), amount])
}

/// Call data of `transferFrom(from, to, amount)`.
pub fn transfer_from_call(from: Address, to: Address, amount: U256) -> Bytes {
    call("transferFrom(address,address,uint256)", &[from.into_word().into(), to.into_word().into(), amount])
}

pub fn balance_call(holder: Address) -> Bytes {
    call("balanceOf(address)", &[holder.into_word().into()])
}

/// Whose balance an `eth_call` asks for, if it does.
pub fn holder_asked(call: &serde_json::Value) -> Option<Address> {
    let input: Bytes = call.get("input").or_else(|| call.get("data"))?.as_str()?.parse().ok()?;
    let (name, words) = words(&input)?;
    let [holder] = words[..] else { return None };
    address(holder).filter(|_| name == selector("balanceOf(address)"))
}

/// Call data for a rebasing token: every balance is its shares times so many millionths.
pub fn rebase_call(millionths: u64) -> Bytes {
    call("rebase(uint256)", &[U256::from(millionths)])
}

/// Call data for the managed token: all transfers revert, or no longer do.
pub fn pause_call(on: bool) -> Bytes {
    call("pause(bool)", &[U256::from(u8::from(on))])
}

/// Call data for the managed token: transfers from and to this address revert, or no longer do.
pub fn block_call(address: Address, on: bool) -> Bytes {
    call("block(address,bool)", &[address.into_word().into(), U256::from(u8::from(on))])
}

/// Call data for the managed token.
pub fn set_decimals_call(decimals: u8) -> Bytes {
    call("setDecimals(uint256)", &[U256::from(decimals)])
}

/// Call data for the managed token: it has another manner from this block on, as after a change of its code.
pub fn set_manner_call(manner: TokenManner, from_block: u64) -> Bytes {
    call("setManner(uint256,uint256)", &[U256::from(manner.number()), U256::from(from_block)])
}

/// Call data for the moody contract: whether it accepts coins.
pub fn switch_call(on: bool) -> Bytes {
    call("switch(bool)", &[U256::from(u8::from(on))])
}

/// Call data of the splitter: `split(payees)`.
pub fn split_call(payees: &[Address]) -> Bytes {
    let head = [U256::from(32), U256::from(payees.len())];
    let words: Vec<U256> = head.into_iter().chain(payees.iter().map(|payee| payee.into_word().into())).collect();
    call("split(address[])", &words)
}

fn call(signature: &str, words: &[U256]) -> Bytes {
    let words = words.iter().flat_map(|word| word.to_be_bytes::<32>());
    selector(signature).into_iter().chain(words).collect()
}

/// The words after the selector.
pub fn words(input: &[u8]) -> Option<(&[u8], Vec<U256>)> {
    let (name, arguments) = input.split_at_checked(4)?;
    let (words, rest) = arguments.as_chunks::<32>();
    rest.is_empty().then(|| (name, words.iter().map(|word| U256::from_be_bytes(*word)).collect()))
}

/// A word that is an address, with zeros in the upper bytes.
pub fn address(word: U256) -> Option<Address> {
    let bytes = word.to_be_bytes::<32>();
    let (above, address) = bytes.split_at(12);
    above.iter().all(|byte| *byte == 0).then(|| Address::from_slice(address))
}

pub fn split_payees(input: &[u8]) -> Option<Vec<Address>> {
    let (name, words) = words(input)?;
    let (offset, rest) = words.split_first()?;
    let (count, payees) = rest.split_first()?;
    let fits = name == selector("split(address[])") && *offset == U256::from(32) && *count == U256::from(payees.len());
    payees.iter().map(|word| address(*word)).collect::<Option<Vec<_>>>().filter(|_| fits)
}

/// An answer of one word.
pub fn word(value: U256) -> Bytes {
    value.to_be_bytes::<32>().into()
}

/// An answer of one short text: where it begins, how long it is, and its bytes.
pub fn text(text: &str) -> Bytes {
    let mut padded = [0; 32];
    padded.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    let length = text.len().min(32);
    [U256::from(32).to_be_bytes::<32>(), U256::from(length).to_be_bytes::<32>(), padded].concat().into()
}
