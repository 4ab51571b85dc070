//! viem, the library of wallets and web pages, as a game server and as a player.

use serde_json::json;

use super::{FUNDS, HOT, RefereedNode};

pub const VERSION: &str = "2.56.9";

#[test]
fn viem_registers_a_server_signs_a_player_in_and_requests_a_payout() {
    let node = RefereedNode::start();
    let found = node.script("viem.cjs", "viem", VERSION);
    assert_eq!(
        found["registration"],
        json!({
            "as signed": "200",
            "pays to": HOT,
            "sent again": "409 nonce_used",
            // Other fields than the signed ones have another digest, and that recovers the address of a stranger.
            "another buy-in than signed": "403 key_not_allow_listed",
            "another developer than signed": "403 key_not_allow_listed",
            "for another service": "401 audience_wrong",
            "for another chain": "401 chain_wrong",
            "expired": "401 signature_expired",
            "expires in a day": "400 signature_too_far_ahead",
            "buy-in above its bound": "403 out_of_bounds",
            "unregistered payout address": "403 payout_address_unknown",
            "signature cut off": "400 signature_malformed",
        })
    );
    assert_eq!(
        found["session"],
        json!({
            "as signed": "200",
            "for another server than signed": "403 key_not_allow_listed",
            "accounts": [FUNDS, FUNDS.replace("funds", "unallocated")],
        })
    );
    assert_eq!(
        found["signIn"],
        json!({
            "as signed": "200",
            "another statement than signed": "401 signature_invalid",
            "player": "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
        })
    );
    assert_eq!(
        found["payout"],
        json!({
            "as signed": "200",
            "amount": "250",
            "fee cap": "10",
            "requested again": ["200", "true", true],
            "same id, more": "409 idempotency_mismatch",
            "more than signed": "401 signature_invalid",
            "to another wallet than signed": "401 signature_invalid",
            "from another account than signed": "401 signature_invalid",
            "for another service": "401 signature_invalid",
            "expired": "401 signature_expired",
            "without gas": "422 fee_cap_zero",
            "more than there is": "422 insufficient_funds",
        })
    );
    assert_eq!(
        found["signedRequest"],
        json!({
            "as signed": "200",
            // 250 and 10 are held for the payout; 40 have gone to the world.
            "player has": "960",
            "more than signed": "401 signature_invalid",
            "another key than signed": "401 signature_invalid",
            "another path than signed": "401 signature_invalid",
            "another address than signed": "401 signature_invalid",
            "expired": "401 signature_expired",
            "expires in an hour": "400 signature_too_far_ahead",
            "as a player": "200",
            "as a player, a server": "404 not_found",
        })
    );
}
