//! The connection to the server: encrypted, to the host that the certificate names, or refused.

use std::{error::Error, path::PathBuf};

use bankroll_ledger::AccountKind;
use bankroll_store::{DatabaseUrl, DatabaseUrlError, Reader, StoreError};
use bankroll_testkit::postgres;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use super::{cluster::Cluster, kills::wait_for_answers, service::Service};
use crate::world::{World, code_of, moving};

/// A server with a certificate for `localhost`, and the files of two issuers: its own, and an unrelated one.
struct Protected {
    cluster: Cluster,
    folder: TempDir,
}

impl Protected {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (own, stranger) = (issuer(), issuer());
        std::fs::write(folder.path().join("own.pem"), own.pem()).unwrap();
        std::fs::write(folder.path().join("stranger.pem"), stranger.pem()).unwrap();
        std::fs::write(folder.path().join("empty.pem"), "nothing is signed here").unwrap();
        let key = KeyPair::generate().unwrap();
        let named = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = named.signed_by(&key, &own).unwrap();
        let cluster = Cluster::start_with_tls(&certificate.pem(), &key.serialize_pem());
        Self { cluster, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.pem"))
    }

    fn url(&self, host: &str, parameters: &str) -> DatabaseUrl {
        let parameters = parameters.replace("FILES", &self.folder.path().display().to_string());
        DatabaseUrl::new(format!("postgres://bankroll@{host}:{}/books?{parameters}", self.cluster.port()))
    }

    /// How many connections to the books are encrypted, and how many are not: at one moment, and without the server's
    /// own.
    fn connections(&self) -> (usize, usize) {
        let ways = "SELECT ssl, pid FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE datname = 'books' AND backend_type = 'client backend'";
        let found = postgres::pairs(&DatabaseUrl::new(self.cluster.url("postgres")), ways);
        let encrypted = found.iter().filter(|(ssl, _)| ssl == "true").count();
        (encrypted, found.len() - encrypted)
    }
}

fn issuer() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// An error with its causes.
fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn refusal(url: DatabaseUrl) -> String {
    match Reader::open(url) {
        Err(StoreError::NoBooks) => "the server was believed".into(),
        Err(error) => error_chain(&error),
        Ok(_) => "books".into(),
    }
}

#[test]
fn postgres_over_tls_with_the_server_that_the_certificate_names() {
    let server = Protected::start();
    let mut world = World::on(server.url("localhost", "sslmode=verify-full&sslrootcert=FILES/own.pem").into());
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    assert_eq!(code_of(&world.submit(world.play(vec![moving(alice, arena, 30)]))), "applied");
    assert_eq!(world.balance_and_held(alice), (70, 0));
    let (encrypted, plain) = server.connections();
    assert!(encrypted >= 3, "writer, lookups and statement index are connected: {encrypted}");
    assert_eq!(plain, 0, "connections in plain text");
    world.audit();
    world.close();
}

#[test]
fn postgres_with_a_certificate_that_proves_nothing_is_refused() {
    let server = Protected::start();
    let refused = |host: &str, parameters: &str| refusal(server.url(host, parameters));
    // The unrelated issuer uses the name of the real one.
    let forged =
        "the request to Postgres failed: error performing TLS handshake: invalid peer certificate: BadSignature";
    let believed = "the server was believed";
    assert_eq!(refused("localhost", "sslmode=verify-full&sslrootcert=FILES/own.pem"), believed);
    assert_eq!(refused("localhost", "sslrootcert=FILES/own.pem"), believed);
    assert_eq!(refused("localhost", "sslmode=verify-full&sslrootcert=FILES/stranger.pem"), forged);
    assert_eq!(refused("localhost", "sslmode=require&sslrootcert=FILES/stranger.pem"), forged);
    assert_eq!(refused("localhost", "sslmode=prefer&sslrootcert=FILES/stranger.pem"), forged);
    let other_name = refused("127.0.0.1", "sslmode=verify-full&sslrootcert=FILES/own.pem");
    assert!(other_name.contains("not valid for name"), "{other_name}");
    // Without roots: encrypted without verification; and unencrypted.
    assert_eq!(refused("127.0.0.1", "sslmode=require"), believed);
    assert_eq!(refused("127.0.0.1", "sslmode=prefer"), believed);
    assert_eq!(refused("127.0.0.1", "sslmode=disable"), believed);
    for name in ["empty", "missing"] {
        let opened = Reader::open(server.url("localhost", &format!("sslrootcert=FILES/{name}.pem")));
        let expected = server.file(name);
        assert!(
            matches!(opened, Err(StoreError::Address(DatabaseUrlError::Roots { path })) if path == expected),
            "{name} roots"
        );
    }
}

#[test]
fn postgres_without_tls_is_refused_when_it_is_required() {
    let plain = Cluster::start();
    let refused = |mode: &str| {
        let url = format!("postgres://bankroll@127.0.0.1:{}/books?sslmode={mode}", plain.port());
        refusal(DatabaseUrl::new(url))
    };
    let none = "the request to Postgres failed: error performing TLS handshake: server does not support TLS";
    assert_eq!(refused("verify-full&sslrootcert=system"), none);
    assert_eq!(refused("require"), none);
    assert_eq!(refused("prefer"), "the server was believed");
    assert_eq!(refused("disable"), "the server was believed");
}

/// A reconnect uses the same protection.
#[test]
fn postgres_over_tls_after_a_restart_of_the_server() {
    let server = Protected::start();
    let url = server.url("localhost", "sslmode=verify-full&sslrootcert=FILES/own.pem");
    let service = Service::open(super::kills::quick(url.reveal()));
    let calls = super::kills::under_load(&service, crate::run::seed(), |service| {
        wait_for_answers(service, 10);
        server.cluster.stop("immediate");
        server.cluster.start_again();
    });
    let (encrypted, plain) = server.connections();
    assert!(encrypted > 0 && plain == 0, "{encrypted} encrypted, {plain} in plain text");
    service.reckon(&calls, "a restart under TLS");
    service.close();
}
