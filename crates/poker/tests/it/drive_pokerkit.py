"""PokerKit as an independent referee, driven over pipes: one hand a line, as JSON.

It receives the decisions and the cards, plays the same hand, and answers what it saw at each step. It judges
nothing: the Rust side compares, and knows the few points in which the two are known to differ.
"""

import json
import sys
import warnings
from importlib.metadata import version

from pokerkit import Automation, Card, HandHistory, Mode, NoLimitTexasHoldem, StandardHighHand

warnings.simplefilter('ignore')

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.RUNOUT_COUNT_SELECTION,
    Automation.HAND_KILLING,
    Automation.CHIPS_PULLING,
)


evaluate = StandardHighHand.from_game
evaluated = {}


def remembering(cls, hole_cards, board_cards=()):
    """PokerKit evaluates the same hand dozens of times at a showdown; each is worked out once."""
    key = tuple(Card.clean(hole_cards)), tuple(Card.clean(board_cards))
    if key not in evaluated:
        evaluated[key] = evaluate(*key)
    return evaluated[key]


StandardHighHand.from_game = classmethod(remembering)


def decision(state):
    """What the seat to act may do."""
    return {
        'actor': state.actor_index,
        'fold': state.can_fold(),
        'call': state.checking_or_calling_amount,
        'least': state.min_completion_betting_or_raising_to_amount,
        'most': state.max_completion_betting_or_raising_to_amount,
        'middle': state.total_pot_amount,
        'completion': state.completion_betting_or_raising_amount,
        'short_all_ins': sum(state.consecutive_short_all_in_amounts),
        'acted': state.actor_index in state.acted_player_indices,
    }


def pass_over_empty_checks(state):
    """Lets a seat check that could do nothing else. Such a check decides nothing, and our rules do not ask for it."""
    while (
        state.actor_index is not None
        and state.checking_or_calling_amount == 0
        and state.min_completion_betting_or_raising_to_amount is None
    ):
        state.check_or_call()


def pots_of(state):
    return [[pot.amount, list(pot.player_indices)] for pot in state.pots]


def pay_by_hand(stacks, pots, contenders, hole, board):
    """Pays each pot to PokerKit's best hands in it, odd chips one by one. Also returns whether there were odd chips."""
    stacks, odd = list(stacks), False
    for amount, eligible in pots:
        hands = {i: StandardHighHand.from_game(hole[i], board) for i in eligible if i in contenders}
        best = max(hands.values())
        winners = [i for i in eligible if hands.get(i) == best]
        share, rest = divmod(amount, len(winners))
        odd = odd or rest > 0
        for place, i in enumerate(winners):
            stacks[i] += share + (place < rest)
    return stacks, odd


def play(hand):
    count = len(hand['stacks'])
    game = NoLimitTexasHoldem(
        AUTOMATIONS,
        True,
        hand['ante'],
        (hand['small'], hand['big']),
        hand['big'],
        mode=Mode.TOURNAMENT if hand['tournament'] else Mode.CASH_GAME,
    )
    state = game(tuple(hand['stacks']), count)
    hole = [tuple(Card.parse(cards)) for cards in hand['hole']]
    for _ in range(2):
        for i in range(count):
            if state.can_deal_hole():
                state.deal_hole(hole[i][len(state.hole_cards[i])], i)
    decisions, shows, pots, before = [], [], None, None
    for step in hand['steps']:
        kind = step[0]
        if kind in ('f', 'cc', 'cbr'):
            pass_over_empty_checks(state)
            decisions.append(decision(state))
            try:
                if kind == 'f':
                    state.fold()
                elif kind == 'cc':
                    state.check_or_call()
                else:
                    state.complete_bet_or_raise_to(step[1])
            except ValueError as error:
                return {'decisions': decisions, 'refused': str(error)}
        else:
            pass_over_empty_checks(state)
            if pots is None and state.showdown_indices:
                pots, before = pots_of(state), list(state.stacks)
            if kind == 'board':
                while state.showdown_indices:
                    state.show_or_muck_hole_cards(True)
                state.burn_card('??')
                state.deal_board(step[1])
            elif step[1] in state.showdown_indices:
                shows.append(state.showdown_index)
                state.show_or_muck_hole_cards(kind == 'show', step[1])
    pass_over_empty_checks(state)
    while state.showdown_indices:
        state.show_or_muck_hole_cards(True)
    folded_out = state.folded_status
    paid, odd = None, False
    if not folded_out:
        contenders = {i for i in range(count) if i not in hand['mucked']}
        board = tuple(state.get_board_cards(0))
        paid, odd = pay_by_hand(before, pots, contenders, hole, board)
    while state.can_push_chips():
        state.push_chips()
    assert not state.status, 'the hand is not over'
    answer = {'decisions': decisions, 'shows': shows, 'pots': pots, 'final': list(state.stacks), 'paid': paid, 'odd': odd}
    if hand.get('phh'):
        answer['phh'] = HandHistory.from_game_state(game, state, ante_trimming_status=True).dumps()
    return answer


def read_phh(text):
    for state in HandHistory.loads(text):
        pass
    return {'final': list(state.stacks), 'over': not state.status}


def main():
    print(json.dumps({'pokerkit': version('pokerkit')}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        evaluated.clear()
        try:
            answer = read_phh(order['read']) if 'read' in order else play(order)
        except Exception as error:
            answer = {'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(answer), flush=True)


main()
