//! The nodes of the chain: each may lag or be down, lie, lack methods, and has its own planned faults.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    chain::SimulatedChain,
    fault::{FaultCounts, NodeFault},
    lie::{NodeCapability, NodeLie},
};

/// Instead of a number of times: until [`SimulatedChain::heal`].
pub const UNTIL_HEALED: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub struct SimulatedNode {
    lag: u64,
    down: bool,
    planned: BTreeMap<NodeFault, u32>,
    lies: Vec<(NodeLie, u32)>,
    lacks: BTreeSet<NodeCapability>,
}

/// All nodes share one chain, unless they have a branch of their own. A node exists from its first use.
#[derive(Clone, Debug, Default)]
pub struct SimulatedNodes {
    by_number: BTreeMap<usize, SimulatedNode>,
    pub happened: FaultCounts,
    /// How often each lie was given, by its name.
    pub lie_counts: BTreeMap<&'static str, u64>,
}

impl SimulatedNodes {
    pub fn is_down(&self, node: usize) -> bool {
        self.by_number.get(&node).is_some_and(|node| node.down)
    }

    pub fn lag(&self, node: usize) -> u64 {
        self.by_number.get(&node).map_or(0, |node| node.lag)
    }

    pub fn is_planned(&self, node: usize, fault: NodeFault) -> bool {
        self.by_number.get(&node).is_some_and(|node| node.planned.contains_key(&fault))
    }

    /// Uses up one planned occurrence of the fault, if there is one.
    pub fn take_fault(&mut self, node: usize, fault: NodeFault) -> bool {
        let Some(planned) = self.by_number.get_mut(&node).map(|node| &mut node.planned) else { return false };
        let Some(times) = planned.get_mut(&fault) else { return false };
        count_down(times);
        if *times == 0 {
            planned.remove(&fault);
        }
        self.happened.count(fault);
        true
    }

    /// Whether the node is set not to know this method.
    pub fn lacks(&self, node: usize, method: &str) -> bool {
        self.by_number.get(&node).is_some_and(|node| node.lacks.iter().any(|lack| lack.is_of(method)))
    }

    /// The first lie of a node that changes an answer, with what it makes of it. Uses up one occurrence.
    pub fn take_lie<T>(&mut self, node: usize, mut change: impl FnMut(&NodeLie) -> Option<T>) -> Option<T> {
        let lies = &mut self.by_number.get_mut(&node)?.lies;
        let (place, changed) =
            lies.iter().enumerate().find_map(|(place, (lie, _))| change(lie).map(|changed| (place, changed)))?;
        let (lie, times) = lies.get_mut(place)?;
        let count = self.lie_counts.entry(lie.name()).or_default();
        *count = count.saturating_add(1);
        count_down(times);
        if *times == 0 {
            lies.remove(place);
        }
        Some(changed)
    }
}

fn count_down(times: &mut u32) {
    if *times != UNTIL_HEALED {
        *times = times.saturating_sub(1);
    }
}

impl SimulatedChain {
    /// Lets a node tell a lie that no header gives away, in the given number of answers or [`UNTIL_HEALED`].
    pub fn lie_from(&mut self, node: usize, lie: NodeLie, times: u32) {
        let lies = &mut self.nodes.by_number.entry(node).or_default().lies;
        lies.retain(|(planned, _)| *planned != lie);
        if times > 0 {
            lies.push((lie, times));
        }
    }

    /// Lets a node answer as if it did not know these methods.
    pub fn switch_off(&mut self, node: usize, capability: NodeCapability) {
        self.nodes.by_number.entry(node).or_default().lacks.insert(capability);
    }

    pub fn switch_on(&mut self, node: usize, capability: NodeCapability) {
        self.nodes.by_number.entry(node).or_default().lacks.remove(&capability);
    }

    /// Makes a node a good one: up, on the common chain, with all methods, without lag, planned faults and lies.
    pub fn heal(&mut self, node: usize) {
        self.rejoin(node);
        self.nodes.by_number.remove(&node);
    }

    /// How often each lie was given, on all nodes.
    pub fn lies_told(&self) -> &BTreeMap<&'static str, u64> {
        &self.nodes.lie_counts
    }

    /// Plans a fault of a node for the given number of matching answers, or [`UNTIL_HEALED`].
    pub fn inject(&mut self, node: usize, fault: NodeFault, times: u32) {
        let planned = &mut self.nodes.by_number.entry(node).or_default().planned;
        match times {
            0 => drop(planned.remove(&fault)),
            _ => drop(planned.insert(fault, times)),
        }
    }

    /// Removes the planned faults of a node. Lag and crash stay.
    pub fn clear_faults(&mut self, node: usize) {
        self.nodes.by_number.entry(node).or_default().planned.clear();
    }

    /// Lets a node show the chain as it was this many blocks ago; zero lets it catch up.
    pub fn lag(&mut self, node: usize, blocks: u64) {
        self.nodes.by_number.entry(node).or_default().lag = blocks;
    }

    /// Takes a node down. The mempool is shared by all nodes, and is lost unless `keeps_mempool`.
    pub fn crash(&mut self, node: usize, keeps_mempool: bool) {
        self.nodes.by_number.entry(node).or_default().down = true;
        if !keeps_mempool {
            self.pool.clear();
        }
    }

    /// Brings a node back.
    pub fn restart(&mut self, node: usize) {
        self.nodes.by_number.entry(node).or_default().down = false;
    }

    /// How often each fault happened, on all nodes.
    pub fn faults(&self) -> &FaultCounts {
        &self.nodes.happened
    }
}
