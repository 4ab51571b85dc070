//! The tier of every crate, and the few crates that some dependencies are kept to.

/// Lower first: the derived order is the order in which crates may build on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Decides; touches no disk, network, clock or thread.
    Pure,
    /// Speaks to one outside thing: a file, a cache, a chain.
    Infra,
    /// Carries one business flow through, by the decisions of the pure crates and the hands of the infra crates.
    Flow,
    /// Starts, stops and wires the others.
    Process,
    /// Holds the worlds tests run in. Nothing shipped may depend on it.
    Tests,
    /// Commands for developers, outside the product.
    Tooling,
}

/// A name that ends in `*` stands for every crate that begins so.
const TIERS: &[(&str, Tier)] = &[
    ("bankroll-money", Tier::Pure),
    ("bankroll-input", Tier::Pure),
    ("bankroll-ledger", Tier::Pure),
    ("bankroll-deck", Tier::Pure),
    ("bankroll-orders", Tier::Pure),
    ("bankroll-operators", Tier::Pure),
    ("bankroll-poker", Tier::Pure),
    // Bytes in, bytes out: no IO, no clock. Clients of chains reach it as they reach any node, in tests and in the demo.
    ("bankroll-chains-simulated", Tier::Pure),
    ("bankroll-store", Tier::Infra),
    ("bankroll-nodes", Tier::Infra),
    ("bankroll-signer-client", Tier::Infra),
    ("bankroll-hot-accounts", Tier::Infra),
    ("bankroll-chains*", Tier::Infra),
    ("bankroll-terminal", Tier::Infra),
    ("bankroll-registry", Tier::Flow),
    ("bankroll-heads", Tier::Flow),
    ("bankroll-notify", Tier::Flow),
    ("bankroll-alerts", Tier::Flow),
    ("bankroll-deposits", Tier::Flow),
    ("bankroll-spawns", Tier::Flow),
    ("bankroll-withdrawals", Tier::Flow),
    ("bankroll-tables", Tier::Flow),
    (SIGNER, Tier::Process),
    ("bankroll-api", Tier::Process),
    ("bankroll-roles", Tier::Process),
    ("bankroll-demo", Tier::Process),
    ("bankroll-bench", Tier::Process),
    ("bankroll", Tier::Process),
    ("bankroll-testkit", Tier::Tests),
    ("xtask", Tier::Tooling),
];

/// Runs next to the keys, so it is held to less than its tier allows: pure crates only.
pub const SIGNER: &str = "bankroll-signer";

/// What pure crates may take from outside, and why each can not make a decision depend on the machine.
pub const PURE_DEPENDENCIES: &[(&str, &str)] = &[
    ("alloy-consensus", "forms and hashes of transactions, blocks and receipts"),
    ("alloy-eips", "rules of fees and encodings"),
    ("alloy-primitives", "numbers, addresses, Keccak"),
    ("alloy-sol-types", "typed data that wallets sign: forms and digests"),
    ("ark-bn254", "a group of prime order, arithmetic only"),
    ("ark-ec", "arithmetic of groups"),
    ("ark-ff", "arithmetic of fields"),
    ("ark-grumpkin", "a group of prime order, arithmetic only"),
    ("ark-secp256k1", "a group of prime order, arithmetic only"),
    ("ark-serialize", "bytes of points and scalars, the same on every machine"),
    ("coins-bip32", "derivation of keys, a function of key and path"),
    ("hex", "text of bytes"),
    ("k256", "signatures, a function of key and message"),
    ("merlin", "challenges of proofs, a function of what is proven"),
    ("postcard", "bytes of a record, the same on every machine"),
    ("rand_core", "traits only: the caller brings the randomness"),
    ("serde", "derives only"),
    ("serde_json", "JSON; text in, values out"),
    ("sha2", "the hash chain"),
    ("sha3", "points that no party chose, checksums of addresses"),
    ("smallvec", "a decision without an allocation"),
    ("thiserror", "derives only"),
    ("toml", "hand histories are TOML; text in, values out"),
    ("zeroize", "forgets secrets"),
];

pub const SQLITE: &str = "rusqlite";

/// Who may name SQLite, and why. Everyone else goes through the store.
pub const SQLITE_CRATES: &[(&str, &str)] = &[
    ("bankroll-store", "it is the ledger of record on disk"),
    (SIGNER, "its memory of what it signed is its own file"),
    ("bankroll", "its doctor inspects files the store made"),
    ("bankroll-bench", "measures SQLite alone, beside the books"),
    ("bankroll-testkit", "damages and compares files"),
];

pub fn tier_of(name: &str) -> Option<Tier> {
    let names = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    TIERS.iter().find(|(pattern, _)| names(pattern)).map(|(_, tier)| *tier)
}
