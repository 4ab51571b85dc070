//! Files and folders that the program's user may not read or write.
//!
//! The administrator of a machine may read and write everything. So if the tests run as that user, the program runs as
//! another one; where that is not possible, the test says so and ends.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use super::{row::Row, world::World};
use crate::program::folder;

/// The user `nobody` of most systems.
const NOBODY: u32 = 65_534;

pub const ROWS: &[Row] = &[
    Row("config check --config locked.toml", 2, "locked.toml: cannot be read: Permission denied"),
    Row("config show --dir locked", 2, "locked/bankroll.toml: cannot be read: Permission denied"),
    Row("serve --dir locked", 2, "locked/bankroll.toml: cannot be read: Permission denied"),
    Row("init --dir locked", 2, "locked/bankroll.toml: cannot be read: Permission denied"),
    Row("init --dir readonly", 1, "Permission denied"),
    Row("init --dir readonly/below", 1, "cannot create the folder readonly/below"),
    Row("nodes init --dir readonly", 1, "Permission denied"),
    Row("demo --dir readonly/demo --exit", 1, "Permission denied"),
    Row("bench ledger --quick --dir readonly", 1, "Permission denied"),
    Row("bench http --quick --dir readonly", 1, "Permission denied"),
    Row("accounts list --dir locked", 2, "Permission denied"),
    Row("audit --dir locked-books", 1, "cannot read the books in locked-books"),
    Row("receipt check locked.json", 1, "cannot read locked.json"),
    Row("hand verify locked.hand", 1, "cannot read locked.hand"),
    Row("hand show locked.hand", 1, "cannot read locked.hand"),
    Row("hand replay locked.hand", 1, "cannot read locked.hand"),
    Row("hand play --out readonly/hands", 1, "cannot create the folder readonly/hands"),
    Row("signer show --dir locked-signer", 1, "cannot read locked-signer/signer.toml"),
    Row("signer init --dir readonly/signer --password-file secret", 1, "cannot create the folder readonly/signer"),
    Row("signer init --dir new --password-file locked-secret", 1, "cannot read the password file locked-secret"),
];

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn guarded() -> World {
    let folder = folder();
    let at = folder.path();
    set_mode(at, 0o755);
    for name in ["locked", "locked-books", "locked-signer", "readonly"] {
        fs::create_dir(at.join(name)).unwrap();
    }
    fs::write(at.join("secret"), "correct horse\n").unwrap();
    let files = ["locked.toml", "locked.json", "locked.hand", "locked-secret", "locked-books/books.db"];
    for name in files.into_iter().chain(["locked-signer/signer.toml"]) {
        fs::write(at.join(name), "a letter to my bank\n").unwrap();
        set_mode(&at.join(name), 0o000);
    }
    set_mode(&at.join("locked"), 0o000);
    set_mode(&at.join("readonly"), 0o555);
    let is_root = fs::metadata(at).unwrap().uid() == 0;
    World::of(folder, is_root.then_some(NOBODY), guarded)
}

#[test]
fn what_may_not_be_read_or_written_is_named() {
    let mut world = guarded();
    let runs = world.program().arg("--version").output().is_ok_and(|output| output.status.success());
    if runs {
        let failures: Vec<String> = ROWS.iter().flat_map(|row| row.failures(&mut world)).collect();
        assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n\n"));
    } else {
        println!("not checked: the program cannot run as user {NOBODY} here");
    }
    // So that the folder can be removed.
    set_mode(&world.path().join("locked"), 0o755);
    set_mode(&world.path().join("readonly"), 0o755);
}
