//! A disk that loses data: what is synced stays, the rest is random.
//!
//! Strict on purpose: a file's name is durable when its folder was synced, not when the file was. Names change in
//! order, as file systems with a journal do it; data may arrive in any order and in part.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::trace::Event;

const SECTOR: usize = 512;

#[derive(Default)]
pub struct Disk {
    files: Vec<File>,
    /// The folder as programs see it, the durable folder, and the changes between the two.
    seen: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    renamed: Vec<(usize, Names)>,
}

/// Names that change at once, each with its file; `None` if it is gone.
type Names = Vec<(String, Option<usize>)>;

#[derive(Default)]
struct File {
    durable: Vec<u8>,
    changes: Vec<(usize, Change)>,
}

#[derive(Clone)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate { length: usize },
}

impl Disk {
    /// A disk on which these files are durable.
    pub fn holding(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut disk = Self::default();
        for (name, data) in files {
            disk.files.push(File { durable: data.clone(), changes: Vec::new() });
            disk.seen.insert(name.clone(), disk.files.len() - 1);
        }
        disk.durable = disk.seen.clone();
        disk
    }

    /// Applies the event of this number.
    pub fn note(&mut self, number: usize, event: &Event) {
        match event {
            Event::Create(name) if self.seen.contains_key(name) => {}
            Event::Create(name) => {
                self.files.push(File::default());
                self.rename(number, vec![(name.clone(), Some(self.files.len() - 1))]);
            }
            Event::Unlink(name) => self.rename(number, vec![(name.clone(), None)]),
            Event::Rename { from, to } => {
                let file = self.seen[from];
                self.rename(number, vec![(from.clone(), None), (to.clone(), Some(file))]);
            }
            Event::Write { file, offset, data } => {
                let change = Change::Write { offset: *offset, data: data.clone() };
                self.file(file).changes.push((number, change));
            }
            Event::Truncate { file, length } => {
                self.file(file).changes.push((number, Change::Truncate { length: *length }));
            }
            Event::Sync { file, began } => {
                let file = self.file(file);
                let (before, after) = std::mem::take(&mut file.changes).into_iter().partition(|(at, _)| at < began);
                file.changes = after;
                let before: Vec<(usize, Change)> = before;
                before.iter().for_each(|(_, change)| change.apply(&mut file.durable));
            }
            Event::SyncFolder { began } => {
                let (before, after) = std::mem::take(&mut self.renamed).into_iter().partition(|(at, ..)| at < began);
                self.renamed = after;
                let before: Vec<(usize, Names)> = before;
                before.into_iter().for_each(|(_, names)| set(&mut self.durable, names));
            }
            Event::Line(_) => {}
        }
    }

    /// How many changes could be lost now.
    pub fn unsynced(&self) -> usize {
        self.renamed.len() + self.files.iter().map(|file| file.changes.len()).sum::<usize>()
    }

    /// The contents of the disk after a power loss.
    pub fn lose_power(&self, rng: &mut Rng) -> BTreeMap<String, Vec<u8>> {
        let mut folder = self.durable.clone();
        let kept = rng.usize(0..=self.renamed.len());
        for (_, names) in &self.renamed[..kept] {
            set(&mut folder, names.clone());
        }
        // Sometimes nothing survives, sometimes everything, mostly a part.
        let (some, all) = (rng.u32(0..4) > 0, rng.u32(0..6) == 0);
        let mut contents = |file: &File| {
            let mut data = file.durable.clone();
            for (_, change) in &file.changes {
                match rng.u32(0..3) {
                    _ if all => change.apply(&mut data),
                    0 if some => change.apply(&mut data),
                    1 if some => change.torn(rng).iter().for_each(|part| part.apply(&mut data)),
                    _ => {}
                }
            }
            data
        };
        folder.into_iter().map(|(name, file)| (name, contents(&self.files[file]))).collect()
    }

    fn rename(&mut self, number: usize, names: Names) {
        set(&mut self.seen, names.clone());
        self.renamed.push((number, names));
    }

    fn file(&mut self, name: &str) -> &mut File {
        let file = self.seen[name];
        &mut self.files[file]
    }
}

fn set(folder: &mut BTreeMap<String, usize>, names: Names) {
    for (name, file) in names {
        match file {
            Some(file) => drop(folder.insert(name, file)),
            None => drop(folder.remove(&name)),
        }
    }
}

impl Change {
    fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Truncate { length } => contents.resize(*length, 0),
            Self::Write { offset, data } => {
                let end = offset + data.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*offset..end].copy_from_slice(data);
            }
        }
    }

    /// The sectors of it that survive.
    fn torn(&self, rng: &mut Rng) -> Vec<Self> {
        let Self::Write { offset, data } = self else { return Vec::new() };
        let (mut at, mut rest, mut parts) = (*offset, data.as_slice(), Vec::new());
        while !rest.is_empty() {
            let (sector, after) = rest.split_at((SECTOR - at % SECTOR).min(rest.len()));
            if rng.bool() {
                parts.push(Self::Write { offset: at, data: sector.to_vec() });
            }
            at += sector.len();
            rest = after;
        }
        parts
    }
}
