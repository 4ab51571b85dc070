//! A blocked Bloom filter: whether a run may have a key, with one cache line.

/// Bits for each key: with 16, about one false positive in a thousand.
const BITS_PER_KEY: u64 = 16;
/// Bits set for each key.
const PROBES: u32 = 8;
const WORDS_PER_BLOCK: usize = 8;

/// The filter of one run. Keys are hashes already, so their bits are used directly.
#[derive(Debug)]
pub(super) struct BloomFilter {
    blocks: Vec<[u64; WORDS_PER_BLOCK]>,
}

impl BloomFilter {
    pub fn for_keys(count: u64) -> Self {
        let blocks = (count * BITS_PER_KEY).div_ceil(512).max(1);
        Self { blocks: vec![[0; WORDS_PER_BLOCK]; usize::try_from(blocks).unwrap_or(usize::MAX)] }
    }

    pub fn insert(&mut self, key: u128) {
        let (block, bits) = self.place(key);
        for (word, mask) in bits {
            self.blocks[block][word] |= mask;
        }
    }

    pub fn may_have(&self, key: u128) -> bool {
        let (block, bits) = self.place(key);
        let block = &self.blocks[block];
        bits.into_iter().all(|(word, mask)| block[word] & mask != 0)
    }

    /// The block by the upper half, eight bits in it by nine bits each of the lower half.
    fn place(&self, key: u128) -> (usize, [(usize, u64); PROBES as usize]) {
        let upper = key >> 64;
        let block = (upper * self.blocks.len() as u128) >> 64;
        let lower = key as u64;
        let probe = |number: usize| {
            // Seven fields of nine bits are 63; the eighth is taken from a mix of them all.
            let field =
                if number < 7 { lower >> (number * 9) } else { lower.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55 };
            ((field >> 6) as usize & (WORDS_PER_BLOCK - 1), 1_u64 << (field & 63))
        };
        (block as usize, std::array::from_fn(probe))
    }

    pub fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.blocks.iter().flatten().flat_map(|word| word.to_be_bytes()));
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let words: Vec<u64> = words.iter().map(|word| u64::from_be_bytes(*word)).collect();
        let (blocks, []) = words.as_chunks::<WORDS_PER_BLOCK>() else { return None };
        (!blocks.is_empty()).then(|| Self { blocks: blocks.to_vec() })
    }
}
