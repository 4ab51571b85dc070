//! The chain of batches, and receipts that can be verified without the ledger.

use super::story::Story;
use crate::{
    Batch, GENESIS, Receipt, Record, Seq, Time,
    merkle::{self, Hash},
};

/// The records of a story, as a journal stores them.
fn records() -> Vec<Vec<u8>> {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60  applied
         k2 game_server: move alice -> world 60  insufficient_funds",
    );
    story.journal.iter().map(|(_, record)| record.encode()).collect()
}

/// The journal in batches of these sizes.
fn batches(records: &[Vec<u8>], sizes: &[usize]) -> Vec<Batch> {
    let (mut batches, mut first, mut previous) = (Vec::new(), 0, GENESIS);
    for (number, size) in (1..).zip(sizes) {
        let leaves: Vec<Hash> = records[first..first + size].iter().map(|record| merkle::leaf(record)).collect();
        let (count, root) = (*size as u32, merkle::root(&leaves));
        let batch = Batch { number, first: Seq(first as u64 + 1), count, at: Time(number * 1_000), root, previous };
        previous = batch.head();
        first += size;
        batches.push(batch);
    }
    batches
}

fn hex(hash: Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `printf 'bankroll batch 1\0'`, then 8 + 8 + 4 + 8 bytes of numbers, root and previous head, through `sha256sum`.
#[test]
fn the_head_of_a_batch_never_changes() {
    let batch = Batch { number: 1, first: Seq(2), count: 3, at: Time(4), root: [5; 32], previous: [6; 32] };
    assert_eq!(hex(batch.head()), "c8359f3fba957c873453037a43cf6b352bcfbedecdddeb4c262c808f7d147ca4");
}

#[test]
fn every_part_of_a_batch_is_in_its_head() {
    let batch = Batch { number: 1, first: Seq(1), count: 1, at: Time(1), root: [0; 32], previous: GENESIS };
    let others = [
        Batch { number: 2, ..batch },
        Batch { first: Seq(2), ..batch },
        Batch { count: 2, ..batch },
        Batch { at: Time(2), ..batch },
        Batch { root: [1; 32], ..batch },
        Batch { previous: [1; 32], ..batch },
    ];
    assert!(others.iter().all(|other| other.head() != batch.head()));
}

#[test]
fn a_change_in_the_past_changes_every_head_after_it() {
    let mut records = records();
    let sizes = [2, 3, 1, 4];
    let before = batches(&records, &sizes);
    records[3].push(0);
    let after = batches(&records, &sizes);
    let unchanged: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before.head() == after.head()).collect();
    assert_eq!(unchanged, [true, false, false, false]);
    assert_eq!(after[2].root, before[2].root, "its own records are as they were");
}

#[test]
fn every_record_of_the_journal_has_a_receipt() {
    let records = records();
    assert_eq!(records.len(), 13);
    for sizes in [&[13][..], &[1; 13], &[2, 3, 1, 7]] {
        for batch in batches(&records, sizes) {
            let (first, end) = (batch.first.0 as usize - 1, batch.first.0 as usize - 1 + batch.count as usize);
            let of_batch = &records[first..end];
            for (seq, record) in (batch.first.0..).map(Seq).zip(of_batch) {
                let receipt = Receipt::new(batch, of_batch, seq).unwrap();
                assert!(receipt.proves_under(&batch.head()));
                assert_eq!(&receipt.record, record);
                assert!(Record::decode(&receipt.record).is_ok());
            }
            assert_eq!(Receipt::new(batch, of_batch, Seq(batch.first.0 - 1)), None);
            assert_eq!(Receipt::new(batch, of_batch, Seq(end as u64 + 1)), None);
        }
    }
}

/// The receipt of the eleventh record, the last of a batch of seven, and the head under which it holds.
fn receipt() -> (Receipt, Hash) {
    let records = records();
    let batch = batches(&records, &[6, 7])[1];
    (Receipt::new(batch, &records[6..], Seq(11)).unwrap(), batch.head())
}

#[test]
fn a_receipt_survives_its_encoding() {
    let (receipt, head) = receipt();
    let json = serde_json::to_string(&receipt).unwrap();
    let back: Receipt = serde_json::from_str(&json).unwrap();
    assert_eq!(back, receipt);
    assert!(back.proves_under(&head));
}

#[test]
fn a_receipt_holds_only_under_its_own_head() {
    let (receipt, head) = receipt();
    assert!(!receipt.proves_under(&GENESIS));
    assert!(!receipt.proves_under(&receipt.batch.previous));
    for place in 0..32 {
        let mut other = head;
        other[place] ^= 1;
        assert!(!receipt.proves_under(&other));
    }
}

#[test]
fn any_changed_byte_of_the_record_is_detected() {
    let (receipt, head) = receipt();
    for place in 0..receipt.record.len() {
        let mut forged = receipt.clone();
        forged.record[place] ^= 1;
        assert!(!forged.proves_under(&head), "byte {place}");
        forged.record.truncate(place);
        assert!(!forged.proves_under(&head), "cut to {place} bytes");
    }
    let mut forged = receipt.clone();
    forged.record.push(0);
    assert!(!forged.proves_under(&head));
}

#[test]
fn any_changed_byte_of_the_path_is_detected() {
    let (receipt, head) = receipt();
    for place in 0..receipt.siblings.len() * 32 {
        let mut forged = receipt.clone();
        forged.siblings[place / 32][place % 32] ^= 0x80;
        assert!(!forged.proves_under(&head), "byte {place}");
    }
    for place in 0..receipt.siblings.len() {
        let mut forged = receipt.clone();
        forged.siblings.remove(place);
        assert!(!forged.proves_under(&head), "without sibling {place}");
        forged = receipt.clone();
        forged.siblings.insert(place, [0; 32]);
        assert!(!forged.proves_under(&head), "one more at {place}");
    }
}

#[test]
fn any_changed_byte_of_the_batch_or_the_position_is_detected() {
    let (receipt, head) = receipt();
    let bytes = postcard::to_stdvec(&receipt).unwrap();
    let batch = postcard::to_stdvec(&receipt.batch).unwrap();
    assert!(bytes.ends_with(&batch));
    for place in bytes.len() - batch.len()..bytes.len() {
        let mut forged = bytes.clone();
        forged[place] ^= 1;
        let forged: Option<Receipt> = postcard::from_bytes(&forged).ok();
        assert!(forged.is_none_or(|forged| !forged.proves_under(&head)), "byte {place}");
    }
    for seq in (0..40).map(Seq).filter(|seq| *seq != receipt.seq) {
        assert!(!Receipt { seq, ..receipt.clone() }.proves_under(&head), "as record {seq}");
    }
}
