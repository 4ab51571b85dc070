//! Event logs, and the token transfers in them.
//!
//! Guarantees: a [`TokenTransfer`] has exactly the form of ERC-20. Other forms of the same event (as in ERC-721) are
//! reported separately, because an operator must see a deposit that the program cannot read.

use alloy_primitives::{B256, Bytes, U256, b256};
use bankroll_orders::Address;

use crate::quantity::Quantity;

/// The topic of `Transfer(address,address,uint256)`.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLog {
    /// Its index among the logs of its transaction. Unlike the index in the block, it stays the same when the
    /// transaction is included in another block.
    pub ordinal: usize,
    pub contract: Address,
    /// The topic of the event first.
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// A token transfer as claimed by the contract. Contracts can claim anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenTransfer {
    pub ordinal: usize,
    pub contract: Address,
    /// Zero if the tokens are minted.
    pub from: Address,
    /// Zero if they are burnt.
    pub to: Address,
    pub value: Quantity,
}

/// A log with the topic of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferLog {
    Standard(TokenTransfer),
    Odd { ordinal: usize, contract: Address },
}

impl EventLog {
    /// The transfer in this log, if it has the topic of one.
    pub fn transfer(&self) -> Option<TransferLog> {
        let (name, topics) = self.topics.split_first()?;
        if *name != TRANSFER {
            return None;
        }
        let &Self { ordinal, contract, .. } = self;
        let standard = match topics {
            [from, to] => address(*from).zip(address(*to)).zip(<[u8; 32]>::try_from(self.data.as_ref()).ok()),
            _ => None,
        };
        Some(standard.map_or(TransferLog::Odd { ordinal, contract }, |((from, to), value)| {
            let value = Quantity::new(U256::from_be_bytes(value));
            TransferLog::Standard(TokenTransfer { ordinal, contract, from, to, value })
        }))
    }
}

/// A topic that is an address, with zeros in the upper bytes.
fn address(topic: B256) -> Option<Address> {
    let (zeros, bytes) = topic.split_first_chunk::<12>()?;
    (*zeros == [0; 12]).then_some(Address(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(topics: Vec<B256>, data: Vec<u8>) -> EventLog {
        EventLog { ordinal: 3, contract: Address([0xcc; 20]), topics, data: data.into() }
    }

    fn word(address: u8) -> B256 {
        B256::left_padding_from(&[address; 20])
    }

    #[test]
    fn only_the_form_of_erc20_is_a_transfer() {
        let (from, to) = (word(1), word(2));
        let amount = U256::MAX.to_be_bytes::<32>().to_vec();
        let odd = Some(TransferLog::Odd { ordinal: 3, contract: Address([0xcc; 20]) });
        let transfer = TransferLog::Standard(TokenTransfer {
            ordinal: 3,
            contract: Address([0xcc; 20]),
            from: Address([1; 20]),
            to: Address([2; 20]),
            value: Quantity::new(U256::MAX),
        });
        assert_eq!(log(vec![TRANSFER, from, to], amount.clone()).transfer(), Some(transfer));
        // ERC-721 has the token id as a topic. Some early tokens have everything in the data.
        assert_eq!(log(vec![TRANSFER, from, to, from], vec![]).transfer(), odd);
        assert_eq!(log(vec![TRANSFER], [amount.clone(), amount.clone(), amount.clone()].concat()).transfer(), odd);
        assert_eq!(log(vec![TRANSFER, from, B256::repeat_byte(9)], amount.clone()).transfer(), odd);
        assert_eq!(log(vec![from, from, to], amount).transfer(), None);
        assert_eq!(log(vec![], vec![]).transfer(), None);
    }
}
