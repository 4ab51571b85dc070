//! What `bankroll chain` prints when it starts: the chain, its accounts, and the next steps.

use bankroll_chains_simulated::{SimulatedChain, contracts};
use bankroll_terminal::{Paint, counted, invocation, thousands};
use serde_json::{Value, json};

use super::ChainArgs;

pub fn json(chain: &SimulatedChain, args: &ChainArgs, url: &str) -> Value {
    json!({
        "event": "started",
        "url": url,
        "chain_id": chain.config().chain_id,
        "genesis": chain.genesis().to_string(),
        "block": chain.head().number(),
        "seed": args.seed,
        "block_seconds": args.block_time,
        "state": args.state,
        "accounts": chain
            .play_keys()
            .iter()
            .map(|key| json!({ "address": key.address().to_string(), "key": key.to_bytes().to_string() }))
            .collect::<Vec<_>>(),
        "contracts": contracts::ALL
            .iter()
            .map(|(name, address, _)| ((*name).to_owned(), json!(address.to_string())))
            .collect::<serde_json::Map<_, _>>(),
    })
}

/// At most 80 columns wide, but for a long name of a file or of this program.
pub fn text(chain: &SimulatedChain, args: &ChainArgs, url: &str) -> String {
    let (paint, me) = (Paint::stdout(), invocation());
    let (id, genesis) = (chain.config().chain_id, chain.genesis());
    let blocks = match args.block_time {
        0 => "on command (evm_mine)".to_owned(),
        seconds => format!("one every {seconds} s"),
    };
    let state = match (&args.state, chain.head().number()) {
        (None, _) => "in memory, lost when it ends; --state FILE keeps it".to_owned(),
        (Some(file), 0) => format!("{} (new)", file.display()),
        (Some(file), height) => format!("{}, with {}", file.display(), counted(height, "block", "blocks")),
    };
    let mut text = format!(
        "Simulated chain at {}\n  id       {id}\n  genesis  {genesis}\n  blocks   {blocks}\n  state    {state}\n\n",
        paint.good(url)
    );
    let keys = chain.play_keys();
    text += &format!("Test accounts, unlocked, {} coins each at the start:\n", thousands(1_000_000));
    for (number, key) in keys.iter().enumerate() {
        text += &format!("  {number}  {}\n", key.address());
    }
    text += "\nTheir keys, which everybody knows:\n";
    for (number, key) in keys.iter().enumerate() {
        text += &format!("  {number}  {}\n", paint.quiet(&key.to_bytes().to_string()));
    }
    text += "\nContracts:\n";
    for (name, address, what) in contracts::ALL {
        text += &format!("  {address}  {name}\n    {}\n", paint.quiet(what));
    }
    text += &format!(
        "\nBooks follow it with this in bankroll.toml, and the signer's address as wallet:\n  [chain]\n  \
         rpc = \"{url}\"\n  id = {id}\n  genesis = \"{genesis}\"\n\n"
    );
    let seed = if args.seed == 1 { String::new() } else { format!(" --seed {}", args.seed) };
    text += &format!(
        "A payment from account 1, in another terminal:\n  {me} chain pay --rpc {url}{seed} \\\n    \
         --from 1 --to ADDRESS --amount 0.01035 --wait 1\n\nCtrl-C ends it.\n"
    );
    text
}
