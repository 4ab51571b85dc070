//! Measures signing, repeating and opening on the disk of this folder:
//! `cargo run -p bankroll-signer --example rate -- 8000`.

use std::time::Instant;

use bankroll_money::{Amount, Time};
use bankroll_orders::{
    Address, ChainId, Gas, IntentId, Meaning, MemoryId, Order, OrderId, Price, SignerAnswer, SignerRequest, Slot,
};
use bankroll_signer::{
    LocalKey, Memory, Signer, SigningPolicy,
    policy::{ChainRules, GasPricing, SigningLimits},
};
use zeroize::Zeroizing;

fn main() -> anyhow::Result<()> {
    let orders: u64 = std::env::args().nth(1).map_or(Ok(5_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let key = || LocalKey::from_bytes(&Zeroizing::new([0x42; 32]));
    let (wallet, chain, most) = (key()?.address(), ChainId(31337), Amount::MAX);
    let limits = SigningLimits { per_payout: most, per_window: most };
    let rules = ChainRules {
        manner: GasPricing::Eip1559,
        max_price: 1_000,
        max_priority: 1_000,
        max_gas: 100_000,
        fees_per_window: most,
        native: Some(limits),
        tokens: [].into(),
    };
    let policy = SigningPolicy { window: 86_400_000_000, wallets: [wallet].into(), chains: [(chain, rules)].into() };
    let memory = Memory::create(&path, MemoryId([1; 16]), &[wallet], Time(0))?;
    let mut signer = Signer::new(policy, vec![key()?], memory)?;
    // Ten seconds between two orders: a day's window holds 8,640 of them.
    let mut ask = |number: u64| -> anyhow::Result<()> {
        let order = Order {
            id: OrderId(format!("order-{number}").parse()?),
            intent: IntentId(format!("wd-{number}").parse()?),
            slot: Slot { chain, wallet, nonce: number },
            meaning: Meaning::NativePayout { to: Address([7; 20]), amount: Amount::new(1) },
            gas: Gas { limit: 21_000, price: Price::Dynamic { max: 100, priority: 10 } },
            expires: Time(u64::MAX),
        };
        let head = key()?.seal(signer.memory().head());
        let request = SignerRequest::Sign { order, approvals: vec![], head };
        anyhow::ensure!(matches!(signer.handle(&request, Time(number * 10_000_000)), SignerAnswer::Signed(_)));
        Ok(())
    };
    for what in ["signed", "repeated"] {
        let began = Instant::now();
        (0..orders).try_for_each(&mut ask)?;
        println!("{what} {orders}: {:.3} ms each", began.elapsed().as_secs_f64() * 1e3 / orders as f64);
    }
    signer.close()?;
    let began = Instant::now();
    let memory = Memory::open(&path)?;
    let (entries, seconds) = (memory.head().count, began.elapsed().as_secs_f64());
    println!("opened and verified {entries} entries in {seconds:.2} s ({} bytes)", std::fs::metadata(&path)?.len());
    Ok(())
}
