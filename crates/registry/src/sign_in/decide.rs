//! What a proven wallet may do: sign in as its player, or become one more wallet of a player.

use bankroll_ledger::{Name, Time};

use super::{ProvenWallet, SignInRefusal};
use crate::{
    Caller, NoncePurpose, PlayerWallet, RegisteredPlayer, Registry, RegistryChange, UsedNonce, WalletEvidence,
};

/// The most wallets of one player: each can own accounts at each server, and one call reads them all.
pub const WALLETS_MAX: usize = 16;

/// An accepted sign-in: write the changes, then issue a token for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInDecision {
    pub caller: Caller,
    pub player: Name,
    /// Whether the wallet was seen for the first time.
    pub is_new: bool,
    pub changes: Vec<RegistryChange>,
}

/// Signs in with a wallet: as the player it belongs to, or as a new player. The message has no `Request ID`.
///
/// # Errors
/// If the wallet cannot be this player's.
pub fn decide_sign_in(registry: &Registry, proven: ProvenWallet, now: Time) -> Result<SignInDecision, SignInRefusal> {
    // With a link's message a stranger would become a player of the link's wallet.
    if proven.request_id.is_some() {
        return Err(SignInRefusal::WrongPurpose);
    }
    let known = known_wallet(registry, &proven, now)?;
    if let Some(known) = known {
        let player = known.player.clone();
        let changes = vec![used(&proven, now)];
        return Ok(SignInDecision { caller: Caller::Player(player.clone()), player, is_new: false, changes });
    }
    let player: Name = proven.wallet.lower_hex().parse().map_err(|_| SignInRefusal::BadSignature)?;
    let entry = RegisteredPlayer { player: player.clone(), first_signed_in_at: now, excluded_until: None, revision: 1 };
    let changes = vec![used(&proven, now), RegistryChange::Player(entry), link(proven, player.clone(), now)];
    Ok(SignInDecision { caller: Caller::Player(player.clone()), player, is_new: true, changes })
}

/// Makes a wallet one more of a player who is signed in. The message has the `Request ID` `link:{player}`.
///
/// # Errors
/// If it is another player's: a wallet never changes hands, since payments on their way would.
pub fn decide_link(
    registry: &Registry,
    player: &Name,
    proven: ProvenWallet,
    now: Time,
) -> Result<Vec<RegistryChange>, SignInRefusal> {
    // A wallet never changes hands, so its key must name the player: a sign-in that was seen on its way does not.
    if proven.request_id.as_deref() != Some(&link_request_id(player)) {
        return Err(SignInRefusal::WrongPurpose);
    }
    match known_wallet(registry, &proven, now)? {
        Some(known) if known.player == *player => Ok(vec![used(&proven, now)]),
        Some(_) => Err(SignInRefusal::WalletTaken),
        None if registry.wallets_of(player).count() >= WALLETS_MAX => Err(SignInRefusal::TooManyWallets),
        None => Ok(vec![used(&proven, now), link(proven, player.clone(), now)]),
    }
}

/// The `Request ID` of the message that links a wallet to this player.
#[must_use]
pub fn link_request_id(player: &Name) -> String {
    format!("link:{player}")
}

/// The wallet's entry, if this proof is good for it.
fn known_wallet<'a>(
    registry: &'a Registry,
    proven: &ProvenWallet,
    now: Time,
) -> Result<Option<&'a PlayerWallet>, SignInRefusal> {
    // The message may have been checked before another call used its nonce, while a node was asked.
    if registry.is_nonce_used(NoncePurpose::SignIn, &proven.nonce) {
        return Err(SignInRefusal::NonceUsed);
    }
    if proven.nonce_expires_at <= now {
        return Err(SignInRefusal::NonceExpired);
    }
    let is_ours = registry.wallets().any(|wallet| wallet.address == proven.wallet)
        || registry.custody_keys().any(|key| key.address == proven.wallet)
        || registry.server_key(proven.wallet).is_some()
        || registry.operators().people().any(|person| person.keys.contains_key(&proven.wallet))
        || registry.treasury_addresses().any(|entry| entry.address == proven.wallet && entry.removed_at.is_none());
    if is_ours {
        return Err(SignInRefusal::OperatorsWallet);
    }
    let known = registry.player_wallet(proven.wallet);
    match (known.map(|known| &known.proven_by), &proven.evidence) {
        (Some(WalletEvidence::Contract(chain)), WalletEvidence::Contract(other)) if chain != other => {
            Err(SignInRefusal::OtherChainsContract { chain: chain.clone() })
        }
        // Code at the address of a key (EIP-7702) may accept other signers than the key, on one chain only.
        (Some(WalletEvidence::Key), WalletEvidence::Contract(_)) => Err(SignInRefusal::BadSignature),
        _ => Ok(known),
    }
}

fn used(proven: &ProvenWallet, now: Time) -> RegistryChange {
    RegistryChange::Nonce(UsedNonce {
        purpose: NoncePurpose::SignIn,
        nonce: proven.nonce.clone(),
        expires_at: proven.nonce_expires_at,
        used_at: now,
    })
}

fn link(proven: ProvenWallet, player: Name, now: Time) -> RegistryChange {
    let wallet = PlayerWallet { wallet: proven.wallet, player, proven_by: proven.evidence, linked_at: now };
    RegistryChange::PlayerWallet { wallet, proof: proven.proof }
}
