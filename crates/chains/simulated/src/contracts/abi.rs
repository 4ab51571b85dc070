//! The ABI of the built-in contracts: words of 32 bytes after a selector of four.

use alloy_primitives::{Address, Bytes, U256, keccak256};

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
