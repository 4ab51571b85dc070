//! Asks contract wallets whether a signature is theirs.
//!
//! Anybody can cause such a call, without an account: it is bounded in number and time, so that it takes neither the
//! threads that answer others nor the quota at the chain's nodes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_chains_evm::{BlockTag, Call, Quantity, RpcError, RpcLimits, RpcNode, Unavailable};
use bankroll_ledger::Name;
use bankroll_orders::Address;
use bankroll_registry::ContractCheck;

use crate::flows::{FlowSetup, RpcEndpoint};

/// At the same time; another one is refused at once.
const CHECKS_MAX: usize = 4;
/// For a request to a node. After this long no other node is asked.
const WITHIN: Duration = Duration::from_secs(3);
/// The answer is one word; with an error's text around it.
const ANSWER_MAX: u64 = 64 << 10;

/// The nodes of one chain, for questions of strangers.
pub(super) struct ContractChecks {
    chain: Name,
    nodes: Vec<RpcNode>,
    running: AtomicUsize,
}

impl ContractChecks {
    pub fn new(setup: &FlowSetup) -> anyhow::Result<Self> {
        let limits = RpcLimits { total: WITHIN, connect: WITHIN, answer_bytes: ANSWER_MAX };
        let nodes = match &setup.endpoint {
            RpcEndpoint::Here(rpc) => vec![RpcNode::in_process(rpc.clone(), setup.identity)],
            RpcEndpoint::Http(rpc) => {
                let node = |url: String| RpcNode::http(&url, setup.identity, limits);
                rpc.urls().into_iter().map(node).collect::<Result<_, _>>().with_context(|| setup.key("rpc"))?
            }
        };
        Ok(Self { chain: setup.chain().clone(), nodes, running: AtomicUsize::new(0) })
    }

    /// The contract's answer, empty if it reverts; `None` if no node can say now, or too many are asked. Blocks.
    pub fn ask(&self, check: &ContractCheck) -> Option<Vec<u8>> {
        let is_ours = check.chain == self.chain;
        let input = check.call_data().into();
        let call = Call { from: Address::ZERO, to: check.address(), value: Quantity::default(), input };
        is_ours.then(|| self.call(&call)).flatten()
    }

    fn call(&self, call: &Call) -> Option<Vec<u8>> {
        let _slot = Slot::take(&self.running)?;
        let deadline = Instant::now() + WITHIN;
        let nodes = self.nodes.iter().take_while(|_| Instant::now() < deadline);
        nodes
            .map(|node| node.call(call, BlockTag::Latest))
            .find_map(|answer| verdict(answer.map(|answer| answer.to_vec())))
    }
}

/// What a node's answer says; `None` if another node must be asked.
fn verdict(answer: Result<Vec<u8>, RpcError>) -> Option<Vec<u8>> {
    match answer {
        Ok(answer) => Some(answer),
        Err(error) => is_revert(&error).then(Vec::new),
    }
}

/// One of the calls at the same time, given back when dropped.
struct Slot<'a>(&'a AtomicUsize);

impl<'a> Slot<'a> {
    fn take(running: &'a AtomicUsize) -> Option<Self> {
        let more = |count: usize| (count < CHECKS_MAX).then_some(count + 1);
        running.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok().map(|_| Self(running))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether the contract itself failed, which is its "no". Nodes say it with different codes.
fn is_revert(error: &RpcError) -> bool {
    let message = match error {
        RpcError::Refused(refusal) => &refusal.message,
        RpcError::Unavailable(Unavailable::Failed { message, .. }) => message,
        _ => return false,
    };
    let message = message.to_ascii_lowercase();
    ["revert", "invalid opcode", "out of gas", "invalid jump", "stack underflow"]
        .iter()
        .any(|why| message.contains(why))
}

#[cfg(test)]
mod tests {
    use bankroll_chains_evm::RpcRefusal;

    use super::*;

    #[test]
    fn a_revert_is_a_no_and_a_failure_of_the_node_is_none() {
        let refused = |code, message: &str| RpcError::from(RpcRefusal { code, message: message.into() });
        let failed = |message: &str| RpcError::from(Unavailable::Failed { code: -32603, message: message.into() });
        assert_eq!(verdict(Ok(vec![0x16, 0x26])), Some(vec![0x16, 0x26]));
        assert_eq!(verdict(Err(refused(3, "execution reverted: not the owner"))), Some(Vec::new()));
        assert_eq!(verdict(Err(failed("VM Exception: reverted with panic"))), Some(Vec::new()));
        assert_eq!(verdict(Err(refused(-32000, "header not found"))), None);
        assert_eq!(verdict(Err(failed("internal error"))), None);
        assert_eq!(verdict(Err(Unavailable::TimedOut.into())), None);
    }

    #[test]
    fn a_fifth_check_at_the_same_time_is_refused_at_once() {
        let running = AtomicUsize::new(0);
        let mut four: Vec<_> = (0..4).map(|_| Slot::take(&running).unwrap()).collect();
        assert!(Slot::take(&running).is_none(), "four are asked");
        drop(four.pop());
        assert!(Slot::take(&running).is_some(), "one has its answer");
    }
}
