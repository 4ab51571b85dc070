//! The nodes of the chain: each may lag or be down, and has its own planned faults.

use std::collections::BTreeMap;

use crate::{
    chain::SimulatedChain,
    fault::{FaultCounts, NodeFault},
};

#[derive(Clone, Debug, Default)]
pub struct SimulatedNode {
    lag: u64,
    down: bool,
    planned: BTreeMap<NodeFault, u32>,
}

/// All nodes share one chain and one mempool. A node exists from its first use.
#[derive(Clone, Debug, Default)]
pub struct SimulatedNodes {
    by_number: BTreeMap<usize, SimulatedNode>,
    pub happened: FaultCounts,
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
        *times = times.saturating_sub(1);
        if *times == 0 {
            planned.remove(&fault);
        }
        self.happened.count(fault);
        true
    }
}

impl SimulatedChain {
    /// Plans a fault of a node for the given number of matching answers.
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
