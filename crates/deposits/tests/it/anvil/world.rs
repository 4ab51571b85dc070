//! Our books on anvil's chain.

use std::ops::{Deref, DerefMut};

use alloy_primitives::keccak256;
use bankroll_chains_evm::{Address, B256, BlockTag, Bytes, RpcNode, Tracer, U256};
use bankroll_chains_simulated::Payment;
use bankroll_deposits::{ScanNotice, ScanOutcome};
use bankroll_ledger::{Asset, AssetId, Unit};
use bankroll_store::AccountFilter;
use serde_json::{Value, json};

use super::{
    chain::Anvil,
    contracts::{self, Word},
};
use crate::world::{ALICE, BOB, STRANGER, World, address, hot, key, name};

/// Both forms of traces: what is booked must not depend on them.
pub const TRACERS: [Tracer; 2] = [Tracer::TraceBlock, Tracer::CallTracer];
/// Who creates contracts and makes tokens.
pub const MAKER: u64 = 50;

pub struct AnvilWorld {
    world: World,
    pub anvil: Anvil,
}

impl Deref for AnvilWorld {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl DerefMut for AnvilWorld {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl AnvilWorld {
    /// Everybody has coins but our wallet.
    pub fn new() -> Self {
        let anvil = Anvil::start();
        let node = anvil.node();
        Self::on(anvil, node)
    }

    /// The same, read with one of the forms of traces.
    pub fn tracing(tracer: Tracer) -> Self {
        let anvil = Anvil::start();
        let node = anvil.node().with_tracer(tracer);
        Self::on(anvil, node)
    }

    /// The same, with another way to the node.
    pub fn on(anvil: Anvil, node: RpcNode) -> Self {
        let mut world = World::on_node(node);
        world.config.traces = true;
        let world = Self { world, anvil };
        for person in [ALICE, BOB, STRANGER, MAKER] {
            world.give(address(person));
        }
        world
    }

    /// Coins from nowhere.
    pub fn give(&self, to: Address) {
        self.anvil.ask("anvil_setBalance", json!([to.lower_hex(), "0x56bc75e2d63100000"]));
    }

    pub fn put_code(&self, at: Address, code: &Bytes) {
        self.anvil.ask("anvil_setCode", json!([at.lower_hex(), code]));
    }

    /// A transaction of a person's, with the number that is next.
    pub fn sign(&self, person: u64, to: Option<Address>, wei: u64, input: Bytes) -> Bytes {
        let nonce = self.anvil.ask("eth_getTransactionCount", json!([address(person).lower_hex(), "pending"]));
        let nonce = quantity(&nonce).to::<u64>();
        let payment = Payment::new(1337, nonce, to.unwrap_or(Address::ZERO).0.into(), U256::from(wei));
        let gas = if input.is_empty() && to.is_some_and(|to| !self.has_code(to)) { 21_000 } else { 6_000_000 };
        key(person).sign(&Payment { to: to.map(|to| to.0.into()), input, gas, ..payment })
    }

    /// Waits for the next block.
    pub fn send(&self, raw: &Bytes) -> B256 {
        self.anvil.ask("eth_sendRawTransaction", json!([raw]));
        keccak256(raw)
    }

    pub fn pay(&self, person: u64, wei: u64) -> B256 {
        self.pay_to(person, hot(), wei)
    }

    pub fn pay_to(&self, person: u64, to: Address, wei: u64) -> B256 {
        self.send(&self.sign(person, Some(to), wei, Bytes::new()))
    }

    pub fn call(&self, person: u64, contract: Address, wei: u64, function: &str, arguments: &[Word]) -> B256 {
        self.send(&self.sign(person, Some(contract), wei, contracts::call(function, arguments)))
    }

    /// A new contract, in a block of its own.
    pub fn create(&self, contract: &str) -> Address {
        self.create_with(contract, 0, &[])
    }

    pub fn create_with(&self, contract: &str, wei: u64, arguments: &[Word]) -> Address {
        let sent = self.send(&self.sign(MAKER, None, wei, contracts::creation(contract, arguments)));
        self.mine(1);
        let receipt = self.receipt(sent);
        assert_eq!(receipt["status"], "0x1", "{contract}");
        receipt["contractAddress"].as_str().unwrap().parse().unwrap()
    }

    /// A new token on our list. The first one is asset 2.
    pub fn list(&mut self, contract: &str) -> Address {
        let token = self.create(contract);
        self.list_at(token);
        token
    }

    pub fn list_at(&mut self, token: Address) -> AssetId {
        let unit = Unit::Token(name(&token.lower_hex()));
        let asset = Asset { chain: name("eip155:1337"), unit, decimals: 6, symbol: "TOKEN".into() };
        let asset = self.ledger().list_asset(asset).unwrap();
        self.config.watch.tokens.insert(token, asset);
        asset
    }

    /// Gives a person tokens.
    pub fn mint(&self, token: Address, to: Address, value: u64) -> B256 {
        self.call(MAKER, token, 0, "mint(address,uint256)", &[to.into(), value.into()])
    }

    pub fn send_tokens(&self, person: u64, token: Address, value: u64) -> B256 {
        self.call(person, token, 0, "transfer(address,uint256)", &[hot().into(), value.into()])
    }

    /// From here on what this address pays is a player's.
    pub fn is_of(&mut self, sender: Address, player: &str) {
        self.config.watch.proven.insert(sender, name(player));
    }

    pub fn mine(&self, blocks: u64) {
        for _ in 0..blocks {
            self.anvil.ask("evm_mine", json!([]));
        }
    }

    pub fn height(&self) -> u64 {
        quantity(&self.anvil.ask("eth_blockNumber", json!([]))).to()
    }

    /// The last blocks are replaced by as many, with these transactions, each in the block of its number, from 0.
    pub fn reorg(&self, depth: u64, transactions: &[(&Bytes, u64)]) {
        self.anvil.ask("anvil_reorg", json!([depth, transactions]));
    }

    /// Mines, scans all and books all. What should be known to a person is returned.
    pub fn settle(&mut self, blocks: u64) -> Vec<ScanNotice> {
        self.mine(blocks);
        let mut noticed = Vec::new();
        while let ScanOutcome::Moved { notices, .. } = self.scan().unwrap() {
            noticed.extend(notices);
        }
        while !self.book().is_idle() {}
        noticed
    }

    /// What an address has on the chain.
    pub fn coins(&self, of: Address) -> U256 {
        self.anvil.node().balance(of, BlockTag::Latest).unwrap().units()
    }

    pub fn tokens(&self, token: Address, of: Address) -> U256 {
        self.anvil.node().token_balance(token, of, BlockTag::Latest).unwrap().units()
    }

    pub fn receipt(&self, transaction: B256) -> Value {
        self.anvil.ask("eth_getTransactionReceipt", json!([transaction]))
    }

    pub fn has_succeeded(&self, transaction: B256) -> bool {
        self.receipt(transaction)["status"] == "0x1"
    }

    /// Every account that has something is one of these, and has this.
    #[track_caller]
    pub fn expect_books(&self, expected: &[(&str, u128)]) {
        self.expect_accounts(expected);
        self.audit();
    }

    /// The same with other wallets than the first one.
    #[track_caller]
    pub fn expect_accounts(&self, expected: &[(&str, u128)]) {
        let filter = AccountFilter { non_zero: true, ..AccountFilter::default() };
        let accounts = self.reader().accounts(&filter, 1_000).unwrap();
        let found: Vec<_> =
            accounts.iter().map(|account| (account.name.to_string(), account.balance.units())).collect();
        let mut found: Vec<_> = found.iter().map(|(name, units)| (name.as_str(), *units)).collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// What the books say our wallet holds of the coin and of every listed token is what it holds.
    #[track_caller]
    pub fn expect_solvent(&self) {
        assert_eq!(self.balances(["@house/custody/1/hot"]).map(U256::from), [self.coins(hot())], "coins");
        for (token, asset) in &self.config.watch.tokens {
            let custody = format!("@house/custody/{}/hot", asset.0);
            assert_eq!(self.balances([&custody]).map(U256::from), [self.tokens(*token, hot())], "{custody}");
        }
    }

    /// Kind, position, amount and where it is booked, of every deposit that was seen.
    #[track_caller]
    pub fn expect_deposits(&self, expected: &[(&str, &str)]) {
        let sql = "SELECT kind || ' ' || position || ' ' || amount_raw AS a, ledger_state AS b FROM deposits
                   ORDER BY block_number, tx_index, kind, position";
        let found = self.pairs(sql);
        let found: Vec<_> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, expected);
    }

    fn has_code(&self, at: Address) -> bool {
        self.anvil.ask("eth_getCode", json!([at.lower_hex(), "latest"])) != "0x"
    }
}

pub fn quantity(hex: &Value) -> U256 {
    hex.as_str().unwrap().parse().unwrap()
}
