//! Files that are not sound: who is responsible for what.

use bankroll_poker::{
    Chips, Seat,
    log::{
        ActionEnvelope, Actor, Bundle, BundleDefect, BundleError, Bytes, ChainLink, Checkpoint, EnvelopeHeader,
        EventReceipt, LogMessage, MessageKind, MessageRejection, MessageSigner,
        bundle::{BundleEntry, MAGIC},
        event_id, merkle,
    },
};

use super::test_table::{TestTable, checked_down};

/// What a dishonest operator publishes: events of its choice, with receipts and a checkpoint that fit them.
pub fn forged(
    bundle: &Bundle,
    envelopes: Vec<Vec<u8>>,
    operator: &MessageSigner,
    change: impl Fn(&mut Checkpoint),
) -> Bundle {
    let LogMessage::HandStart(config) = ActionEnvelope::decode(&envelopes[0]).unwrap().message else { panic!() };
    let (mut head, mut entries, mut ids) = (config.hash(), Vec::new(), Vec::new());
    let mut at = bundle.entries[0].receipt.link.at;
    for (bytes, seq) in envelopes.into_iter().zip(0..) {
        let same = bundle.entries.iter().find(|entry| entry.envelope.0 == bytes);
        at = same.map_or(at, |entry| entry.receipt.link.at);
        let link = ChainLink::next(&config, seq, event_id(&bytes), head, at);
        head = link.chain;
        ids.push(link.event);
        entries.push(BundleEntry { envelope: Bytes(bytes), receipt: EventReceipt::issue(link, operator) });
    }
    let mut checkpoint = bundle.checkpoint.clone();
    (checkpoint.page.events, checkpoint.page.root, checkpoint.page.chain) =
        (ids.len() as u64, merkle::root(&ids), head);
    change(&mut checkpoint);
    let checkpoint = Checkpoint::issue(checkpoint.page, operator);
    Bundle { entries, checkpoint, cosignatures: Vec::new() }
}

fn envelopes(bundle: &Bundle) -> Vec<Vec<u8>> {
    bundle.entries.iter().map(|entry| entry.envelope.0.clone()).collect()
}

/// The last message of this kind, changed and signed by its author.
fn said_otherwise(
    table: &TestTable,
    bundle: &Bundle,
    kind: MessageKind,
    change: impl Fn(&mut EnvelopeHeader, &mut LogMessage),
) -> (u64, Actor, Bundle) {
    let mut all = envelopes(bundle);
    let of_kind = |bytes: &Vec<u8>| ActionEnvelope::decode(bytes).unwrap().header.kind == kind;
    let place = all.iter().rposition(of_kind).unwrap();
    let ActionEnvelope { mut header, mut message, .. } = ActionEnvelope::decode(&all[place]).unwrap();
    change(&mut header, &mut message);
    let actor = header.actor;
    let signer = if actor == Actor::Operator { &table.operator } else { table.signer(actor) };
    all[place] = ActionEnvelope::sign(header, message, signer).encode();
    (place as u64, actor, forged(bundle, all, &table.operator, |_| ()))
}

#[test]
fn an_unproven_share_is_named_with_its_author() {
    let (table, bundle) = checked_down(61);
    // The shares of two cards under each other's place: points and proofs, but not of these cards.
    let (seq, author, bad) = said_otherwise(&table, &bundle, MessageKind::Showdown, |_, message| {
        let LogMessage::Showdown(showdown) = message else { panic!() };
        showdown.shares.reverse();
    });
    let fault = bad.verify(None).unwrap_err();
    assert_eq!((fault.seq, fault.author, fault.responsible), (Some(seq), author, author));
    assert!(matches!(author, Actor::Seat(_)));
    assert!(matches!(fault.defect, BundleDefect::Rejected(MessageRejection::Card(_))), "{fault}");
    let (seq, author, bad) = said_otherwise(&table, &bundle, MessageKind::Community, |_, message| {
        let LogMessage::Community(share) = message else { panic!() };
        let last = share.share.0.len() - 1;
        share.share.0[last - 31] ^= 1;
    });
    let fault = bad.verify(None).unwrap_err();
    assert_eq!((fault.seq, fault.author), (Some(seq), Actor::Shuffler(0)));
    assert_eq!(author, Actor::Shuffler(0));
    assert!(fault.to_string().starts_with(&format!("event {seq}: ")), "{fault}");
    assert!(fault.to_string().ends_with("(shuffler 1 is responsible)"), "{fault}");
}

#[test]
fn the_operator_is_responsible_for_a_false_settlement() {
    let (table, bundle) = checked_down(62);
    let (seq, author, bad) = said_otherwise(&table, &bundle, MessageKind::Settlement, |_, message| {
        let LogMessage::Settlement { stacks, rake } = message else { panic!() };
        stacks[0].1 = stacks[0].1.checked_sub(Chips::new(1)).unwrap();
        *rake = rake.checked_add(Chips::new(1)).unwrap();
    });
    let fault = bad.verify(None).unwrap_err();
    assert_eq!((fault.seq, fault.author, author), (Some(seq), Actor::Operator, Actor::Operator));
    assert_eq!(fault.defect, BundleDefect::Rejected(MessageRejection::WrongSettlement));
    // True events under a checkpoint with another state.
    let bad = forged(&bundle, envelopes(&bundle), &table.operator, |checkpoint| checkpoint.page.rake = Chips::new(9));
    let fault = bad.verify(None).unwrap_err();
    assert_eq!((fault.seq, fault.author, fault.defect), (None, Actor::Operator, BundleDefect::State));
}

#[test]
fn events_left_out_doubled_or_swapped_are_noticed_whatever_the_operator_signs() {
    let (table, bundle) = checked_down(63);
    let all = envelopes(&bundle);
    for place in 1..all.len() {
        let mut without = all.clone();
        without.remove(place);
        let fault = forged(&bundle, without, &table.operator, |_| ()).verify(None).unwrap_err();
        assert!(fault.seq.is_none_or(|seq| seq >= place as u64), "{place}: {fault}");
        assert_eq!(fault.responsible, Actor::Operator, "{place}: {fault}");
        let mut twice = all.clone();
        twice.insert(place, all[place].clone());
        let fault = forged(&bundle, twice, &table.operator, |_| ()).verify(None).unwrap_err();
        assert_eq!((fault.seq, fault.responsible), (Some(place as u64 + 1), Actor::Operator), "{fault}");
    }
    let mut cut = all.clone();
    cut.pop();
    let fault = forged(&bundle, cut, &table.operator, |_| ()).verify(None).unwrap_err();
    assert_eq!(fault.defect, BundleDefect::Unsettled);
}

#[test]
fn the_operator_is_responsible_for_an_unsigned_message() {
    let (table, bundle) = checked_down(64);
    let mut all = envelopes(&bundle);
    let place = all.len() - 2;
    let ActionEnvelope { header, message, .. } = ActionEnvelope::decode(&all[place]).unwrap();
    let actor = header.actor;
    all[place] = ActionEnvelope::sign(header, message, &table.operator).encode();
    let fault = forged(&bundle, all, &table.operator, |_| ()).verify(None).unwrap_err();
    assert_eq!((fault.seq, fault.author), (Some(place as u64), Actor::Operator));
    assert_eq!(fault.defect, BundleDefect::Rejected(MessageRejection::BadSignature { actor }));
}

#[test]
fn receipts_checkpoint_and_agreements_are_the_right_ones() {
    let (mut table, bundle) = checked_down(65);
    let stranger = MessageSigner::generate(&mut table.rng);
    assert_eq!(bundle.verify(Some(&stranger.key())).unwrap_err().defect, BundleDefect::Operator);
    bundle.verify(Some(&table.operator.key())).unwrap();
    let fault = |change: &dyn Fn(&mut Bundle)| {
        let mut changed = bundle.clone();
        change(&mut changed);
        changed.verify(None).unwrap_err()
    };
    let wrong = fault(&|bundle| bundle.entries.swap(4, 5));
    assert_eq!((wrong.seq, wrong.defect), (Some(4), BundleDefect::Chain));
    let wrong = fault(&|bundle| bundle.entries[5].receipt.link.at.0 += 1);
    assert_eq!((wrong.seq, wrong.defect), (Some(5), BundleDefect::Receipt));
    assert_eq!(fault(&|bundle| bundle.entries.clear()).defect, BundleDefect::Empty);
    assert_eq!(fault(&|bundle| bundle.checkpoint.page.rake = Chips::new(7)).defect, BundleDefect::Checkpoint);
    let seat = bundle.cosignatures[0].seat;
    assert_eq!(
        fault(&|bundle| bundle.checkpoint = Checkpoint::issue(bundle.checkpoint.page.clone(), &stranger)).defect,
        BundleDefect::Checkpoint
    );
    let swap = |bundle: &mut Bundle| {
        let [first, second] = &mut bundle.cosignatures[..] else { panic!() };
        std::mem::swap(&mut first.signature, &mut second.signature);
    };
    assert_eq!(fault(&swap).defect, BundleDefect::Cosignature { seat });
    let twice = |bundle: &mut Bundle| bundle.cosignatures.insert(0, bundle.cosignatures[0].clone());
    assert_eq!(fault(&twice).defect, BundleDefect::Cosignature { seat: Seat(1) });
}

#[test]
fn a_file_names_itself_and_its_version() {
    let (_, bundle) = checked_down(66);
    let bytes = bundle.encode();
    assert_eq!(&bytes[..16], b"bankroll hand\0\x01\0");
    assert_eq!(Bundle::decode(&bytes).unwrap(), bundle);
    assert_eq!(Bundle::decode(b"bankroll hand\0\x02\0").unwrap_err(), BundleError::Magic);
    assert_eq!(Bundle::decode(b"").unwrap_err(), BundleError::Magic);
    assert!(matches!(Bundle::decode(&MAGIC).unwrap_err(), BundleError::Bytes(_)));
    assert!(matches!(Bundle::decode(&[bytes.as_slice(), &[0]].concat()).unwrap_err(), BundleError::Bytes(_)));
}
