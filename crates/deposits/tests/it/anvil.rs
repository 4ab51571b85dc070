//! The attack list on anvil: real bytecode, real traces, and books that say exactly what each attack did to them.
//!
//! Each story has a chain and books of its own. It ends with every account that has something, so that what is not
//! listed has not happened; and what the books say our wallet holds is what it holds on the chain.
//! `docs/deposits-attacks.md` says which test is which class.

mod attribution;
mod chain;
mod coins;
mod contracts;
mod floods;
mod kinds;
mod ports;
mod reorganised;
mod tokens;
mod watching;
mod world;
