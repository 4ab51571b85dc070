//! What really happened, in plain maps: from the chain itself, which never lies to the simulator, and from the
//! journal, record by record. The final checks compare the books with it.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_simulated::{
    B256, SimulatedBlock, SimulatedChain, U256,
    contracts::{DOLLAR, transfer_call},
};
use bankroll_ledger::Seq;
use bankroll_orders::Address;

use super::people::{ALICE, BOB, CAROLS, CHAIN, HOT, People, SERVERS, TREASURY};

/// Blocks on a deposit, its own included, before it may be credited.
pub(super) const DEPOSIT_DEPTH: u64 = 3;
/// The same for a payout before it is settled. No planned reorganisation is as deep.
pub(super) const PAYOUT_DEPTH: u64 = 6;

/// The journal so far, and the greatest depth of each block.
#[derive(Default)]
pub(super) struct GroundTruth {
    /// For every block that was ever on the chain: its greatest number of confirmations, itself included.
    pub deepest: BTreeMap<B256, u64>,
    /// For each deposit: its credits in the journal, and those that were reversed.
    pub credits: BTreeMap<String, (BTreeSet<Seq>, BTreeSet<Seq>)>,
    /// For each settled intent: whether it was paid.
    pub settled: BTreeMap<String, bool>,
    /// The last record that was checked.
    pub seen: Seq,
}

/// A transaction of our own wallet on the chain.
pub(super) struct ObservedTransaction {
    pub hash: B256,
    pub block: B256,
    pub nonce: u64,
    pub to: Option<Address>,
    pub value: U256,
    pub succeeded: bool,
    pub fee: u128,
}

/// A payment to us on the chain.
pub(super) struct IncomingPayment {
    /// As the program names it.
    pub id: String,
    pub asset: u32,
    pub from: Address,
    pub to: Address,
    pub value: u128,
    pub confirmations: u64,
}

impl GroundTruth {
    /// Takes note of the chain's new state.
    pub fn watch(&mut self, chain: &SimulatedChain) {
        let head = chain.head().number();
        for block in blocks(chain) {
            let deep = head.saturating_sub(block.number()).saturating_add(1);
            let deepest = self.deepest.entry(block.hash).or_default();
            *deepest = deep.max(*deepest);
        }
    }
}

fn blocks(chain: &SimulatedChain) -> impl Iterator<Item = &SimulatedBlock> {
    (0..=chain.head().number()).filter_map(|number| chain.block(number))
}

/// The transactions of our wallet on the chain, in order.
pub(super) fn ours(chain: &SimulatedChain, people: &People) -> Vec<ObservedTransaction> {
    let of_block = |block: &SimulatedBlock| {
        let sent = block.transactions.iter().filter(|included| included.transaction.sender.0 == people.hot.0);
        let ours = sent.map(|included| ObservedTransaction {
            hash: included.transaction.hash,
            block: block.hash,
            nonce: included.transaction.nonce(),
            to: included.transaction.to().map(|to| Address(to.into_array())),
            value: included.transaction.value(),
            succeeded: included.succeeded(),
            fee: u128::from(included.gas_used).saturating_mul(included.gas_price),
        });
        ours.collect::<Vec<_>>()
    };
    blocks(chain).flat_map(of_block).collect()
}

/// The payments to us on the chain, without the token that keeps a part of them.
pub(super) fn paid_in(chain: &SimulatedChain, people: &People) -> Vec<IncomingPayment> {
    let head = chain.head().number();
    let of_block = |block| payments_of(block, head, people);
    blocks(chain).flat_map(of_block).collect()
}

/// The payments to us in one block.
pub(super) fn payments_of(block: &SimulatedBlock, head: u64, people: &People) -> Vec<IncomingPayment> {
    let confirmations = head.saturating_sub(block.number()).saturating_add(1);
    let mut found = Vec::new();
    for included in block.transactions.iter().filter(|included| included.succeeded()) {
        let hash = included.transaction.hash;
        let mut add = |kind: &str, position: usize, asset, from: [u8; 20], to: [u8; 20], value: U256| {
            let (from, to) = (Address(from), Address(to));
            let value = u128::try_from(value).unwrap_or(u128::MAX);
            if (to == people.hot || to == people.carols) && value > 0 {
                let id = format!("{CHAIN}:{hash:#x}:{kind}:{position}");
                found.push(IncomingPayment { id, asset, from, to, value, confirmations });
            }
        };
        let (own, inner): (Vec<_>, Vec<_>) = included.coin_moves().partition(|frame| frame.path.is_empty());
        for frame in own {
            add("native", 0, 1, frame.from.into_array(), frame.to.into_array(), frame.value);
        }
        for (position, frame) in inner.into_iter().enumerate() {
            add("internal", position, 1, frame.from.into_array(), frame.to.into_array(), frame.value);
        }
        // A call of `transfer(address,uint256)` of the correct token, as people make it here.
        let Some(root) = included.frames.first().filter(|root| root.to == DOLLAR) else { continue };
        let is_transfer = root.input.starts_with(&transfer_call([0; 20].into(), U256::ZERO)[..4]);
        if let (true, Some(to), Some(value)) = (is_transfer, root.input.get(16..36), root.input.get(36..68)) {
            let mut receiver = [0; 20];
            receiver.copy_from_slice(to);
            add("token", 0, 2, root.from.into_array(), receiver, U256::from_be_slice(value));
        }
    }
    found
}

/// Whether a block is the tip or one of its ancestors.
pub(super) fn leads_to(chain: &SimulatedChain, block: B256, mut tip: B256) -> bool {
    while tip != block {
        let Some(known) = chain.block_with(tip).or_else(|| chain.orphan(tip)) else { return false };
        if known.number() == 0 {
            return false;
        }
        tip = known.parent();
    }
    true
}

/// The expected shares of a payment by account: the sender decides, or the owner of the address.
pub(super) fn shares(people: &People, paid: &IncomingPayment) -> BTreeMap<String, u128> {
    let IncomingPayment { asset, from, to, value, .. } = *paid;
    let (server, player) = if from == people.address(TREASURY) {
        return BTreeMap::from([(format!("@house/house/{asset}"), value)]);
    } else if to == people.carols {
        ("lagoon", "carol")
    } else if from == people.address(ALICE) {
        ("arena", "alice")
    } else if from == people.address(BOB) {
        ("arena", "bob")
    } else {
        return BTreeMap::from([(format!("@house/suspense/{asset}"), value)]);
    };
    if asset != 1 {
        return BTreeMap::from([(format!("{server}/unallocated/{asset}/{player}"), value)]);
    }
    let (_, buy_in, developer_bps, world_bps) = *SERVERS.iter().find(|(name, ..)| *name == server).expect("a server");
    let (developer, world) = (buy_in * u128::from(developer_bps) / 10_000, buy_in * u128::from(world_bps) / 10_000);
    let unallocated = format!("{server}/unallocated/1/{player}");
    let Some(rest) = value.checked_sub(buy_in + developer + world) else {
        return BTreeMap::from([(unallocated, value)]);
    };
    let shares = [
        (format!("{server}/funds/1/{player}"), buy_in),
        (format!("{server}/developer/1"), developer),
        (format!("{server}/ecosystem/1"), world),
        (unallocated, rest),
    ];
    shares.into_iter().filter(|(_, amount)| *amount > 0).collect()
}

/// The account of the wallet that a payment went to.
pub(super) fn custody(people: &People, to: Address, asset: u32) -> String {
    let of_coin = if to == people.hot { HOT } else { CAROLS };
    of_coin.replace("/1/", &format!("/{asset}/"))
}
