use crate::check::tree::TextFile;
use crate::check::type_names::findings;

fn check(files: &[(&str, &str)], expected: &[&str]) {
    let file = |(path, text): &(&str, &str)| TextFile { path: (*path).into(), text: (*text).into() };
    assert_eq!(findings(&files.iter().map(file).collect::<Vec<_>>()), expected);
}

#[test]
fn one_name_in_two_crates_is_named_with_both_places() {
    check(
        &[("crates/a/src/lib.rs", "\npub struct Outcome {"), ("crates/b/src/x.rs", "pub enum Outcome<T> {")],
        &["public type `Outcome` is defined at crates/a/src/lib.rs:2 and crates/b/src/x.rs:1"],
    );
    check(
        &[("crates/a/src/lib.rs", "pub type Outcome = u8;\n    pub struct Outcome(u8);")],
        &["public type `Outcome` is defined at crates/a/src/lib.rs:1 and crates/a/src/lib.rs:2"],
    );
}

#[test]
fn what_no_other_crate_sees_may_share_a_name() {
    check(
        &[
            ("crates/a/src/lib.rs", "pub struct Outcome;\npub(crate) struct Step;\nstruct Step;"),
            ("crates/b/src/lib.rs", "struct Outcome;\n// pub struct Outcome;\npub fn outcome() {}"),
            ("crates/b/tests/it/world.rs", "pub struct Outcome;"),
            ("crates/b/src/tests.rs", "pub struct Outcome;"),
            ("crates/a/src/ids.rs", "        pub struct $name(String);"),
            ("crates/b/src/ids.rs", "        pub enum $name {"),
        ],
        &[],
    );
}
