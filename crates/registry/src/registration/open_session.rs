//! Opening a session by signature: a game server renews its own, a person opens one.

use bankroll_ledger::Time;
use bankroll_orders::{Address, ChainId, typed_data::OpenSession};

use super::{RegistrationRefusal, freshness};
use crate::{Caller, KeyStanding, NoncePurpose, NonceText, Registry, RegistryChange, UsedNonce};

/// What was signed: the fields of the typed message `OpenSession`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTerms {
    /// `server` or `operator`.
    pub role: String,
    /// The server's or the person's name.
    pub subject: String,
    pub audience: String,
    pub nonce: [u8; 32],
    /// Seconds since 1970.
    pub expires: u64,
}

impl SessionTerms {
    /// The terms in a typed message.
    #[must_use]
    pub fn of(message: &OpenSession) -> Self {
        Self {
            role: message.role.clone(),
            subject: message.subject.clone(),
            audience: message.audience.clone(),
            nonce: message.nonce.0,
            expires: message.expires,
        }
    }
}

/// An accepted opening: write the changes, then issue the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOpening {
    pub caller: Caller,
    pub changes: Vec<RegistryChange>,
}

/// Decides whether the signer may open a session. A game server signs for the chain of its key, a person for
/// `owner_chain`, the deployment's own.
///
/// # Errors
/// The first rule that it breaks.
pub fn decide_session(
    registry: &Registry,
    terms: &SessionTerms,
    signer: Address,
    chain_id: ChainId,
    owner_chain: ChainId,
    audience: &str,
    now: Time,
) -> Result<SessionOpening, RegistrationRefusal> {
    if terms.audience != audience {
        return Err(RegistrationRefusal::WrongAudience { expected: audience.to_owned() });
    }
    let expires_at = freshness::check(terms.expires, now)?;
    let subject = terms.subject.parse().map_err(|_| RegistrationRefusal::Malformed { field: "subject" })?;
    let caller = match terms.role.as_str() {
        "server" => {
            let key = registry.server_key(signer).ok_or(RegistrationRefusal::UnknownKey { signer })?;
            match key.standing(now) {
                KeyStanding::Valid => {}
                KeyStanding::Expired => return Err(RegistrationRefusal::ExpiredKey),
                KeyStanding::Revoked => return Err(RegistrationRefusal::RevokedKey),
            }
            if key.server != subject {
                return Err(RegistrationRefusal::WrongServer { expected: key.server.clone() });
            }
            let chain = registry.chain(&key.chain).filter(|chain| chain.id == chain_id);
            chain.ok_or_else(|| RegistrationRefusal::WrongChain { expected: key.chain.clone() })?;
            Caller::GameServer(subject)
        }
        "operator" => match registry.operators().person(&subject).filter(|person| person.keys.contains_key(&signer)) {
            None => return Err(RegistrationRefusal::UnknownKey { signer }),
            Some(person) if !person.acts_with(signer) => return Err(RegistrationRefusal::RevokedKey),
            Some(_) if chain_id != owner_chain => {
                let expected = format!("eip155:{}", owner_chain.0).parse();
                let expected = expected.map_err(|_| RegistrationRefusal::Malformed { field: "chain_id" })?;
                return Err(RegistrationRefusal::WrongChain { expected });
            }
            Some(_) => Caller::Operator(subject),
        },
        _ => return Err(RegistrationRefusal::Malformed { field: "role" }),
    };
    let nonce = NonceText::chosen_by(signer, &terms.nonce);
    if registry.is_nonce_used(NoncePurpose::OpenSession, &nonce) {
        return Err(RegistrationRefusal::NonceUsed);
    }
    let nonce = UsedNonce { purpose: NoncePurpose::OpenSession, nonce, expires_at, used_at: now };
    Ok(SessionOpening { caller, changes: vec![RegistryChange::Nonce(nonce)] })
}
