use crate::check::banned::findings;
use crate::check::tree::TextFile;

fn check(path: &str, text: &str, expected: &[&str]) {
    let file = TextFile { path: path.into(), text: text.into() };
    assert_eq!(findings(&[file]), expected);
}

// Joined here, like in the checker, so that this file passes the check it tests.
const IGNORED: &str = concat!("#[ig", "nore]");
const UNFINISHED: &str = concat!("to", "do!()");
const SLEEP: &str = concat!("thread::sle", "ep(second);");
const MACHINE_PATH: &str = concat!("see /wo", "rk/notes");

#[test]
fn ordinary_code_passes() {
    check("crates/ledger/src/transfer.rs", "mod hold;\n/// Models the common case.\nfn f() {}\n", &[]);
}

#[test]
fn names_that_say_nothing_are_refused_as_file_folder_and_module() {
    check("crates/ledger/src/utils.rs", "", &["crates/ledger/src/utils.rs: `utils` does not say what the code does"]);
    check("crates/common/src/lib.rs", "", &["crates/common/src/lib.rs: `common` does not say what the code does"]);
    let line = "    pub(crate) mod ".to_owned() + "helpers{";
    check("a.rs", &line, &["a.rs:1: module `helpers` does not say what it does"]);
    check("docs/common.md", &line, &[]);
}

#[test]
fn unfinished_code_and_ignored_tests_are_refused_in_rust_only() {
    let text = format!("fn f() {{}}\n{IGNORED}\n{UNFINISHED}\n");
    check(
        "src/a.rs",
        &text,
        &[concat!("src/a.rs:2: `#[ig", "nore` is banned"), concat!("src/a.rs:3: `to", "do!(` is banned")],
    );
    check("docs/a.md", &text, &[]);
}

#[test]
fn tests_do_not_wait_but_the_product_may() {
    let refused = concat!(":1: `sle", "ep(` is banned");
    for path in ["crates/store/tests/it/crash.rs", "crates/store/src/writer/tests.rs", "xtask/src/soak_tests.rs"] {
        check(path, SLEEP, &[&format!("{path}{refused}")]);
    }
    check("crates/store/src/writer.rs", SLEEP, &[]);
}

#[test]
fn machine_paths_are_refused_in_any_text() {
    check("docs/notes.md", MACHINE_PATH, &[concat!("docs/notes.md:1: `/wo", "rk/` is banned")]);
    check("docs/notes.md", "a framework/library", &[]);
}
