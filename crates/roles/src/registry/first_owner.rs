//! The first owner of a deployment: the one person that no other has signed for.

use anyhow::Context;
use bankroll_ledger::{IdempotencyKey, Name, Namespace, Principal, Scope};
use bankroll_orders::Address;
use bankroll_registry::{ChangeOrigin, Registry, change_request};
use bankroll_store::{Clock, Ledger};

/// The person's name in the audit log until people have names of their own.
const OWNER: &str = "owner";
const KEY: &str = "init/owner";

/// Records the address of the owner's key in new books: the first entry of the audit log. Only the first call has an
/// effect; another person needs the first one's signature.
///
/// # Errors
/// If the ledger rejects it, or another owner was recorded.
pub fn record_owner(ledger: &Ledger, address: Address) -> anyhow::Result<()> {
    let now = Clock::machine().now();
    let owner: Name = OWNER.parse()?;
    let changes = Registry::default().add_first_owner(owner, address, now)?;
    let mut request_hash = [0; 32];
    request_hash[..20].copy_from_slice(&address.0);
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: KEY.into() },
        by: "init".parse()?,
        request_hash,
        now,
    };
    let request = change_request(&origin, &changes)?;
    let answers = ledger.submit(vec![request])?.wait()?;
    let answer = answers.first().context("the ledger gave no answer")?;
    answer.effects().context("the ledger rejected the owner")?;
    anyhow::ensure!(!answer.replayed, "the books have an owner already");
    Ok(())
}
