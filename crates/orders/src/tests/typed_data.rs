//! Typed data is hashed as EIP-712 says, and signatures are read strictly.
//!
//! The expected digests are made by a second implementation: the types as text, and words put together by hand.

use k256::ecdsa::SigningKey;
use sha3::{Digest, Keccak256};

use crate::{
    Address, ChainId,
    typed_data::{
        self, ApiRequest, Approval, B256, OpenSession, Payout, Registration, SignatureError, U256, WalletSignature,
    },
};

const CHAIN: ChainId = ChainId(31337);
const WALLET: Address = Address([0x11; 20]);
const DEVELOPER: Address = Address([0x22; 20]);
const EXPIRES: u64 = 1_794_744_600;

fn keccak(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}

fn number(value: u128) -> [u8; 32] {
    let mut word = [0; 32];
    word[16..].copy_from_slice(&value.to_be_bytes());
    word
}

fn text(value: &str) -> [u8; 32] {
    keccak(value.as_bytes())
}

fn address(value: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&value.0);
    word
}

/// EIP-712 by hand.
fn by_hand(kind: &str, words: &[[u8; 32]]) -> [u8; 32] {
    let domain_kind = text("EIP712Domain(string name,string version,uint256 chainId)");
    let domain = keccak(&[domain_kind, text("Bankroll"), text("1"), number(31337)].concat());
    let message = keccak(&[&[text(kind)], words].concat().concat());
    keccak(&[&[0x19, 0x01][..], &domain, &message].concat())
}

fn session() -> OpenSession {
    OpenSession {
        role: "server".into(),
        subject: "arena".into(),
        audience: "funds.example".into(),
        nonce: B256::repeat_byte(7),
        expires: EXPIRES,
    }
}

#[test]
fn a_registration_has_the_digest_of_eip_712() {
    let message = Registration {
        server: "arena".into(),
        audience: "funds.example".into(),
        payoutAddress: WALLET.into(),
        developer: DEVELOPER.into(),
        buyIn: U256::from(5_000_000_u128),
        developerFeeBps: 250,
        worldFeeBps: 1_000,
        massPerCoin: U256::from(u128::MAX),
        exitHoldMs: 30_000,
        nonce: B256::repeat_byte(7),
        expires: EXPIRES,
    };
    let kind = "Registration(string server,string audience,address payoutAddress,address developer,uint256 buyIn,\
                uint32 developerFeeBps,uint32 worldFeeBps,uint256 massPerCoin,uint64 exitHoldMs,bytes32 nonce,\
                uint64 expires)";
    let terms = [number(5_000_000), number(250), number(1_000), number(u128::MAX), number(30_000)];
    let names = [text("arena"), text("funds.example"), address(WALLET), address(DEVELOPER)];
    let words = [&names[..], &terms, &[[7; 32], number(EXPIRES.into())]].concat();
    assert_eq!(typed_data::digest(&message, CHAIN), by_hand(kind, &words));
}

#[test]
fn a_session_has_the_digest_of_eip_712() {
    let kind = "OpenSession(string role,string subject,string audience,bytes32 nonce,uint64 expires)";
    let words = [text("server"), text("arena"), text("funds.example"), [7; 32], number(EXPIRES.into())];
    assert_eq!(typed_data::digest(&session(), CHAIN), by_hand(kind, &words));
}

#[test]
fn a_payout_has_the_digest_of_eip_712() {
    let message = Payout {
        server: "arena".into(),
        requestId: "cash-out-1".into(),
        audience: "funds.example".into(),
        wallet: WALLET.into(),
        account: "arena/funds/1/alice".into(),
        to: DEVELOPER.into(),
        asset: "USDC".into(),
        amount: U256::from(12_u8),
        feeCap: U256::from(3_u8),
        expires: EXPIRES,
    };
    let kind = "Payout(string server,string requestId,string audience,address wallet,string account,address to,\
                string asset,uint256 amount,uint256 feeCap,uint64 expires)";
    let names = [text("arena"), text("cash-out-1"), text("funds.example"), address(WALLET)];
    let account = [text("arena/funds/1/alice"), address(DEVELOPER), text("USDC")];
    let words = [&names[..], &account, &[number(12), number(3), number(EXPIRES.into())]].concat();
    assert_eq!(typed_data::digest(&message, CHAIN), by_hand(kind, &words));
}

#[test]
fn an_approval_has_the_digest_of_eip_712() {
    let message = Approval {
        intent: "wd-81".into(),
        audience: "funds.example".into(),
        to: WALLET.into(),
        asset: "USDC".into(),
        amount: U256::from(12_u8),
        expires: EXPIRES,
    };
    let kind = "Approval(string intent,string audience,address to,string asset,uint256 amount,uint64 expires)";
    let names = [text("wd-81"), text("funds.example"), address(WALLET), text("USDC")];
    let words = [&names[..], &[number(12), number(EXPIRES.into())]].concat();
    assert_eq!(typed_data::digest(&message, CHAIN), by_hand(kind, &words));
}

#[test]
fn a_request_has_the_digest_of_eip_712() {
    let message = ApiRequest {
        method: "POST".into(),
        path: "/v1/servers/arena/transfer".into(),
        audience: "funds.example".into(),
        idempotencyKey: "round-7".into(),
        bodyHash: keccak(b"{}").into(),
        expires: EXPIRES,
    };
    let kind = "ApiRequest(string method,string path,string audience,string idempotencyKey,bytes32 bodyHash,\
                uint64 expires)";
    let names = [text("POST"), text("/v1/servers/arena/transfer"), text("funds.example"), text("round-7")];
    let words = [&names[..], &[keccak(b"{}"), number(EXPIRES.into())]].concat();
    assert_eq!(typed_data::digest(&message, CHAIN), by_hand(kind, &words));
}

#[test]
fn a_signature_recovers_to_its_wallet_for_one_message_on_one_chain() {
    let key = SigningKey::from_slice(&[0x42; 32]).unwrap();
    let digest = typed_data::digest(&session(), CHAIN);
    let signature = WalletSignature::by(&key, &digest).unwrap();
    let wallet = Address::of(key.verifying_key());
    assert_eq!(typed_data::recover(&digest, &signature), Ok(wallet));
    assert_eq!(signature.to_string().parse(), Ok(signature));
    let elsewhere = typed_data::digest(&session(), ChainId(1));
    let other = typed_data::digest(&OpenSession { audience: "funds.other".into(), ..session() }, CHAIN);
    for digest in [elsewhere, other] {
        assert_ne!(typed_data::recover(&digest, &signature), Ok(wallet));
    }
}

#[test]
fn v_has_two_spellings_and_s_one_half() {
    let key = SigningKey::from_slice(&[0x42; 32]).unwrap();
    let digest = typed_data::digest(&session(), CHAIN);
    let signature = WalletSignature::by(&key, &digest).unwrap();
    let with_v = |v: u8| {
        let mut bytes = signature.0;
        bytes[64] = v;
        typed_data::recover(&digest, &WalletSignature(bytes))
    };
    let v = signature.0[64];
    assert_eq!(with_v(v - 27), Ok(Address::of(key.verifying_key())));
    for v in [2, 26, 29, 30, 35, 255] {
        assert_eq!(with_v(v), Err(SignatureError::RecoveryByte), "{v}");
    }
    // The order of the group minus s, with the other v, is valid ECDSA for the same digest and key.
    let order: U256 = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".parse().unwrap();
    let s = U256::from_be_slice(&signature.0[32..64]);
    let mut high = signature.0;
    high[32..64].copy_from_slice(&(order - s).to_be_bytes::<32>());
    high[64] = 55 - v;
    assert_eq!(typed_data::recover(&digest, &WalletSignature(high)), Err(SignatureError::HighS));
}

#[test]
fn what_no_key_signed_is_refused() {
    let digest = [1; 32];
    let with = |r: [u8; 32], s: [u8; 32]| {
        let bytes: Vec<u8> = [&r[..], &s, &[27]].concat();
        typed_data::recover(&digest, &WalletSignature(bytes.try_into().unwrap()))
    };
    for (r, s) in [([0; 32], [1; 32]), ([1; 32], [0; 32]), ([0xff; 32], [1; 32]), ([0; 32], [0; 32])] {
        assert_eq!(with(r, s), Err(SignatureError::NoKey));
    }
    // 5 is the first coordinate of no point.
    assert_eq!(with(number(5), [1; 32]), Err(SignatureError::NoKey));
}

#[test]
fn the_text_of_a_signature_is_strict() {
    let digits = "ab".repeat(65);
    assert_eq!(format!("0x{digits}").parse(), Ok(WalletSignature([0xab; 65])));
    for text in ["", "0x", &digits, &format!("0X{digits}"), &format!("0x{digits}ab"), &format!("0x{}", &digits[2..])] {
        assert_eq!(text.parse::<WalletSignature>(), Err(SignatureError::Malformed), "{text:?}");
    }
}
