//! Events about acts of people: what the outbox gets in the commit of an entry of the audit log.

use bankroll_ledger::Event;
use bankroll_operators::{Act, AuthorName, Effect, LogEntry, ProposalContent};
use serde_json::{Value, json};

use super::ConfirmedProposal;

pub(super) fn act_events(entry: &LogEntry, effects: &[Effect]) -> Vec<Event> {
    let by = match &entry.author {
        AuthorName::Person(name) | AuthorName::Program(name) => name.as_str(),
        AuthorName::Init => "init",
    };
    let said = match &entry.act {
        Act::Propose { proposal, content, .. } => {
            let body = json!({ "proposal": proposal, "kind": content.kind(), "author": by });
            Some(event("proposal.opened", &proposal, &body))
        }
        Act::Reject { proposal } => {
            Some(event("proposal.rejected", &proposal, &json!({ "proposal": proposal, "by": by })))
        }
        _ => None,
    };
    said.into_iter().chain(effects.iter().flat_map(|effect| effect_events(effect, by))).collect()
}

fn effect_events(effect: &Effect, by: &str) -> Vec<Event> {
    match effect {
        Effect::FreezePlayer { player, .. } => {
            vec![event("player.frozen", player, &json!({ "player": player, "by": by }))]
        }
        Effect::EndSession { .. } => Vec::new(),
        Effect::Execute { proposal, content, author, confirmed_by } => {
            let (content, author, confirmed_by) = (content.clone(), author.clone(), confirmed_by.clone());
            let confirmed = ConfirmedProposal { proposal: *proposal, content, author, confirmed_by };
            let mut events = vec![about("proposal.confirmed", &confirmed)];
            // Money moves in a request of its own, which says so itself.
            if !confirmed.content.is_about_money() {
                events.push(proposal_executed(&confirmed));
            }
            if let ProposalContent::UnfreezePlayer { player } = &confirmed.content {
                let body = json!({ "player": player, "proposal": proposal });
                events.push(event("player.unfrozen", player, &body));
            }
            events
        }
    }
}

/// For the commit that carries a proposal out.
#[must_use]
pub fn proposal_executed(confirmed: &ConfirmedProposal) -> Event {
    about("proposal.executed", confirmed)
}

/// For a proposal that the ledger has rejected for ever.
#[must_use]
pub fn proposal_failed(confirmed: &ConfirmedProposal) -> Event {
    about("proposal.failed", confirmed)
}

fn about(kind: &str, confirmed: &ConfirmedProposal) -> Event {
    let ConfirmedProposal { proposal, content, author, confirmed_by } = confirmed;
    let body = json!({ "proposal": proposal, "kind": content.kind(), "author": author, "confirmed_by": confirmed_by });
    event(kind, proposal, &body)
}

fn event(kind: &str, resource: &impl ToString, body: &Value) -> Event {
    Event { kind: kind.parse().expect("a legal name"), resource: resource.to_string(), body: body.to_string() }
}
