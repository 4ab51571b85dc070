//! Certificates: creation, and the errors of unusable ones.

use std::os::unix::fs::PermissionsExt;

use bankroll_ledger::Time;
use bankroll_nodes::{
    Authority, AuthorityError, CA_CERTIFICATE, CA_KEY, NodeIdentity, NodeIdentityError, NodeRole, NodeRoles,
};

use crate::world::{node, now};

const YEAR: u64 = 365 * 86_400_000_000;

fn with_causes(error: &NodeIdentityError) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}: {}", cause.unwrap_or_default())
}

#[test]
fn a_certificate_names_the_node_and_its_roles() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::init(folder.path(), now()).unwrap();
    let roles = NodeRoles::of(&[NodeRole::Books, NodeRole::Api]);
    let files = authority.add(folder.path(), &node("books-1"), roles, 1, now()).unwrap();
    let identity = NodeIdentity::load(folder.path(), &node("books-1"), now()).unwrap();
    assert_eq!((identity.node().as_str(), identity.roles()), ("books-1", roles));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&files[0]), mode(&files[1]), mode(&folder.path().join(CA_KEY))], [0o644, 0o600, 0o600]);
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::init(folder.path(), now()).unwrap();
    assert!(matches!(Authority::init(folder.path(), now()), Err(AuthorityError::Exists { .. })));
    let add = || authority.add(folder.path(), &node("a"), NodeRoles::ALL, 1, now());
    add().unwrap();
    assert!(matches!(add(), Err(AuthorityError::Exists { .. })));
    NodeIdentity::load(folder.path(), &node("a"), now()).unwrap();
}

#[test]
fn an_unusable_certificate_is_reported_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let load = |name: &str| with_causes(&NodeIdentity::load(path, &node(name), now()).unwrap_err());
    assert!(load("a").contains("ca.pem; `bankroll nodes init` makes an authority"), "{}", load("a"));
    let authority = Authority::init(path, now()).unwrap();
    assert!(load("a").contains("a.pem"), "{}", load("a"));

    let past = Time(now().0 - 2 * YEAR);
    authority.add(path, &node("old"), NodeRoles::ALL, 30, past).unwrap();
    assert!(load("old").to_lowercase().contains("expired"), "{}", load("old"));

    let elsewhere = tempfile::tempdir().unwrap();
    let other = Authority::init(elsewhere.path(), now()).unwrap();
    other.add(path, &node("foreign"), NodeRoles::ALL, 30, now()).unwrap();
    assert!(load("foreign").contains("foreign.pem cannot be used"), "{}", load("foreign"));

    authority.add(path, &node("b"), NodeRoles::ALL, 30, now()).unwrap();
    for suffix in ["pem", "key"] {
        std::fs::copy(path.join(format!("b.{suffix}")), path.join(format!("c.{suffix}"))).unwrap();
    }
    assert!(load("c").contains("does not name the node c"), "{}", load("c"));

    std::fs::set_permissions(path.join("b.key"), std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(load("b").contains("b.key; run chmod 600"), "{}", load("b"));
    std::fs::write(path.join(CA_CERTIFICATE), "no certificate").unwrap();
    assert!(load("b").contains("cannot read"), "{}", load("b"));
}
