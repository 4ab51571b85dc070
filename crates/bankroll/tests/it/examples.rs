//! The programs in `examples/` do what their comments say: each checks its own answers.

#[path = "../../../../examples/game_server.rs"]
mod game_server;

#[test]
fn the_game_server_of_the_examples_spends_once_and_audits_its_books() {
    game_server::main().unwrap();
}
