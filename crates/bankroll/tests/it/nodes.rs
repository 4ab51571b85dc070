//! `bankroll nodes`: an authority and the certificates of nodes, in files.

use std::os::unix::fs::PermissionsExt;

use crate::program::{folder, run};

#[test]
fn an_authority_and_its_nodes_are_made_once() {
    let folder = folder();
    let add = ["nodes", "add", "books-1", "--roles", "books,api", "--json"];
    run(folder.path(), &add).fails(1, &["no certificate authority", "nodes init --dir ."]);
    let typo = ["there is no folder typo", "`bankroll init --dir typo`"];
    run(folder.path(), &["nodes", "init", "--dir", "typo"]).fails(3, &typo);
    assert!(!folder.path().join("typo").exists(), "nothing was created");
    let text = run(folder.path(), &["nodes", "init"]).ok();
    assert!(text.contains("nodes/ca.pem") && text.contains("nodes/ca.key (secret"), "{text}");
    let made = run(folder.path(), &add).json();
    for (file, mode) in [(&made["certificate"], 0o644), (&made["key"], 0o600), (&"nodes/ca.key".into(), 0o600)] {
        let path = folder.path().join(file.as_str().unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    run(folder.path(), &add).fails(1, &["books-1.pem exists already; nothing was changed"]);
    run(folder.path(), &["nodes", "init"]).fails(1, &["ca.pem exists already; nothing was changed"]);
    run(folder.path(), &["nodes", "add", "B", "--roles", "books"]).fails(2, &["is not a node name"]);
    run(folder.path(), &["nodes", "add", "b", "--roles", "bookz"]).fails(2, &["there is no role"]);
}
