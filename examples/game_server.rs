//! A game server with a ledger of its own, in one process: `cargo run --example game_server`.
//!
//! It creates books in a temporary folder, credits a player, lets the player enter the world twice (the second time
//! there is not enough), repeats a request as a server does that lost an answer, and audits the books.

use bankroll_ledger::{
    AccountId, Action, Amount, Asset, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope, Unit,
};
use bankroll_store::{Audit, Ledger, LedgerOptions, Reader};

const COIN: u128 = 1_000_000;

pub fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::create(LedgerOptions::new(folder.path()))?;

    // An asset, and the accounts: what our wallet holds, what the player has, what is in the world.
    let chips = Asset { chain: "play".parse()?, unit: Unit::Native, decimals: 6, symbol: "CHIP".into() };
    let asset = ledger.list_asset(chips)?;
    let names = ["custody/ASSET/hot", "funds/ASSET/alice", "world/ASSET"]
        .map(|name| format!("arena/{}", name.replace("ASSET", &asset.to_string())).parse());
    let opened = ledger.open_accounts(&Principal::System, names.into_iter().collect::<Result<_, _>>()?)?;
    let accounts: Vec<AccountId> = opened.into_iter().collect::<Result<_, _>>()?;
    let (wallet, alice, world) = (accounts[0], accounts[1], accounts[2]);

    // Ten chips arrive. In a deployment the deposits flow does this, once the payment is final on its chain.
    let deposit = request(Principal::Indexer, Namespace::Deposits, "deposit-1", wallet, alice, 10 * COIN);
    ledger.apply(deposit)?.effects()?;

    // Alice enters the world with six chips. When this returns, the transfer is on disk.
    let server = || Principal::GameServer("arena".parse().expect("a legal name"));
    let spawn = || request(server(), Namespace::Client, "spawn-1", alice, world, 6 * COIN);
    let first = ledger.apply(spawn())?;
    println!("spawn-1: {} chips are left", first.effects()?.postings[0].from_after.units() / COIN);

    // The answer was lost, so the server sends the same request again. It has one effect.
    let again = ledger.apply(spawn())?;
    assert!(again.replayed && again.seq == first.seq);
    println!("spawn-1 again: the stored answer, and nothing moved twice");

    // Six more are not there.
    let second = ledger.apply(request(server(), Namespace::Client, "spawn-2", alice, world, 6 * COIN))?;
    println!("spawn-2: {}", second.effects().expect_err("four chips are not enough"));

    // A game server cannot take a player's chips out of the casino.
    let theft = ledger.apply(request(server(), Namespace::Client, "theft-1", alice, wallet, COIN))?;
    println!("theft-1: {}", theft.effects().expect_err("no route leads there"));

    ledger.close();
    let (report, _) = Audit::new(Reader::open(folder.path())?).run(|_| {})?;
    println!("audited: {} records, decided again from the journal alone", report.rows);
    Ok(())
}

/// A transfer of one amount, under the caller's own key.
fn request(by: Principal, keys: Namespace, key: &str, from: AccountId, to: AccountId, amount: u128) -> Request {
    let scope = Scope::Server("arena".parse().expect("a legal name"));
    Request {
        key: IdempotencyKey { namespace: keys, scope, text: key.into() },
        principal: by,
        action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(amount) }]),
        confirmation: None,
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}
