//! The service stays up after the game: what a reader can call, with keys and a token that work.

use std::{fmt::Write, thread, time::Duration};

use bankroll_ledger::AccountKind;
use bankroll_roles::OWNER_KEY_FILE;
use bankroll_store::Reader;
use bankroll_terminal::{self as terminal, Paint, StopSignal};

use super::{
    DemoArgs,
    arena::{Arena, SERVER},
    chain::CHAIN_ID,
    context::GameContext,
    funds::SERVER_KEY_FILE,
    leftovers::Leftovers,
    newest_events::NewestEvents,
    view::EVENT,
};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Says what can be called, shows events as they happen, and waits for Ctrl-C, or until the service cannot go on.
pub fn until_stopped(
    context: &GameContext<'_>,
    reader: &Reader,
    args: &DemoArgs,
    arena: &Arena,
    stop_signal: &StopSignal,
) -> anyhow::Result<()> {
    // A new one: the token of the game may end soon.
    let token = context.session.renew(&context.session.token(), context.over)?;
    terminal::answer(&invitation(context.session.url(), &token, args, arena)?)?;
    let mut events = NewestEvents::from_now(reader);
    while !stop_signal.is_requested() {
        context.notes().iter().for_each(|note| eprintln!("{note}"));
        events.read(reader);
        events.take().iter().for_each(|event| eprintln!("{EVENT}{event}"));
        context.environment.chain.check()?;
        context.service.check()?;
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// What the reader has put into the world goes back, as at the end of a game. If that fails, the next demo does it.
pub fn empty_world(context: &GameContext<'_>, reader: &Reader, arena: &Arena) {
    let emptied = Leftovers::read(reader, arena)
        .and_then(|mut left| left.return_stakes(reader, arena, &context.client(), &format!("{}-up", arena.run)));
    if let Err(error) = emptied {
        eprintln!("note: money stays in the world until the next demo: {error:#}");
    }
}

/// The three lines are for a shell, as they are: each on a line of its own.
fn invitation(url: &str, token: &str, args: &DemoArgs, arena: &Arena) -> Result<String, std::fmt::Error> {
    let (mut text, paint, dir) = (String::new(), Paint::stdout(), args.dir.display());
    let world = arena.account(AccountKind::World, None).to_string().replace('/', "%2F");
    let server = format!("{url}/v1/servers/{SERVER}");
    let curl = format!("curl -sS -H 'Authorization: Bearer {token}'");
    writeln!(text, "\n{}", paint.strong(&format!("the Funds API is up at {url}")))?;
    writeln!(text, "  documentation      {url}/docs")?;
    writeln!(text, "  the owner's key    {dir}/{OWNER_KEY_FILE} (alone: the quorum of the demo is one)")?;
    // What people sign names the chain, and the folder of a demo has no configuration.
    let bankroll = terminal::invocation();
    writeln!(text, "  with that key      BANKROLL__CHAIN__ID={CHAIN_ID} {bankroll} operators list --dir {dir}")?;
    writeln!(text, "  the server's key   {dir}/{SERVER_KEY_FILE}")?;
    writeln!(text, "call it as the game server: itself, its world, and one wei of food in the world")?;
    writeln!(text, "  {curl} {server}")?;
    writeln!(text, "  {curl} {server}/accounts/{world}")?;
    writeln!(
        text,
        "  {curl} -H 'Idempotency-Key: curl-{}' -H 'Content-Type: application/json' -d '{{\"amount\":\"1\"}}' {server}/pellets",
        arena.run
    )?;
    writeln!(text, "end it with Ctrl-C")?;
    Ok(text)
}
