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

#[test]
fn a_certificate_is_renewed_for_the_same_key_also_after_it_expired() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let past = Time(now().0 - 2 * YEAR);
    let authority = Authority::init(path, past).unwrap();
    let roles = NodeRoles::of(&[NodeRole::Indexer, NodeRole::Payouts]);
    let [certificate, key] = authority.add(path, &node("a"), roles, 30, past).unwrap();
    let before = std::fs::read(&key).unwrap();
    let expired = NodeIdentity::load(path, &node("a"), now()).unwrap_err();
    assert!(expired.is_expired() && !expired.is_revoked(), "{expired:?}");

    // The node's key is not needed: it may be on another machine.
    std::fs::remove_file(&key).unwrap();
    assert_eq!(authority.renew(path, &node("a"), 90, now()).unwrap(), certificate);
    std::fs::write(&key, &before).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let identity = NodeIdentity::load(path, &node("a"), now()).unwrap();
    assert_eq!(identity.roles(), roles);
    assert_eq!((identity.expires().0 - now().0).div_ceil(86_400_000_000), 90);
    assert_eq!((identity.expires().0 - identity.begins().0) / 86_400_000_000, 91);
    let files = std::fs::read_dir(path).unwrap().count();
    assert_eq!(files, 4, "ca.pem, ca.key, a.pem, a.key");
}

#[test]
fn a_revoked_node_is_neither_accepted_nor_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let authority = Authority::init(path, now()).unwrap();
    let add = |name: &str| authority.add(path, &node(name), NodeRoles::ALL, 30, now()).unwrap();
    add("b");
    let files = add("a");
    let first = std::fs::read(&files[0]).unwrap();
    authority.renew(path, &node("a"), 60, now()).unwrap();
    let list = authority.revoke(path, &node("a"), now()).unwrap();
    assert_eq!(list, path.join("revoked.pem"));
    let load = |name: &str| NodeIdentity::load(path, &node(name), now());
    assert!(load("a").unwrap_err().is_revoked());
    load("b").unwrap();
    let renewed = authority.renew(path, &node("a"), 60, now());
    assert!(matches!(renewed, Err(AuthorityError::Revoked { .. })), "{renewed:?}");
    // The certificate that was replaced before the revocation has the same key.
    std::fs::write(&files[0], first).unwrap();
    assert!(load("a").unwrap_err().is_revoked());
    // Again changes nothing.
    let before = std::fs::read(&list).unwrap();
    authority.revoke(path, &node("a"), now()).unwrap();
    assert_eq!(std::fs::read(&list).unwrap(), before);
    // A new key is a new beginning.
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    add("a");
    load("a").unwrap();
}

#[test]
fn only_certificates_and_lists_of_the_same_authority_count() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path();
    let authority = Authority::init(path, now()).unwrap();
    let other = Authority::init(elsewhere.path(), now()).unwrap();
    // A stranger's certificate for the role `books`, put where the authority keeps those of its nodes.
    other.add(path, &node("forged"), NodeRoles::ALL, 30, now()).unwrap();
    let renewed = authority.renew(path, &node("forged"), 30, now());
    assert!(matches!(&renewed, Err(AuthorityError::NotOurs { .. })), "{renewed:?}");
    let missing = authority.renew(path, &node("missing"), 30, now());
    assert!(matches!(&missing, Err(AuthorityError::NoNode { .. })), "{missing:?}");

    authority.add(path, &node("a"), NodeRoles::ALL, 30, now()).unwrap();
    other.add(elsewhere.path(), &node("a"), NodeRoles::ALL, 30, now()).unwrap();
    let foreign = other.revoke(elsewhere.path(), &node("a"), now()).unwrap();
    std::fs::copy(foreign, path.join("revoked.pem")).unwrap();
    let refused = NodeIdentity::load(path, &node("a"), now()).unwrap_err();
    assert!(!refused.is_revoked() && with_causes(&refused).contains("a.pem cannot be used"), "{refused:?}");
    std::fs::write(path.join("revoked.pem"), "no list").unwrap();
    let refused = NodeIdentity::load(path, &node("a"), now()).unwrap_err();
    assert!(matches!(refused, NodeIdentityError::RevocationList { .. }), "{refused:?}");
    let unreadable = authority.revoke(path, &node("a"), now());
    assert!(matches!(unreadable, Err(AuthorityError::List { .. })), "{unreadable:?}");
}
