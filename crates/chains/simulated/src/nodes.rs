//! The nodes through which the chain is seen: each may lag, be down, and has its own planned faults.

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

/// All nodes share one chain and one mempool. A node is there as soon as somebody names it.
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

    /// The fault happens, if it is planned.
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
    /// Plans a fault of a node: it happens at the next so many answers that it fits.
    pub fn inject(&mut self, node: usize, fault: NodeFault, times: u32) {
        let planned = &mut self.nodes.by_number.entry(node).or_default().planned;
        match times {
            0 => drop(planned.remove(&fault)),
            _ => drop(planned.insert(fault, times)),
        }
    }

    /// Takes back what was planned for a node and has not happened. Lag and crash stay.
    pub fn clear_faults(&mut self, node: usize) {
        self.nodes.by_number.entry(node).or_default().planned.clear();
    }

    pub fn calm(&mut self, node: usize) {
        self.clear_faults(node); // TEMPORARY alias
    }

    /// Lets a node show the chain as it was so many blocks ago; zero lets it catch up.
    pub fn lag(&mut self, node: usize, blocks: u64) {
        self.nodes.by_number.entry(node).or_default().lag = blocks;
    }

    /// Takes a node down. Its mempool is every node's here, and is lost with it unless it was kept on disk.
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
