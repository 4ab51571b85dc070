//! Faults in answers: a correct answer, made false in one way. Each fault defines which answers it fits.

use alloy_primitives::{B256, keccak256};
use serde_json::{Value, json};

use super::{View, params::Params, show};
use crate::{
    block::{BlockExtras, SimulatedBlock},
    chain::SimulatedChain,
    fault::NodeFault,
};

impl SimulatedChain {
    /// Applies at most one planned fault to the correct answer.
    pub(super) fn spoil(&mut self, node: usize, view: View, method: &str, params: &Params<'_>, truth: Value) -> Value {
        for fault in NodeFault::ALL {
            if !self.nodes.is_planned(node, *fault) {
                continue;
            }
            let mut answer = truth.clone();
            let fits = match method {
                "eth_getBlockByNumber" | "eth_getBlockByHash" => {
                    self.seen_by(node).spoil_block(*fault, view, &mut answer)
                }
                "eth_getBlockReceipts" => self.seen_by(node).spoil_receipts(*fault, view, params, &mut answer),
                "eth_getTransactionReceipt" => spoil_receipt(*fault, &mut answer),
                "eth_getLogs" if *fault == NodeFault::LogsOmitted => replace(&mut answer, json!([])),
                "eth_chainId" if *fault == NodeFault::OtherChain => {
                    replace(&mut answer, show::quantity(self.config.chain_id.wrapping_add(1)))
                }
                _ => None,
            };
            if fits.is_some() && answer != truth && self.nodes.take_fault(node, *fault) {
                return answer;
            }
        }
        truth
    }

    fn spoil_block(&self, fault: NodeFault, view: View, block: &mut Value) -> Option<()> {
        let number = u64::from_str_radix(block["number"].as_str()?.strip_prefix("0x")?, 16).ok()?;
        let whole = block["transactions"].get(0).is_none_or(Value::is_object);
        match fault {
            NodeFault::BlockDenied => replace(block, Value::Null),
            NodeFault::TransactionOmitted => block["transactions"].as_array_mut()?.pop().map(drop),
            NodeFault::TransactionsOmitted => replace(&mut block["transactions"], json!([])),
            NodeFault::TransactionsSwapped => swap_ends(&mut block["transactions"]),
            NodeFault::WrongBlockHash => another_hash(&mut block["hash"]),
            NodeFault::WrongParentHash => another_hash(&mut block["parentHash"]),
            NodeFault::WrongTime => replace(&mut block["timestamp"], show::quantity(1_u64)),
            NodeFault::WrongBloom => replace(&mut block["logsBloom"], json!(alloy_primitives::Bloom::ZERO)),
            NodeFault::WrongTransactionHash => another_hash(&mut last(&mut block["transactions"])?["hash"]),
            NodeFault::WrongValue => double(&mut last(&mut block["transactions"])?["value"]),
            NodeFault::WrongRecipient => {
                replace(last(&mut block["transactions"])?.get_mut("to")?, json!(alloy_primitives::Address::ZERO))
            }
            NodeFault::OtherBlock => {
                let other = if number < view.head { number.checked_add(1)? } else { number.checked_sub(1)? };
                replace(block, show::block(self.block(other)?, whole))
            }
            NodeFault::OtherGenesis if number == 0 => {
                let mut header = self.block(0)?.header.clone();
                header.mix_hash = keccak256(header.mix_hash);
                replace(block, show::block(&SimulatedBlock::seal(header, Vec::new(), BlockExtras::default()), whole))
            }
            _ => None,
        }
    }

    fn spoil_receipts(&self, fault: NodeFault, view: View, params: &Params<'_>, receipts: &mut Value) -> Option<()> {
        match fault {
            NodeFault::ReceiptOmitted => receipts.as_array_mut()?.pop().map(drop),
            NodeFault::ReceiptsOmitted => replace(receipts, json!([])),
            NodeFault::ReceiptsDenied => replace(receipts, Value::Null),
            NodeFault::ReceiptsSwapped => swap_ends(receipts),
            NodeFault::OtherReceipts => {
                let asked = self.shown(view, params.block(0).ok()?)?.number();
                let other = self.blocks.iter().rev().find(|other| {
                    other.number() != asked && other.number() <= view.head && !other.transactions.is_empty()
                });
                replace(receipts, show::receipts(other?))
            }
            _ => {
                // The last receipt that the fault fits.
                let list = receipts.as_array_mut()?;
                list.iter_mut().rev().find_map(|receipt| spoil_receipt(fault, receipt))
            }
        }
    }
}

fn spoil_receipt(fault: NodeFault, receipt: &mut Value) -> Option<()> {
    let log = |receipt: &mut Value| receipt["logs"].as_array().is_some_and(|logs| !logs.is_empty()).then_some(());
    match fault {
        NodeFault::ReceiptDenied => replace(receipt, Value::Null),
        NodeFault::WrongStatus => {
            let other = if receipt["status"] == "0x1" { "0x0" } else { "0x1" };
            replace(receipt.get_mut("status")?, other.into())
        }
        NodeFault::WrongReceiptBlock => another_hash(receipt.get_mut("blockHash")?),
        NodeFault::LogOmitted => {
            log(receipt)?;
            receipt["logs"].as_array_mut()?.pop();
            replace(&mut receipt["logsBloom"], json!(alloy_primitives::Bloom::ZERO))
        }
        NodeFault::WrongLogAmount => {
            log(receipt)?;
            let amount = B256::repeat_byte(7);
            replace(&mut last(&mut receipt["logs"])?["data"], json!(amount))
        }
        NodeFault::WrongLogContract => {
            log(receipt)?;
            let contract = alloy_primitives::Address::repeat_byte(7);
            replace(&mut last(&mut receipt["logs"])?["address"], json!(contract))
        }
        NodeFault::LogRemoved => {
            log(receipt)?;
            replace(&mut last(&mut receipt["logs"])?["removed"], true.into())
        }
        _ => None,
    }
}

fn replace(place: &mut Value, by: Value) -> Option<()> {
    *place = by;
    Some(())
}

fn last(list: &mut Value) -> Option<&mut Value> {
    list.as_array_mut()?.last_mut().filter(|last| last.is_object())
}

fn another_hash(hash: &mut Value) -> Option<()> {
    let other = keccak256(hash.as_str()?);
    replace(hash, json!(other))
}

fn double(quantity: &mut Value) -> Option<()> {
    let value = super::params::quantity(quantity.as_str()?)?;
    replace(quantity, show::quantity(value.saturating_add(value)))
}

fn swap_ends(list: &mut Value) -> Option<()> {
    let list = list.as_array_mut()?;
    let last = list.len().checked_sub(1)?;
    list.swap(0, last);
    Some(())
}
