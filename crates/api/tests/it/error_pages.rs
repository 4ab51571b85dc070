//! The pages of error codes are what the code says.

use std::{collections::BTreeSet, fs, path::Path};

use bankroll_api::{ErrorCode, errors::pages};
use bankroll_ledger::Rejection;

const REGENERATE: &str = "run `cargo run -p bankroll-api --example error-pages`";

#[test]
fn each_code_has_its_page_and_no_page_is_stale() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    for (name, text) in pages::pages() {
        let committed = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert_eq!(committed, text, "docs/errors/{name} is stale: {REGENERATE}");
    }
    let expected: BTreeSet<_> = pages::pages().into_iter().map(|(name, _)| name).collect();
    let found = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{REGENERATE}");
}

#[test]
fn codes_are_distinct_and_every_rejection_has_one() {
    let codes: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), ErrorCode::ALL.len());
    for rejection in Rejection::ALL {
        let error = bankroll_api::ApiError::from(rejection);
        assert!(error.code.status().is_client_error(), "{rejection:?} is the caller's to handle: {error:?}");
        // A verdict that the key remembers can never succeed with the same key.
        assert!(!(rejection.is_remembered() && error.code.is_retriable()), "{rejection:?}");
    }
}
