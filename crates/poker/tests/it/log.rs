//! The log: whole hands between parties that exchange nothing but envelopes, and what cheats try.

mod bundles;
mod defects;
mod findings;
mod flips;
mod order;
mod receipts;
mod refusals;
mod stops;
mod test_table;
mod whole_hands;
