//! Events on the chain: payments, blocks, reorganisations, fees, lying traces.

use bankroll_chains_evm::BlockTag;
use bankroll_chains_simulated::{
    Bytes, Fate, NodeFault, Payment, Reorg, U256,
    contracts::{DOLLAR, REFUSING, SPLITTER, mint_call, split_call, transfer_call},
};
use bankroll_orders::Address;
use fastrand::Rng;

use super::{
    ground_truth::{DEPOSIT_DEPTH, PAYOUT_DEPTH},
    people::{ALICE, BOB, CAROL, CHAIN_ID, OTHERS, SERVERS, STRANGER, TREASURY},
    promises::{BrokenPromise, SafetyPromise},
    world::{NODES, SECOND, World},
};

const COIN: u128 = 1_000_000_000_000_000_000;
const GWEI: u64 = 1_000_000_000;

/// Sender, receiver and value of each payment by a transaction itself, by the transaction's hash.
pub(super) type Payments = std::collections::BTreeMap<String, (Address, Address, u128)>;

impl World {
    /// The house gets its capital and every player some money, before any fault.
    pub fn fund_house(&mut self) {
        self.send(TREASURY, Payment::new(CHAIN_ID, 0, self.people.hot.0.into(), U256::from(5 * COIN)));
        for (player, to) in [(ALICE, self.people.hot), (BOB, self.people.hot), (CAROL, self.people.carols)] {
            let payment = |nonce| Payment::new(CHAIN_ID, nonce, to.0.into(), U256::from(COIN / 50));
            (0..3).for_each(|nonce| self.send(player, payment(nonce)));
        }
        self.mint_tokens();
        (0..PAYOUT_DEPTH).for_each(|_| self.mine_one());
        for _ in 0..2 {
            let _ = self.scan_with(0, self.now);
        }
        self.credit_all().expect("every payment is credited");
        self.note("the house has 5 coins, each player three buy-ins");
    }

    /// Signs a person's next transaction, or another version of one, and sends it.
    pub fn send(&mut self, person: u64, payment: Payment) {
        let (from, raw) = (self.people.address(person), self.people.key(person).sign(&payment));
        let hash = format!("{:#x}", bankroll_chains_evm::transaction_hash(&raw));
        if let (Some(to), Ok(value)) = (payment.to, u128::try_from(payment.value)) {
            self.payments.insert(hash, (from, Address(to.into_array()), value));
        }
        let _ = self.chain().send(&raw);
        let signed = self.wallets.entry(person).or_default();
        let place = usize::try_from(payment.nonce).unwrap_or(usize::MAX);
        match signed.get_mut(place) {
            Some(versions) => versions.push(raw),
            None => signed.push(vec![raw]),
        }
    }

    pub fn next_nonce(&self, person: u64) -> u64 {
        self.wallets.get(&person).map_or(0, |signed| signed.len() as u64)
    }

    pub fn pay(&mut self, random: &mut Rng) {
        let person = *random.choice(&[ALICE, ALICE, BOB, BOB, CAROL, CAROL, TREASURY, STRANGER]).expect("a person");
        let to_carol = person == CAROL || random.u8(..12) == 0;
        let (_, buy_in, developer, world) = SERVERS[usize::from(to_carol)];
        let required = buy_in + buy_in * u128::from(developer) / 10_000 + buy_in * u128::from(world) / 10_000;
        let value = match random.u8(..8) {
            0..4 => required,
            4 => required - 1,
            5 => required + random.u128(1..required),
            6 => random.u128(1..required),
            _ => u128::from(random.bool()),
        };
        let to = if to_carol { self.people.carols } else { self.people.hot };
        let nonce = self.next_nonce(person);
        self.send(person, Payment::new(CHAIN_ID, nonce, to.0.into(), U256::from(value)));
        self.note(format_args!("person {person} pays {value} to {}", if to_carol { "Carol's address" } else { "us" }));
    }

    /// Replaces a payment that is in no block by one that pays more for gas, and to another receiver.
    pub fn double_spend(&mut self, random: &mut Rng) {
        let person = *random.choice(&[ALICE, BOB, CAROL, STRANGER]).expect("a person");
        let from = self.people.address(person);
        let (next, signed) = (self.chain().nonce(from.0.into()), self.next_nonce(person));
        if next >= signed {
            return self.note(format_args!("person {person} has nothing to take back"));
        }
        let nonce = random.u64(next..signed);
        let (to, value) =
            if random.bool() { (from, U256::ZERO) } else { (self.people.hot, U256::from(random.u64(1..1_000))) };
        let (max, tip) = (random.u128(150..400), random.u128(2..50));
        let gwei = u128::from(GWEI);
        self.send(person, Payment::new(CHAIN_ID, nonce, to.0.into(), value).paying(max * gwei, tip * gwei));
        self.counts.count("player: double spend");
        self.note(format_args!("person {person} replaces payment {nonce}"));
    }

    /// Sends again what wallets have signed and the chain does not have, in some version.
    pub fn resend(&mut self, random: &mut Rng) {
        let mut sent = 0;
        for (person, signed) in &self.wallets {
            let mut chain = self.chain();
            let next = usize::try_from(chain.nonce(self.people.address(*person).0.into())).unwrap_or(usize::MAX);
            for versions in signed.iter().skip(next) {
                let raw: &Bytes = random.choice(versions).expect("a version");
                sent += usize::from(chain.send(raw).is_ok());
            }
        }
        self.note(format_args!("wallets send {sent} transactions again"));
    }

    pub fn chatter(&mut self, random: &mut Rng) {
        if random.u8(..3) == 0 {
            return self.pay_oddly(random);
        }
        let nonce = self.next_nonce(OTHERS);
        let plain = |to, value: u64| Payment::new(CHAIN_ID, nonce, to, U256::from(value));
        let (first, second) = ([0x60; 20].into(), [0x61; 20].into());
        let payment = match random.u8(..5) {
            0 => plain(DOLLAR, 0).calling(mint_call(self.people.address(OTHERS).0.into(), U256::from(1_000_u64))),
            1 | 2 => plain(DOLLAR, 0).calling(transfer_call(first, U256::from(random.u64(..20)))),
            3 => plain(SPLITTER, 1_001).calling(split_call(&[first, second])),
            _ => plain(REFUSING, 1).calling(Bytes::new()),
        };
        self.send(OTHERS, payment);
        self.note("others use the chain");
    }

    pub fn mine(&mut self, random: &mut Rng) {
        let count = random.u64(1..6);
        for _ in 0..count {
            self.advance(random.u64(1..15) * SECOND);
            self.mine_one();
        }
        let head = self.chain().head().number();
        self.note(format_args!("{count} blocks, up to {head}"));
    }

    pub fn mine_one(&mut self) {
        let time = self.now / SECOND;
        let chain = self.chain.clone();
        let mut chain = chain.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        chain.mine(time);
        self.truth.watch(&chain);
    }

    pub fn reorg(&mut self, random: &mut Rng) {
        let depths: &[u64] = if self.stalled.is_some() { &[3, 4, 5] } else { &[1, 1, 2, 2, 3, 3, 4, 5] };
        let depth = *random.choice(depths).expect("a depth");
        let fate = *random.choice(&[Fate::Kept, Fate::Dropped, Fate::Returned, Fate::Reordered]).expect("a fate");
        let reorg = Reorg { depth, length: depth + random.u64(..2), fate };
        let chain = self.chain.clone();
        let mut chain = chain.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if chain.head().number() < depth + PAYOUT_DEPTH {
            return self.note("the chain is too short to be reorganised");
        }
        self.left_branches.push(chain.head().hash);
        let fork = chain.reorg(reorg);
        self.truth.watch(&chain);
        self.counts.count("chain: reorganised");
        if depth >= DEPOSIT_DEPTH {
            self.counts.count("chain: reorganised below final deposits");
        }
        if fate == Fate::Dropped {
            self.counts.count("chain: transactions dropped");
        }
        self.note(format_args!("reorganised behind {fork}: {} for {depth}, transactions {fate:?}", reorg.length));
    }

    /// Adopts an abandoned branch again, if that replaces no more than a reorganisation would, and is not shorter.
    pub fn adopt(&mut self, random: &mut Rng) {
        let chain = self.chain.clone();
        let mut chain = chain.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let head = chain.head().number();
        let fits = |tip| {
            let (mut at, mut length) = (tip, 0_u64);
            while chain.block_with(at).is_none() {
                (at, length) = (chain.orphan(at)?.parent(), length + 1);
            }
            let replaced = head - chain.block_with(at)?.number();
            (replaced < PAYOUT_DEPTH && length >= replaced && length > 0).then_some(tip)
        };
        let fitting: Vec<_> = self.left_branches.iter().copied().filter_map(fits).collect();
        let Some(tip) = random.choice(&fitting) else { return self.note("no old branch to follow again") };
        self.left_branches.push(chain.head().hash);
        chain.adopt(*tip).expect("a branch that was found");
        self.truth.watch(&chain);
        self.counts.count("chain: old branch adopted");
        self.note(format_args!("an old branch is followed again, up to {}", chain.head().number()));
    }

    pub fn base_fee(&mut self, random: &mut Rng) {
        let fee = random.u64(1..120);
        self.chain().set_base_fee(fee * GWEI);
        self.counts.count("chain: fees jump");
        self.note(format_args!("the base fee is {fee} gwei"));
    }

    /// An observer reads what contracts moved in a recent block: the truth, or an error.
    pub fn observe(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        match random.u8(..4) {
            0 => return self.lie(random),
            1 => return self.edit_row(random),
            _ => {}
        }
        let number = random.usize(..NODES);
        // Left over if the node is down: then the scanner meets it.
        let lie = *random.choice(&[NodeFault::TraceOmitted, NodeFault::TraceFailed]).expect("a fault");
        if random.u8(..3) == 0 {
            self.chain().inject(number, lie, 1);
        }
        let at = {
            let chain = self.chain();
            let blocks = (0..chain.head().number()).rev().filter_map(|number| chain.block(number));
            blocks.take(10).find(|block| !block.transactions.is_empty()).map_or(0, |block| block.number())
        };
        let node = &self.scanner_node(number).node;
        let seen = node.block(BlockTag::Number(at));
        let Ok(Some(block)) = seen else { return self.note_ok("an observer sees no block that can be believed") };
        let Ok(moved) = node.internal_transfers(&block) else {
            return self.note_ok("an observer sees no traces that can be believed");
        };
        let chain = self.chain();
        let known = chain.block_with(block.header.hash).or_else(|| chain.orphan(block.header.hash));
        let real = known.map_or(0, |block| {
            let counts = block.transactions.iter().filter(|included| included.succeeded());
            counts.flat_map(|included| included.coin_moves()).filter(|frame| !frame.path.is_empty()).count()
        });
        drop(chain);
        if moved.len() != real {
            return Err(SafetyPromise::NodeBelieved
                .broken(format!("{} transfers inside transactions, not {real}", moved.len())));
        }
        self.note_ok(format_args!("an observer sees {real} transfers inside transactions"))
    }
}
