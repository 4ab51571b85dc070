//! Faults of nodes, the signer, the disk and the clock. They are planned here, and counted where they fire.

use bankroll_chains_simulated::NodeFault;
use bankroll_store::FaultKind;
use fastrand::Rng;

use super::{
    run::ROLES,
    signer_process::SignerTrouble,
    world::{NODES, SECOND, World},
};

impl World {
    pub fn wait(&mut self, random: &mut Rng) {
        let seconds = match random.u8(..10) {
            0..4 => random.u64(1..60),
            4..7 => random.u64(60..3_600),
            7..9 => random.u64(3_600..86_400),
            _ => random.u64(86_400..5 * 86_400),
        };
        self.advance(seconds * SECOND);
        self.note(format_args!("{seconds} seconds pass"));
    }

    pub fn signer_fault(&mut self, random: &mut Rng) {
        let ends = SignerTrouble::Ends(random.usize(..2), random.bool());
        let between = [
            SignerTrouble::RequestLost,
            SignerTrouble::AnswerLost,
            SignerTrouble::AnswerLost,
            SignerTrouble::Repeated,
            ends,
            ends,
        ];
        let between = *random.choice(&between).expect("a fault");
        (0..random.u8(1..3)).for_each(|_| self.signer().plan.push_back(between));
        self.note(format_args!("between payouts and the signer: {between:?}"));
    }

    pub fn signer_restart(&mut self, random: &mut Rng) {
        self.signer().restart();
        self.counts.count("signer: restarted");
        if random.bool() {
            let off = random.u64(..3_600) * SECOND;
            let now = if random.bool() { self.now + off } else { self.now.saturating_sub(off) };
            self.signer().now = now;
            self.counts.count("signer: clock off");
        }
        self.note("the signer is started anew");
    }

    pub fn store_fault(&mut self, random: &mut Rng) {
        let ends = [FaultKind::EndsBefore, FaultKind::EndsAfter];
        let troubles = [[FaultKind::Full, FaultKind::Locked], ends, ends].concat();
        let (trouble, role) = (*random.choice(&troubles).expect("a fault"), *random.choice(ROLES).expect("a role"));
        // A round of settlement is one commit, and there are few.
        let after = if role == "settlement" { 0 } else { random.u32(..2) };
        self.books.arm(role, trouble, after);
        self.note(format_args!("{trouble:?} at a commit of the {role}, after {after} others"));
    }

    pub fn restart_books(&mut self, how: &str) {
        match how {
            "books: power cut" => self.books.cut_power(),
            _ => self.books.restart(),
        }
        self.forget_memory();
        self.counts.count(how);
        self.note(how);
    }

    pub fn node_fault(&mut self, random: &mut Rng) {
        // Few blocks have logs, so faults of logs are drawn more often.
        let of_logs = [
            NodeFault::LogOmitted,
            NodeFault::LogRemoved,
            NodeFault::WrongBloom,
            NodeFault::WrongLogAmount,
            NodeFault::WrongLogContract,
        ];
        let faults = if random.u8(..5) == 0 { &of_logs[..] } else { NodeFault::ALL };
        let fault = *random.choice(faults).expect("a fault");
        let (node, times) = (random.usize(..NODES), random.u32(1..4));
        self.chain().inject(node, fault, times);
        self.note(format_args!("node {node} will fail: {fault:?}, {times} times"));
    }

    pub fn node_lag(&mut self, random: &mut Rng) {
        let (node, lag) = (random.usize(..NODES), if random.bool() { random.u64(1..5) } else { 0 });
        self.chain().lag(node, lag);
        self.note(format_args!("node {node} is {lag} blocks behind"));
    }

    pub fn node_down(&mut self, random: &mut Rng) {
        let (node, down) = (random.usize(..NODES), random.bool());
        match down {
            true => self.chain().crash(node, random.bool()),
            false => self.chain().restart(node),
        }
        self.note(format_args!("node {node} is {}", if down { "down" } else { "up" }));
    }

    /// A third party has bytes that the signer released, and sends them.
    pub fn leak(&mut self, random: &mut Rng) {
        let known: Vec<Vec<u8>> = self.signer().released.values().map(|released| released.raw.clone()).collect();
        let Some(raw) = random.choice(&known) else { return self.note("the signer has given out nothing yet") };
        let taken = self.chain().send(raw).is_ok();
        self.counts.count("signer: bytes sent by somebody");
        self.note(format_args!("somebody sends bytes of the signer's, {}", if taken { "taken" } else { "refused" }));
    }
}
