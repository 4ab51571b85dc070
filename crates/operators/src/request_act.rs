//! From a signed request to the act that it asks for. The books enter no other act under that signature, so that a
//! signature cannot be moved to another act.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{Act, OperatorRefusal, PROPOSAL_LIFETIME, ProposalContent, ProposalId, Right, Rights, SignedRequest};

/// The body of a proposal and of a confirmation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentBody {
    content: ProposalContent,
    /// Only with a proposal: when it expires, if earlier than usual.
    #[serde(default)]
    lifetime_seconds: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonBody {
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramKeyBody {
    label: String,
    rights: Rights,
    #[serde(default)]
    lifetime_seconds: Option<u64>,
}

/// What the books choose themselves when a person makes a key for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgramKey {
    pub id: Name,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub secret_hash: String,
}

impl SignedRequest {
    /// The act that this request of this person asks for.
    ///
    /// `right` is the right of an operation that has effects of its own; `new_key` is for a new key of a program.
    ///
    /// # Errors
    /// If its path or body is malformed.
    pub fn act(
        &self,
        author: &Name,
        at: Time,
        right: Option<Right>,
        new_key: Option<&NewProgramKey>,
    ) -> Result<Act, OperatorRefusal> {
        let parts: Vec<&str> = self.path.split('/').skip(1).collect();
        match (self.method.as_str(), parts.as_slice()) {
            ("POST", ["v1", "proposals"]) => {
                let ContentBody { content, lifetime_seconds } = self.body()?;
                let lifetime = lifetime_seconds.map_or(PROPOSAL_LIFETIME, |seconds| seconds.saturating_mul(1_000_000));
                let proposal = ProposalId::of(author, &self.idempotency_key);
                let expires = Time(at.0.saturating_add(lifetime.min(PROPOSAL_LIFETIME)));
                Ok(Act::Propose { proposal, content, expires })
            }
            ("POST", ["v1", "proposals", id, "confirm"]) => {
                let ContentBody { content, lifetime_seconds: None } = self.body()? else {
                    return Err(OperatorRefusal::Malformed {
                        field: "lifetime_seconds",
                        why: "only its author sets it",
                    });
                };
                Ok(Act::Confirm { proposal: part("proposal", id)?, content })
            }
            ("POST", ["v1", "proposals", id, "reject"]) => Ok(Act::Reject { proposal: part("proposal", id)? }),
            ("DELETE", ["v1", "operators", "keys", address]) => {
                Ok(Act::RevokeKey { address: part("address", address)? })
            }
            ("POST", ["v1", "operators", person, "suspend"]) => Ok(Act::Suspend { person: part("person", person)? }),
            ("DELETE", ["v1", "operators", "sessions", session]) => {
                Ok(Act::RevokeSession { session: (*session).to_owned() })
            }
            ("POST", ["v1", "program-keys"]) => {
                let ProgramKeyBody { label, rights, lifetime_seconds } = self.body()?;
                let NewProgramKey { id, secret_hash } = new_key.cloned().ok_or(OperatorRefusal::ActMismatch)?;
                let until = |seconds: u64| Time(at.0.saturating_add(seconds.saturating_mul(1_000_000)));
                Ok(Act::CreateProgramKey { id, label, rights, secret_hash, expires: lifetime_seconds.map(until) })
            }
            ("DELETE", ["v1", "program-keys", id]) => Ok(Act::RevokeProgramKey { id: part("id", id)? }),
            ("POST", ["v1", "players", player, "freeze"]) => {
                let ReasonBody { reason } = self.body()?;
                Ok(Act::FreezePlayer { player: player_name(player)?, reason })
            }
            ("POST", ["v1", "deposits", deposit, "hold"]) => {
                let ReasonBody { reason } = self.body()?;
                // Clients may escape the colons of an id.
                let deposit = deposit.replace("%3A", ":").replace("%3a", ":");
                Ok(Act::HoldDeposit { deposit, reason })
            }
            ("GET", ["v1", "players", player]) => Ok(Act::ReadPlayer { player: player_name(player)? }),
            _ => {
                let right = right.ok_or(OperatorRefusal::ActMismatch)?;
                let (operation, resource) = (self.method.clone(), self.path.clone());
                Ok(Act::Operation { operation, resource, right })
            }
        }
    }

    fn body<T: DeserializeOwned>(&self) -> Result<T, OperatorRefusal> {
        serde_json::from_str(&self.body).map_err(|error| OperatorRefusal::Body { why: error.to_string() })
    }
}

/// A player is known by a wallet, in one spelling: a freeze under another one would stop nothing.
fn player_name(text: &str) -> Result<Name, OperatorRefusal> {
    let wallet: Address = part("player", text)?;
    part("player", &wallet.lower_hex())
}

fn part<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<T, OperatorRefusal> {
    text.parse().map_err(|_| OperatorRefusal::Malformed { field, why: "not the name of one" })
}
