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

use std::path::PathBuf;

/// Of the page, the tests between backticks; of these folders, the names of functions.
#[test]
fn every_test_that_the_page_of_attacks_names_exists() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("run the tests with cargo")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/deposits-attacks.md")).unwrap();
    let mut source = String::new();
    for folder in ["deposits/tests/it", "deposits/tests/it/anvil", "chains/evm/tests/it", "orders/src/tests"] {
        for entry in root.join("crates").join(folder).read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                source += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(2));
    let named: Vec<&str> = rows.flat_map(|tests| tests.split('`').skip(1).step_by(2)).collect();
    assert!(named.len() > 50, "{}", named.len());
    let missing: Vec<_> = named.into_iter().filter(|name| !source.contains(&format!("fn {name}()"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
