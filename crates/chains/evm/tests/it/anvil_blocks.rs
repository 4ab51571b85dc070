//! Blocks that only another implementation makes: transactions of every type, and calls of real bytecode in both forms
//! of traces.

use alloy_consensus::{EthereumTxEnvelope, SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::{
    eip2718::Encodable2718,
    eip2930::{AccessList, AccessListItem},
    eip7702::Authorization,
};
use alloy_primitives::{Signature, TxKind};
use bankroll_chains_evm::{
    Address, B256, BlockTag, Bytes, Disagreement, InProcessRpc, InternalTransfer, ReadPlan, RpcNode, SendOutcome,
    Tracer, U256,
};
use k256::ecdsa::SigningKey;
use serde_json::json;

use crate::{anvil::Anvil, world::HOUSE};

type Envelope = EthereumTxEnvelope<TxEip4844>;

const FRIEND: Address = Address([0xbb; 20]);
const PRICE: u128 = 20_000_000_000;

fn at(byte: u8) -> Address {
    Address([byte; 20])
}

fn wire(address: Address) -> alloy_primitives::Address {
    address.0.into()
}

struct Player(SigningKey);

impl Player {
    /// A player with coins.
    fn new(anvil: &Anvil, number: u8) -> Self {
        let player = Self(SigningKey::from_slice(&[number; 32]).unwrap());
        anvil.ask("anvil_setBalance", json!([player.address(), "0x56bc75e2d63100000"]));
        player
    }

    fn address(&self) -> alloy_primitives::Address {
        alloy_primitives::Address::from_private_key(&self.0)
    }

    fn signature(&self, hash: B256) -> Signature {
        self.0.sign_prehash_recoverable(hash.as_slice()).unwrap().into()
    }

    fn sign<T: SignableTransaction<Signature>>(&self, transaction: T) -> Envelope
    where
        Envelope: From<alloy_consensus::Signed<T>>,
    {
        let signature = self.signature(transaction.signature_hash());
        transaction.into_signed(signature).into()
    }

    fn call(&self, nonce: u64, to: Address, value: u64, gas_limit: u64) -> Envelope {
        self.sign(TxEip1559 {
            chain_id: 1337,
            nonce,
            gas_limit,
            max_fee_per_gas: PRICE,
            max_priority_fee_per_gas: 1_000_000_000,
            to: TxKind::Call(wire(to)),
            value: U256::from(value),
            access_list: AccessList::default(),
            input: Bytes::new(),
        })
    }
}

fn send(node: &RpcNode, raw: impl Into<Bytes>) {
    assert_eq!(node.send(&raw.into()), SendOutcome::Accepted);
}

fn rlp(short: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    let head = match content.len() {
        0..56 => vec![short + content.len() as u8],
        _ => [vec![short + 55 + length.len() as u8], length].concat(),
    };
    [head, content.to_vec()].concat()
}

/// A blob transaction as it travels: with one blob of zeros, whose commitment and proofs are the point at infinity.
fn with_zero_blob(signed: &Envelope, cell_proofs: bool) -> Bytes {
    let infinity = [vec![0xc0], vec![0; 47]].concat();
    let list = |items: Vec<Vec<u8>>| rlp(0xc0, &items.concat());
    let blobs = list(vec![rlp(0x80, &vec![0; 131_072])]);
    let commitments = list(vec![rlp(0x80, &infinity)]);
    let proofs = list(vec![rlp(0x80, &infinity); if cell_proofs { 128 } else { 1 }]);
    let transaction = signed.encoded_2718()[1..].to_vec();
    let version = if cell_proofs { vec![vec![1]] } else { vec![] };
    let parts = [vec![transaction], version, vec![blobs, commitments, proofs]].concat();
    [vec![3], list(parts)].concat().into()
}

#[test]
fn a_block_with_every_type_of_transaction_is_read_and_verified() {
    let anvil = Anvil::start();
    let node = anvil.node();
    let players: Vec<Player> = (1..=6).map(|number| Player::new(&anvil, number)).collect();
    let (to, value, chain_id, gas_limit) = (TxKind::Call(wire(HOUSE)), U256::from(5), 1337, 100_000);
    let access_list = AccessList(vec![AccessListItem { address: wire(FRIEND), storage_keys: vec![B256::ZERO] }]);

    let legacy = TxLegacy { chain_id: Some(chain_id), gas_price: PRICE, gas_limit, to, value, ..Default::default() };
    let listed = TxEip2930 {
        chain_id,
        gas_price: PRICE,
        gas_limit,
        to,
        value,
        access_list: access_list.clone(),
        ..Default::default()
    };
    // The hash of the commitment to a blob of zeros, with its version.
    let blob: B256 = "0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014".parse().unwrap();
    let blobs = TxEip4844 {
        chain_id,
        gas_limit,
        max_fee_per_gas: PRICE,
        max_priority_fee_per_gas: 1,
        to: wire(HOUSE),
        value,
        blob_versioned_hashes: vec![blob],
        max_fee_per_blob_gas: PRICE,
        ..Default::default()
    };
    let delegation = Authorization { chain_id: U256::from(chain_id), address: wire(at(0x44)), nonce: 0 };
    let signature = players[5].signature(delegation.signature_hash());
    let delegating = TxEip7702 {
        chain_id,
        gas_limit,
        max_fee_per_gas: PRICE,
        max_priority_fee_per_gas: 1,
        to: wire(HOUSE),
        value,
        access_list,
        authorization_list: vec![delegation.into_signed(signature)],
        ..Default::default()
    };
    let signed = [
        players[0].sign(legacy),
        players[1].sign(listed),
        players[2].call(0, HOUSE, 5, gas_limit),
        players[3].sign(blobs),
        players[4].sign(delegating),
    ];
    for transaction in &signed {
        match transaction {
            EthereumTxEnvelope::Eip4844(_) => {
                // Before and after the change of proofs: one of the two forms is the chain's.
                let sent = [true, false].map(|cells| node.send(&with_zero_blob(transaction, cells)));
                assert!(sent.iter().any(|sent| !matches!(sent, SendOutcome::Refused(_))), "{sent:?}");
            }
            other => send(&node, other.encoded_2718()),
        }
    }
    anvil.mine();
    let block = node.block(BlockTag::Latest).unwrap().unwrap();
    assert_eq!(block.transactions.len(), 5);
    for (signed, player) in signed.iter().zip(&players) {
        let read = block.transaction(*signed.tx_hash()).unwrap();
        assert!(read.succeeded);
        assert_eq!(read.sender().unwrap().0, player.address().into_array());
        assert_eq!(read.native_transfer().unwrap(), (HOUSE, bankroll_chains_evm::Quantity::new(value)));
    }
    // What players paid is what the chain took, without the fee for the blob.
    let first = block.transaction(*signed[0].tx_hash()).unwrap();
    assert_eq!(first.fee().units(), U256::from(21_000) * U256::from(PRICE));
    assert_eq!(node.balance(HOUSE, BlockTag::Latest).unwrap().units(), U256::from(25));
    let plan = ReadPlan { from: 0, to: 9, connections: 2, batch: 3, transactions_max: 100, with_traces: true };
    let read = node.read_blocks(&plan).unwrap();
    assert_eq!((read.len(), &read[1].block), (2, &block));

    // anvil's root covers blobs as well: one changed byte of a blob is noticed.
    let (agent, url) = (ureq::Agent::config_builder().proxy(None).build().new_agent(), anvil.url());
    let liar = InProcessRpc::new(move |body| {
        let sent = agent.post(&url).header("content-type", "application/json").send(body);
        let text = sent.map_err(std::io::Error::other)?.body_mut().read_to_string().map_err(std::io::Error::other)?;
        Ok((200, text.replacen("\"blobs\":[\"0x00", "\"blobs\":[\"0x01", 1).into_bytes()))
    });
    let read = RpcNode::in_process(liar, node.identity()).block(BlockTag::Number(1));
    let expected = Disagreement::Root { what: "transactions", block: block.header.hash };
    assert!(read == Err(expected.into()));
}

/// CALL with a value and no input.
fn pay(to: Address, value: u8) -> String {
    format!("600060006000600060{value:02x}73{}5af150", &to.lower_hex()[2..])
}

/// The block's transfers in both forms of traces, which must be equal.
fn transfers(anvil: &Anvil) -> Vec<InternalTransfer> {
    let read = |tracer| {
        let node = anvil.node().with_tracer(tracer);
        let block = node.block(BlockTag::Latest).unwrap().unwrap();
        assert!(block.transactions.iter().all(|transaction| transaction.succeeded));
        node.internal_transfers(&block).unwrap()
    };
    let (flat, nested) = (read(Tracer::TraceBlock), read(Tracer::CallTracer));
    assert_eq!(flat, nested);
    flat
}

fn put_code(anvil: &Anvil, to: Address, code: &str) {
    anvil.ask("anvil_setCode", json!([to.lower_hex(), format!("0x{code}")]));
}

#[test]
fn both_tracers_give_the_same_transfers_in_the_order_of_execution() {
    let anvil = Anvil::start();
    let player = Player::new(&anvil, 1);
    // Twice to players, then to a contract that pays and reverts, a new contract, and one that destroys itself.
    let create = "600060006007f050".to_owned();
    let code = [pay(HOUSE, 11), pay(FRIEND, 22), pay(at(0x55), 33), create, pay(at(0x66), 9), pay(HOUSE, 1)];
    put_code(&anvil, at(0x44), &code.concat());
    put_code(&anvil, at(0x55), &format!("{}60006000fd", pay(HOUSE, 5)));
    put_code(&anvil, at(0x66), &format!("{}73{}ff", pay(FRIEND, 2), &HOUSE.lower_hex()[2..]));
    send(&anvil.node(), player.call(0, at(0x44), 100, 1_000_000).encoded_2718());
    anvil.mine();
    let transfers = transfers(&anvil);
    let shown: Vec<_> = transfers.iter().map(|t| (t.ordinal, t.from, t.value.to_string())).collect();
    let expected = [(0, 0x44, 11), (1, 0x44, 22), (2, 0x44, 7), (3, 0x44, 9), (4, 0x66, 2), (5, 0x66, 7), (6, 0x44, 1)];
    assert_eq!(shown, expected.map(|(ordinal, from, value)| (ordinal, at(from), value.to_string())));
    let created = transfers[2].to;
    let payees: Vec<Address> = transfers.iter().map(|transfer| transfer.to).collect();
    assert_eq!(payees, [HOUSE, FRIEND, created, at(0x66), FRIEND, HOUSE, HOUSE]);
    // The balances say the same.
    let node = anvil.node();
    let has = |account| node.balance(account, BlockTag::Latest).unwrap().to_string();
    assert_eq!([HOUSE, FRIEND, created, at(0x55), at(0x66)].map(has), ["19", "24", "7", "0", "0"]);
    assert_eq!(has(at(0x44)), "50");
}

#[test]
fn calls_nested_deeper_than_a_parser_follows_are_read() {
    let anvil = Anvil::start();
    let player = Player::new(&anvil, 1);
    // Pays itself, as deep as the gas allows.
    put_code(&anvil, at(0x77), &pay(at(0x77), 1));
    send(&anvil.node(), player.call(0, at(0x77), 10, 16_000_000).encoded_2718());
    anvil.mine();
    let transfers = transfers(&anvil);
    assert!(transfers.len() > 150, "{}", transfers.len());
    assert!(transfers.iter().enumerate().all(|(number, transfer)| transfer.ordinal as usize == number));
}
