//! The events of a hand in words. A word may depend on the hand before the event: a raise to 10 is a bet if no player
//! has bet before, and a call has an amount.

use bankroll_poker::{Card, Chips, Hand, HandEvent, MissingParty, Phase, Player, PlayerAction, Seat, VoidCause};

/// An event in words; `before` is the hand that it happened in.
pub fn event_text(event: &HandEvent, before: &Hand) -> String {
    match event {
        HandEvent::HoleCardsDealt => "hole cards dealt".into(),
        HandEvent::Acted { seat, action } => action_text(*seat, *action, before),
        HandEvent::TimedOut { seat } => {
            let instead = match before.legal() {
                None => "mucks",
                Some(legal) if legal.check => "checks",
                Some(_) => "folds",
            };
            format!("{seat} is out of time and {instead}")
        }
        HandEvent::BoardOpened { cards } => format!("board {}", cards_text(cards)),
        HandEvent::Shown { seat, cards } => format!("{seat} shows {}", cards_text(cards)),
        HandEvent::Mucked { seat } => format!("{seat} mucks"),
        HandEvent::ClockRestarted => "the clock starts again".into(),
        HandEvent::Voided { cause } => format!("void: {}", void_text(cause)),
    }
}

fn action_text(seat: Seat, action: PlayerAction, before: &Hand) -> String {
    let reach = before.player(seat).map_or(Chips::ZERO, Player::reach);
    match action {
        PlayerAction::Fold => format!("{seat} folds"),
        PlayerAction::Check => format!("{seat} checks"),
        PlayerAction::Call => {
            let call = before.legal().and_then(|legal| legal.call).unwrap_or(Chips::ZERO);
            let stack = before.player(seat).map_or(Chips::ZERO, |player| player.stack);
            format!("{seat} calls {call}{}", all_in(call == stack))
        }
        PlayerAction::RaiseTo(to) => {
            let is_open = matches!(before.phase(), Phase::Betting(betting) if !betting.bet.is_zero());
            let verb = if is_open { "raises to" } else { "bets" };
            format!("{seat} {verb} {to}{}", all_in(to == reach))
        }
    }
}

const fn all_in(is_all: bool) -> &'static str {
    if is_all { ", all-in" } else { "" }
}

/// Who posted which blind and ante, in the order of acting; `start` is the hand when its cards are dealt.
pub fn posted_text(start: &Hand) -> Vec<String> {
    let players = start.players();
    // Heads-up the button, which is last, posts the small blind.
    let (small, big) = if players.len() == 2 { (1, 0) } else { (0, 1) };
    let ante = |player: &Player| player.total.above(player.committed);
    let antes = players.iter().filter(|player| !ante(player).is_zero());
    let antes = antes.map(|player| format!("{} posts the ante {}{}", player.seat, ante(player), broke(player)));
    let blinds = [(small, "small"), (big, "big")].into_iter().filter_map(|(place, name)| {
        let player = players.get(place).filter(|player| !player.committed.is_zero())?;
        Some(format!("{} posts the {name} blind {}{}", player.seat, player.committed, broke(player)))
    });
    antes.chain(blinds).collect()
}

fn broke(player: &Player) -> &'static str {
    all_in(player.stack.is_zero())
}

pub fn cards_text(cards: &[Card]) -> String {
    cards.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

pub fn void_text(cause: &VoidCause) -> String {
    match cause {
        VoidCause::Missing { who } => format!("missing: {}", MissingParty::list(who)),
        VoidCause::HostEnded => "the host ended the game".into(),
    }
}
