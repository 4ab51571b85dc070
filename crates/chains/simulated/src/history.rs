//! Values by key after each block. Lookup and unwinding cost in proportion to the changes.

use std::collections::BTreeMap;

/// A map with the values of each block. Unset keys have the default value.
#[derive(Clone, Debug)]
pub struct ChainHistory<K, V> {
    values: BTreeMap<K, Vec<(u64, V)>>,
    /// The keys changed in each block, oldest first, so that unwinding needs no search.
    touched: Vec<(u64, K)>,
}

impl<K: Ord + Copy, V: Copy + Default> ChainHistory<K, V> {
    pub const fn new() -> Self {
        Self { values: BTreeMap::new(), touched: Vec::new() }
    }

    /// The newest value.
    pub fn get(&self, key: K) -> V {
        self.at(key, u64::MAX)
    }

    /// The value after this block.
    pub fn at(&self, key: K, number: u64) -> V {
        let Some(versions) = self.values.get(&key) else { return V::default() };
        let later = versions.partition_point(|(set, _)| *set <= number);
        later.checked_sub(1).and_then(|place| versions.get(place)).map_or_else(V::default, |(_, value)| *value)
    }

    /// Sets a value in a block that is not before the newest one.
    pub fn set(&mut self, key: K, number: u64, value: V) {
        let versions = self.values.entry(key).or_default();
        match versions.last_mut() {
            Some((set, newest)) if *set == number => *newest = value,
            _ => {
                versions.push((number, value));
                self.touched.push((number, key));
            }
        }
    }

    /// Removes everything after this block.
    pub fn unwind(&mut self, to: u64) {
        while let Some((number, key)) = self.touched.pop() {
            if number <= to {
                self.touched.push((number, key));
                return;
            }
            if let Some(versions) = self.values.get_mut(&key) {
                versions.pop();
                if versions.is_empty() {
                    self.values.remove(&key);
                }
            }
        }
    }

    /// The keys that the newest block has set, each once.
    pub fn changes(&self, number: u64) -> impl Iterator<Item = (K, V)> {
        let of_block = self.touched.iter().rev().take_while(move |(set, _)| *set == number);
        of_block.map(|(_, key)| (*key, self.get(*key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_were_and_unwinding_forgets() {
        let mut history = ChainHistory::new();
        history.set('a', 0, 1);
        history.set('a', 3, 5);
        history.set('a', 3, 7);
        history.set('b', 4, 9);
        let seen = |history: &ChainHistory<char, u8>| (0..5).map(|number| history.at('a', number)).collect::<Vec<_>>();
        assert_eq!(seen(&history), [1, 1, 1, 7, 7]);
        assert_eq!(history.changes(4).collect::<Vec<_>>(), [('b', 9)]);
        history.unwind(2);
        assert_eq!(seen(&history), [1, 1, 1, 1, 1]);
        assert_eq!(history.get('b'), 0);
    }
}
