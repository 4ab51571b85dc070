//! The casino's books in Postgres: `books-1` holds them, and the front of `api-1`, a process of its own, relays.

use std::{net::SocketAddr, path::Path};

use bankroll_store::DatabaseUrl;
use bankroll_testkit::postgres::needed_database;
use tempfile::TempDir;

use super::{
    caller::Caller,
    casino::{api_address, arena_at, casino_folder},
};
use crate::{program::run, running::Running};

pub struct Deployment {
    pub folder: TempDir,
    pub url: DatabaseUrl,
    pub books: Running,
    pub front: Running,
    /// Through the front.
    pub arena: Caller,
    /// Where `books-1` answers nodes.
    pub nodes_address: String,
}

impl Deployment {
    pub fn open() -> Self {
        let (folder, url) = (casino_folder(), needed_database());
        run(folder.path(), &["nodes", "init"]).ok();
        for (name, roles) in [("books-1", "books"), ("api-1", "api"), ("api-2", "api")] {
            run(folder.path(), &["nodes", "add", name, "--roles", roles]).ok();
        }
        run(folder.path(), &["migrate-books", "--from", ".", "--to", url.reveal()]).ok();
        let books = Running::start(folder.path(), &url, "books-1", "books");
        let [listening, _] = books.until_all(["listening", "took"]);
        let (front, address) = start_front(folder.path(), &url);
        let nodes_address = listening["address"].as_str().unwrap().to_owned();
        Self { folder, url, books, front, arena: arena_at(address).with_world(), nodes_address }
    }
}

/// The front of `api-1`, and where it answers.
pub fn start_front(folder: &Path, url: &DatabaseUrl) -> (Running, SocketAddr) {
    let front = Running::start(folder, url, "api-1", "api");
    let [api, _] = front.until_all(["api", "books_found"]);
    (front, api_address(&api))
}
