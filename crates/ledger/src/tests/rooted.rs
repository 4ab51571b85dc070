//! Receipts under a root over heads: names from proven bytes, and forgeries that prove nothing.

use std::convert::Infallible;

use super::story::Story;
use crate::{
    Batch, GENESIS, NamedReceipt, Receipt, Record, RootedReceipt, Seq, Time,
    merkle::{self, Hash, Subtree, proofs},
};

/// A journal in batches of two records, and the tree over their heads.
struct Published {
    records: Vec<Vec<u8>>,
    batches: Vec<Batch>,
}

impl Published {
    fn new() -> Self {
        let mut story = Story::new();
        story.run(
            "deposit d1 100 -> alice
             k1 game_server: move alice -> world 60  applied
             k2 game_server: move alice -> world 60  insufficient_funds",
        );
        let records: Vec<Vec<u8>> = story.journal.iter().map(|(_, record)| record.encode()).collect();
        let (mut batches, mut previous) = (Vec::new(), GENESIS);
        for (place, pair) in records.chunks(2).enumerate() {
            let root = merkle::root(&pair.iter().map(|record| merkle::leaf(record)).collect::<Vec<_>>());
            let (number, first) = (place as u64 + 1, Seq(place as u64 * 2 + 1));
            let batch = Batch { number, first, count: pair.len() as u32, at: Time(number), root, previous };
            previous = batch.head();
            batches.push(batch);
        }
        Self { records, batches }
    }

    fn leaves(&self) -> Vec<Hash> {
        self.batches.iter().map(|batch| merkle::leaf(&batch.head())).collect()
    }

    fn root(&self, batches: u64) -> Hash {
        merkle::root(&self.leaves()[..batches as usize])
    }

    fn receipt(&self, place: usize, under: u64) -> RootedReceipt {
        let batch = self.batches[place / 2];
        let first = place / 2 * 2;
        let records = &self.records[first..(first + 2).min(self.records.len())];
        let receipt = Receipt::new(batch, records, Seq(place as u64 + 1)).unwrap();
        let leaves = self.leaves();
        let subtree = |Subtree { level, index }| {
            let width = 1 << level;
            Ok::<_, Infallible>(merkle::root(&leaves[index as usize * width..(index as usize + 1) * width]))
        };
        let path = proofs::inclusion(batch.number - 1, under, subtree).unwrap().unwrap();
        RootedReceipt { receipt, path }
    }

    fn decoded(&self, place: usize) -> Record {
        Record::decode(&self.records[place]).unwrap()
    }

    /// The places of the openings of the accounts that the record mentions.
    fn openings(&self, place: usize) -> Vec<usize> {
        let mentioned = self.decoded(place).accounts();
        let opens =
            |other: &usize| matches!(self.decoded(*other), Record::AccountOpened { id, .. } if mentioned.contains(&id));
        (0..self.records.len()).filter(opens).collect()
    }

    fn named(&self, place: usize, under: u64) -> NamedReceipt {
        let openings = self.openings(place).into_iter().map(|one| self.receipt(one, under)).collect();
        NamedReceipt { record: self.receipt(place, under), openings }
    }

    fn last(&self) -> usize {
        self.records.len() - 1
    }
}

#[test]
fn a_record_is_proven_under_every_later_root_with_the_names_of_its_accounts() {
    let journal = Published::new();
    let all = journal.batches.len() as u64;
    for place in 0..journal.records.len() {
        for under in journal.batches[place / 2].number..=all {
            let named = journal.named(place, under);
            assert!(named.proves_under(under, &journal.root(under)), "record {place} under {under}");
            let names = named.names().unwrap();
            assert_eq!(
                names.keys().copied().collect::<Vec<_>>(),
                journal.decoded(place).accounts().into_iter().collect::<Vec<_>>()
            );
        }
    }
    let names = journal.named(journal.last(), all).names().unwrap();
    let names: Vec<String> = names.values().map(ToString::to_string).collect();
    assert_eq!(names, ["arena/world/1", "arena/funds/1/alice"], "a rejected request names its accounts, too");
}

#[test]
fn another_root_another_size_and_every_edit_prove_nothing() {
    let journal = Published::new();
    let all = journal.batches.len() as u64;
    let (sound, root) = (journal.named(journal.last(), all), journal.root(all));
    assert!(!sound.proves_under(all, &journal.root(all - 1)));
    assert!(!sound.proves_under(all - 1, &journal.root(all - 1)), "the batch is not in it");
    assert!(!sound.proves_under(all + 1, &root));
    let refused = |edit: &dyn Fn(&mut NamedReceipt)| {
        let mut edited = sound.clone();
        edit(&mut edited);
        assert_ne!(edited, sound);
        !edited.proves_under(all, &root)
    };
    assert!(refused(&|one| one.record.path.push([0; 32])));
    assert!(refused(&|one| one.record.path.truncate(one.record.path.len() - 1)));
    assert!(refused(&|one| one.record.path[0][0] ^= 1));
    assert!(refused(&|one| one.record.receipt.record[9] ^= 1));
    assert!(refused(&|one| one.record.receipt.batch.number = 0));
    assert!(refused(&|one| one.record.receipt.batch.at = Time(0)));
    assert!(refused(&|one| one.record.receipt.seq = Seq(1)));
    assert!(refused(&|one| one.openings[0].receipt.record[5] ^= 1));
    assert!(refused(&|one| one.openings[1].path.clear()));
    assert!(refused(&|one| one.record.path = one.openings[0].path.clone()));
}

#[test]
fn names_come_from_the_openings_of_exactly_the_mentioned_accounts() {
    let journal = Published::new();
    let all = journal.batches.len() as u64;
    let sound = journal.named(journal.last(), all);
    let names = |edit: &dyn Fn(&mut NamedReceipt)| {
        let mut edited = sound.clone();
        edit(&mut edited);
        edited.names()
    };
    assert!(names(&|_| {}).is_some());
    assert_eq!(names(&|one| drop(one.openings.pop())), None, "one is missing");
    assert_eq!(names(&|one| one.openings.push(one.openings[0].clone())), None, "one is there twice");
    assert_eq!(names(&|one| one.openings[0] = one.record.clone()), None, "one opens no account");
    let others = |place: &usize| matches!(journal.decoded(*place), Record::AccountOpened { .. });
    let foreign =
        (0..journal.records.len()).filter(others).find(|place| !journal.openings(journal.last()).contains(place));
    let foreign = journal.receipt(foreign.unwrap(), all);
    assert_eq!(names(&|one| one.openings[0] = foreign.clone()), None, "one is of another account");
    assert_eq!(names(&|one| one.openings.push(foreign.clone())), None, "one too many");
}
