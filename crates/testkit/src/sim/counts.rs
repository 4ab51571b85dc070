//! How often each kind of fault fired: a fault that was planned and did not fire is not counted.

use std::{collections::BTreeMap, fmt};

use bankroll_chains_simulated::{FaultCounts, NodeFault};

/// Every kind that the simulator itself causes; those of nodes belong to the chain.
pub(super) const KINDS: &[&str] = &[
    "books: disk full",
    "books: locked",
    "books: restarted",
    "books: power cut",
    "books: request lost",
    "books: answer lost",
    "books: request repeated",
    "books: conflicting request",
    "crash before a commit: scanner",
    "crash before a commit: crediting",
    "crash before a commit: payouts",
    "crash before a commit: settlement",
    "crash before a commit: game server",
    "crash after a commit: scanner",
    "crash after a commit: crediting",
    "crash after a commit: payouts",
    "crash after a commit: settlement",
    "crash after a commit: game server",
    "restarted: scanner",
    "restarted: crediting",
    "restarted: payouts",
    "restarted: settlement",
    "restarted: game server",
    "crediting: stalled",
    "role: clock behind",
    "signer: request lost",
    "signer: answer lost",
    "signer: request repeated",
    "signer: ends before a write",
    "signer: ends after a write",
    "signer: restarted",
    "signer: clock off",
    "signer: bytes sent by somebody",
    "chain: reorganised",
    "chain: reorganised below final deposits",
    "chain: transactions dropped",
    "chain: old branch adopted",
    "chain: fees jump",
    "player: double spend",
    "node: invents a transfer",
    "node: wrong balance of a token",
    "rows: a deposit edited",
];

/// Faults in answers that the flows never request: nothing here searches for logs by range.
const NEVER_REQUESTED: &[NodeFault] = &[NodeFault::LogsOmitted];

/// Kinds with their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    pub(super) fn count(&mut self, kind: &str) {
        assert!(KINDS.contains(&kind), "{kind} is not in the list of kinds");
        self.add(kind.to_owned(), 1);
    }

    pub(super) fn count_nodes(&mut self, faults: &FaultCounts) {
        faults.iter().filter(|(_, count)| *count > 0).for_each(|(fault, count)| self.add(node_kind(fault), count));
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, count)| self.add(kind.clone(), *count));
    }

    /// The kinds that never happened.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        Self::kinds().filter(|kind| !self.0.contains_key(kind)).collect()
    }

    /// Every kind of fault.
    pub fn kinds() -> impl Iterator<Item = String> {
        let of_nodes = NodeFault::ALL.iter().filter(|fault| !NEVER_REQUESTED.contains(fault));
        KINDS.iter().map(|kind| (*kind).to_owned()).chain(of_nodes.map(|fault| node_kind(*fault)))
    }

    fn add(&mut self, kind: String, count: u64) {
        *self.0.entry(kind).or_default() += count;
    }
}

fn node_kind(fault: NodeFault) -> String {
    let name = format!("{fault:?}");
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    format!("node: {words}")
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in Self::kinds() {
            writeln!(f, "  {:>8}  {kind}", self.0.get(&kind).copied().unwrap_or_default())?;
        }
        Ok(())
    }
}
