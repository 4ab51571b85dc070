//! Transactions with blobs, and those that give wallets code. Class 13 of the attack list.

use alloy_consensus::{EthereumTxEnvelope, SignableTransaction, Signed, TxEip4844, TxEip7702};
use alloy_eips::{eip2718::Encodable2718, eip7702::Authorization};
use alloy_primitives::Signature;
use bankroll_chains_evm::{Address, B256, Bytes, U256};
use k256::ecdsa::SigningKey;

use super::world::AnvilWorld;
use crate::world::{ALICE, BOB, HOT, hot, key};

type Envelope = EthereumTxEnvelope<TxEip4844>;

const PRICE: u128 = 20_000_000_000;

fn signature(person: u64, hash: B256) -> Signature {
    let key = SigningKey::from_slice(key(person).to_bytes().as_slice()).unwrap();
    key.sign_prehash_recoverable(hash.as_slice()).unwrap().into()
}

fn signed<T: SignableTransaction<Signature>>(person: u64, transaction: T) -> Envelope
where
    Envelope: From<Signed<T>>,
{
    let signature = signature(person, transaction.signature_hash());
    transaction.into_signed(signature).into()
}

fn rlp(short: u8, content: &[u8]) -> Vec<u8> {
    let length: Vec<u8> = content.len().to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    let head = match u8::try_from(content.len()) {
        Ok(length @ 0..56) => vec![short + length],
        _ => [vec![short + 55 + u8::try_from(length.len()).unwrap()], length].concat(),
    };
    [head, content.to_vec()].concat()
}

/// A blob transaction as it travels: with one blob of zeros, whose commitment and 128 proofs are the point at infinity.
fn with_zero_blob(signed: &Envelope) -> Bytes {
    let infinity = rlp(0x80, &[vec![0xc0], vec![0; 47]].concat());
    let list = |items: &[Vec<u8>]| rlp(0xc0, &items.concat());
    let blobs = list(&[rlp(0x80, &vec![0; 131_072])]);
    let proofs = vec![infinity.clone(); 128];
    let transaction = signed.encoded_2718()[1..].to_vec();
    let parts = [transaction, vec![1], blobs, list(&[infinity]), list(&proofs)];
    [vec![3], list(&parts)].concat().into()
}

#[test]
fn a_payment_with_blobs_is_a_deposit_of_its_value() {
    let mut world = AnvilWorld::new();
    // The hash of the commitment to a blob of zeros, with its version.
    let blob: B256 = "0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014".parse().unwrap();
    let payment = TxEip4844 {
        chain_id: 1337,
        gas_limit: 100_000,
        max_fee_per_gas: PRICE,
        max_priority_fee_per_gas: 1,
        to: hot().0.into(),
        value: U256::from(1_125),
        blob_versioned_hashes: vec![blob],
        max_fee_per_blob_gas: PRICE,
        ..TxEip4844::default()
    };
    world.send(&with_zero_blob(&signed(ALICE, payment)));
    world.settle(3);
    world.expect_deposits(&[("native 0 1125", "credited")]);
    world.expect_books(&[
        ("@house/custody/1/hot", 1_125),
        ("arena/developer/1", 25),
        ("arena/ecosystem/1", 100),
        ("arena/funds/1/alice", 1_000),
    ]);
    world.expect_solvent();
}

/// A transaction that gives a wallet code, and pays us.
fn delegating(world: &AnvilWorld, signer: u64, authority: u64, nonce: u64, code: Address, wei: u64) -> B256 {
    let delegation = Authorization { chain_id: U256::from(1337), address: code.0.into(), nonce };
    let agreed = signature(authority, delegation.signature_hash());
    let payment = TxEip7702 {
        chain_id: 1337,
        gas_limit: 200_000,
        max_fee_per_gas: PRICE,
        max_priority_fee_per_gas: 1,
        to: hot().0.into(),
        value: U256::from(wei),
        authorization_list: vec![delegation.into_signed(agreed)],
        ..TxEip7702::default()
    };
    world.send(&signed(signer, payment).encoded_2718().into())
}

#[test]
fn a_payment_that_gives_its_sender_code_is_a_deposit_of_its_value() {
    let mut world = AnvilWorld::new();
    let code = world.create("Coins");
    // The sender's own number counts first.
    delegating(&world, ALICE, ALICE, 1, code, 1_125);
    world.settle(3);
    let text = world.anvil.ask("eth_getCode", serde_json::json!([key(ALICE).address(), "latest"]));
    assert!(text.as_str().unwrap().starts_with("0xef0100"), "{text}");
    // Her wallet is a contract now, and pays inside of another one's transaction: she is still who pays.
    let wallet = crate::world::address(ALICE);
    world.call(BOB, wallet, 0, "pay(address,uint256)", &[hot().into(), 500.into()]);
    world.settle(3);
    world.expect_deposits(&[("native 0 1125", "credited"), ("internal 0 500", "credited")]);
    world.expect_books(&[
        ("@house/custody/1/hot", 1_625),
        ("arena/developer/1", 25),
        ("arena/ecosystem/1", 100),
        ("arena/funds/1/alice", 1_000),
        ("arena/unallocated/1/alice", 500),
    ]);
    world.expect_solvent();
}

/// Only our own key can do that. The player has paid; that the wallet passes it on is what reconciliation finds.
#[test]
fn a_wallet_of_ours_that_passes_on_what_it_gets_has_still_been_paid() {
    let mut world = AnvilWorld::new();
    let code = world.create("PassingOn");
    let sent = delegating(&world, BOB, HOT, 0, code, 1_000);
    world.settle(3);
    assert!(world.has_succeeded(sent));
    world.expect_deposits(&[("native 0 1000", "credited")]);
    world.expect_books(&[("@house/custody/1/hot", 1_000), ("arena/unallocated/1/bob", 1_000)]);
    assert_eq!(world.coins(hot()), U256::ZERO);
    // What contracts bring is compared with the balance, which says nothing if it is gone at once: a node could have
    // invented both. A person looks.
    let coins = world.create("Coins");
    world.is_of(coins, "alice");
    world.call(ALICE, coins, 700, "pay(address,uint256)", &[hot().into(), 700.into()]);
    world.settle(3);
    world.expect_deposits(&[("native 0 1000", "credited"), ("internal 0 700", "none")]);
    assert_eq!(world.coins(hot()), U256::ZERO);
}
