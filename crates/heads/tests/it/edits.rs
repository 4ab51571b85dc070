//! Edited books: no head is signed over them, and one head that a reader kept finds each.

use bankroll_heads::{HeadsError, SignedHead, audit, receipts, views};
use bankroll_ledger::Seq;
use bankroll_store::{Audit, Location};

use crate::world::World;

fn refusal(world: &World) -> HeadsError {
    world.publish().expect_err("nothing is signed over edited books")
}

#[test]
fn nothing_is_signed_once_the_journal_has_another_head() {
    let world = World::new();
    let before = world.published();
    world.give(5);
    world.edit("UPDATE published_heads SET head = x'0000000000000000000000000000000000000000000000000000000000000000'");
    let error = refusal(&world);
    assert!(matches!(error, HeadsError::HeadGone { batch: 2 }), "{error}");
    assert_eq!(
        error.to_string(),
        "the journal does not have the head that was published after batch 2; run `bankroll audit`"
    );
    assert_eq!(world.latest().unwrap().batch, before.batch);
    assert!(matches!(audit::run(&world.reader()), Err(HeadsError::TreeDiffers { .. })), "its signature is broken");
}

#[test]
fn nothing_is_signed_over_a_tree_that_was_edited() {
    let world = World::new();
    world.grow_to(257);
    let head = world.published();
    world.give(5);
    world.edit("UPDATE head_nodes SET hash = x'1100000000000000000000000000000000000000000000000000000000000000'");
    assert!(matches!(refusal(&world), HeadsError::TreeDiffers { batch: 257 }));
    let differs = |error| matches!(error, HeadsError::TreeDiffers { .. });
    assert!(audit::run(&world.reader()).is_err_and(differs));
    assert!(receipts::receipt_under(&world.reader(), Seq(9), &head).is_ok(), "its block is not below that node");
    assert!(receipts::receipt_under(&world.reader(), Seq(259), &head).is_err_and(differs), "no wrong proof is given");
    world.edit("DELETE FROM head_nodes");
    assert!(matches!(refusal(&world), HeadsError::NodeMissing { level: 8, place: 0 }));
}

#[test]
fn nothing_is_signed_over_an_edited_batch() {
    let world = World::new();
    world.published();
    world.grow_to(6);
    world.edit("UPDATE batches SET root = x'2200000000000000000000000000000000000000000000000000000000000000' WHERE number = 5");
    assert!(world.publish().is_err());
    assert_eq!(world.latest().unwrap().batch, 2);
}

/// An editor of the whole database: the same story with another amount, every hash computed anew, the log of the honest
/// books put back.
#[test]
fn books_that_were_written_anew_with_all_their_hashes_are_found_by_one_kept_head() {
    let honest = World::new();
    honest.give(100);
    honest.give(7);
    let kept = honest.published();
    let forged = World::new();
    forged.give(900);
    forged.give(7);
    let theirs = forged.published();
    Audit::new(forged.reader()).run(|_| {}).unwrap();
    assert_eq!(audit::run(&forged.reader()).unwrap(), 1, "by itself it is sound");
    assert_eq!((kept.batch, theirs.batch), (4, 4));
    assert!(!forged.reader().has_head(kept.batch, &kept.head).unwrap());
    forged.give(1);
    let later = forged.published();
    let proof = views::consistency_of(&forged.reader(), &kept, &later);
    assert!(matches!(proof, Err(HeadsError::TreeDiffers { .. })), "{proof:?}");
    // With the honest row in place of its own, it signs nothing more.
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let SignedHead { head, root, signature, .. } = &kept;
    let (head, root, signature) = (hex(head), hex(root), hex(&signature.0));
    forged.edit(&format!(
        "DELETE FROM published_heads WHERE batch = 5;
         UPDATE published_heads SET head = x'{head}', root = x'{root}', signature = x'{signature}' WHERE batch = 4"
    ));
    assert!(matches!(refusal(&forged), HeadsError::HeadGone { batch: 4 }));
    assert!(matches!(audit::run(&forged.reader()), Err(HeadsError::HeadGone { batch: 4 })));
}

#[test]
fn an_older_copy_of_the_books_does_not_have_a_later_head() {
    let mut world = World::new();
    let Location::Folder(_) = world.location() else { return };
    world.published();
    world.close();
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(world.folder().join("books.db"), copy.path().join("books.db")).unwrap();
    world.restart();
    world.give(5);
    let kept = world.published();
    let old = bankroll_store::Reader::open(copy.path()).unwrap();
    Audit::new(bankroll_store::Reader::open(copy.path()).unwrap()).run(|_| {}).unwrap();
    assert!(!old.has_head(kept.batch, &kept.head).unwrap());
    assert_eq!(views::at(&old, kept.batch).unwrap(), None);
}
