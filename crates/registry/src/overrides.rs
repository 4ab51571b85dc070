//! Overrides of the books, compared with the audit log: what a person moved by hand must be a proposal that several
//! signed, with exactly its content, once.

use std::collections::BTreeSet;

use bankroll_ledger::{Action, Confirmation, Leg, Principal, Request, Seq};
use bankroll_operators::{Operators, Proposal, ProposalContent, ProposalId, ProposalStatus, QUORUM_OF_ONE};
use bankroll_store::{Reader, StoreError};

use crate::RegistryError;

/// Whether a request does what this content says about another flow's rows: that flow knows.
pub type FlowOverride<'a> = &'a dyn Fn(&Reader, &ProposalContent, &Request) -> Result<bool, StoreError>;

/// Checks the applied requests of operators, as an audit of the journal has found them.
///
/// # Errors
/// The first one that no confirmed proposal covers, or that covers one a second time; or if the books cannot be read.
pub fn check_overrides(
    reader: &Reader,
    operators: &Operators,
    overrides: &[(Seq, Request)],
    of_flow: FlowOverride<'_>,
) -> Result<(), RegistryError> {
    let mut carried_out = BTreeSet::new();
    for (record, request) in overrides {
        let proposal = proposal_of(operators, request);
        let is_first = proposal.is_some_and(|proposal| carried_out.insert(proposal.id));
        if !is_first || !does(reader, request, proposal.map(|found| &found.content), of_flow)? {
            return Err(RegistryError::OverrideUnsigned { record: *record });
        }
    }
    Ok(())
}

/// The confirmed proposal that a request names, with the same people.
fn proposal_of<'a>(operators: &'a Operators, request: &Request) -> Option<&'a Proposal> {
    let (Principal::Admin(person), Some(Confirmation { proposal, by })) = (&request.principal, &request.confirmation)
    else {
        return None;
    };
    let id: ProposalId = proposal.as_str().parse().ok()?;
    let found = operators.proposal(id).filter(|found| found.status == ProposalStatus::Confirmed)?;
    let confirmed_by = found.confirmed_by.as_ref().map_or(QUORUM_OF_ONE, |by| by.as_str());
    (found.author == *person && confirmed_by == by.as_str()).then_some(found)
}

/// Whether a request does what this content says, and nothing else.
fn does(
    reader: &Reader,
    request: &Request,
    content: Option<&ProposalContent>,
    of_flow: FlowOverride<'_>,
) -> Result<bool, RegistryError> {
    if let Some(content) = content.filter(|content| content.deposit().is_some()) {
        return Ok(of_flow(reader, content, request)?);
    }
    if !request.facts.is_empty() {
        return Ok(false);
    }
    Ok(match (content, &request.action) {
        (Some(ProposalContent::Reverse { record, .. }), Action::Reverse(reversed)) => record == reversed,
        (Some(ProposalContent::Transfer { from, to, amount, .. }), Action::Legs(legs)) => match legs.as_slice() {
            [Leg::Move { from: paid, to: received, amount: moved }] => {
                let number = |name| reader.account_named(name).map(|found| found.map(|account| account.id));
                moved == amount && number(from)? == Some(*paid) && number(to)? == Some(*received)
            }
            _ => false,
        },
        _ => false,
    })
}
