//! Which users are served at the socket; hostile frames affect no other client.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
};

use bankroll_money::Time;
use bankroll_orders::{FRAME_BYTES_MAX, Order, SignerAnswer, SignerRequest, frame};
use bankroll_signer::server::CONNECTIONS_MAX;
use bankroll_signer_client::{SignOutcome, SignerClient, SignerClientError};
use fastrand::Rng;

use crate::{
    process::{PATIENCE, Running, config, folder},
    world::{pay, seed, wallet},
};

fn connect(running: &Running) -> UnixStream {
    let stream = UnixStream::connect(running.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn lasting(order: Order) -> Order {
    Order { expires: Time(u64::MAX), ..order }
}

/// A correct client is still served.
fn is_well(running: &Running) {
    assert_eq!(running.client().status(wallet(), None).unwrap().stopped, None);
}

#[test]
fn only_its_own_user_can_open_the_socket() {
    let folder = folder();
    let running = Running::start(folder.path());
    assert_eq!(fs::metadata(running.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    is_well(&running);
}

#[test]
fn another_user_is_not_served() {
    let folder = folder();
    // Another user is configured; we can open the file, but are not that user.
    let stranger = rustix::process::geteuid().as_raw() + 12_345;
    fs::write(folder.path().join("signer.toml"), config(&format!("client_uid = {stranger}"))).unwrap();
    let running = Running::start(folder.path());
    let asked = running.client().status(wallet(), None);
    assert!(matches!(asked, Err(SignerClientError::Unknown(_))), "{asked:?}");
}

#[test]
fn malformed_frames_end_only_their_own_connection() {
    let folder = folder();
    let running = Running::start(folder.path());
    let sound = SignerRequest::Status { wallet: wallet() }.encode();
    let frames: [Vec<u8>; 6] = [
        vec![0, 0, 0, 0],
        u32::MAX.to_be_bytes().to_vec(),
        (FRAME_BYTES_MAX as u32 + 1).to_be_bytes().to_vec(),
        [&4_u32.to_be_bytes()[..], b"GET "].concat(),
        [&(sound.len() as u32 + 1).to_be_bytes()[..], &sound, &[0]].concat(),
        [&(sound.len() as u32).to_be_bytes()[..], &[9], &sound[1..]].concat(),
    ];
    for bytes in frames {
        let mut stream = connect(&running);
        stream.write_all(&bytes).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        // It answers that it did not understand, or nothing at all if even the length is illegal.
        if let Ok(Some(body)) = frame::read(&mut rest.as_slice()) {
            assert_eq!(SignerAnswer::decode(&body), Ok(SignerAnswer::NotUnderstood), "{bytes:?}");
        } else {
            assert!(rest.is_empty(), "{bytes:?}");
        }
        is_well(&running);
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let folder = folder();
    let running = Running::start(folder.path());
    let mut rng = Rng::with_seed(seed());
    let head = running.client().status(wallet(), None).unwrap().head;
    let sound = SignerRequest::Sign { order: lasting(pay("wd-0", 0, 100)), approvals: vec![], head }.encode();
    for round in 0..300 {
        let mut body = sound.clone();
        for _ in 0..rng.usize(1..4) {
            let place = rng.usize(0..body.len());
            body[place] ^= rng.u8(1..);
        }
        body.truncate(rng.usize(1..=body.len()));
        let mut stream = connect(&running);
        frame::write(&mut stream, &body).unwrap();
        let answer = frame::read(&mut stream).unwrap().map(|body| SignerAnswer::decode(&body).unwrap());
        let harmless = matches!(
            answer,
            Some(SignerAnswer::NotUnderstood | SignerAnswer::Refused { .. } | SignerAnswer::Signed(_))
        );
        assert!(harmless, "seed {}, round {round}: {answer:?}", seed());
    }
    is_well(&running);
    assert!(running.end().success());
}

#[test]
fn a_client_that_stalls_does_not_block_others() {
    let folder = folder();
    let running = Running::start(folder.path());
    let mut halfway = connect(&running);
    halfway.write_all(&[0, 0, 1]).unwrap();
    let mut in_the_body = connect(&running);
    in_the_body.write_all(&[0, 0, 1, 0, 1, 2]).unwrap();
    let mut never_reads = connect(&running);
    for _ in 0..50 {
        frame::write(&mut never_reads, &SignerRequest::Status { wallet: wallet() }.encode()).unwrap();
    }
    is_well(&running);
    // Pipelined requests are answered in order.
    for _ in 0..50 {
        let body = frame::read(&mut never_reads).unwrap().unwrap();
        assert!(matches!(SignerAnswer::decode(&body), Ok(SignerAnswer::Status(_))));
    }
}

#[test]
fn connections_above_the_limit_are_closed_until_others_end() {
    let folder = folder();
    let running = Running::start(folder.path());
    let mut clients: Vec<SignerClient> = (0..CONNECTIONS_MAX).map(|_| running.client()).collect();
    for client in &mut clients {
        client.status(wallet(), None).unwrap();
    }
    assert!(matches!(running.client().status(wallet(), None), Err(SignerClientError::Unknown(_))));
    clients.truncate(CONNECTIONS_MAX / 2);
    let deadline = std::time::Instant::now() + PATIENCE;
    while running.client().status(wallet(), None).is_err() {
        assert!(std::time::Instant::now() < deadline, "those who left are still counted");
        std::thread::yield_now();
    }
}

#[test]
fn concurrent_requests_for_one_nonce_sign_one_payment() {
    let folder = folder();
    let running = Running::start(folder.path());
    let head = running.client().status(wallet(), None).unwrap().head;
    let signed: Vec<(String, Vec<u8>)> = std::thread::scope(|scope| {
        let ask = |name: usize| {
            let (mut client, running) = (running.client(), &running);
            scope.spawn(move || {
                // All request the same nonce; every two the same intent.
                let order = lasting(pay(&format!("wd-{}", name / 2), 0, 100));
                let outcome = client.sign(&order, head).unwrap();
                is_well(running);
                match outcome {
                    SignOutcome::Signed(signed) => Some((order.intent.to_string(), signed.raw)),
                    SignOutcome::Refused { .. } => None,
                }
            })
        };
        // Each client has two connections, within the limit.
        let asked: Vec<_> = (0..12).map(ask).collect();
        asked.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(signed.len(), 2, "{signed:?}");
    assert_eq!(signed[0], signed[1]);
}

#[test]
fn a_file_in_the_sockets_place_is_left_alone() {
    let folder = folder();
    fs::write(folder.path().join("signer.sock"), "precious").unwrap();
    let said = Running::start_under(None, folder.path(), &[]).err().unwrap();
    assert!(said.contains("the path exists and is not a socket"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("signer.sock")).unwrap(), "precious");
}
