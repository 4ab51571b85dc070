//! Writes `docs/errors/` from the table of error codes: `cargo run -p bankroll-api --example error-pages`.

fn main() -> std::io::Result<()> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    bankroll_api::errors::pages::write(&folder)
}
