//! Deliveries over real sockets: what is sent, and every kind of answer.

use std::{net::TcpListener, time::Duration};

use bankroll_notify::{AttemptOutcome, ClientLimits, DeliveryAttempt, WebhookSecret, signatures};

use crate::receiver::{Connection, HOST, LocalReceiver, NOW, attempt};

fn here(receiver: &LocalReceiver) -> DeliveryAttempt {
    attempt(&format!("http://127.0.0.1:{}/hook?token=t0ken", receiver.port))
}

fn answered(status: u16, answer: &str) -> AttemptOutcome {
    AttemptOutcome::Answered { status, answer: answer.into() }
}

fn failed(error: &str) -> AttemptOutcome {
    AttemptOutcome::Failed { error: error.into() }
}

fn plain(text: &'static str) -> impl Fn(&mut dyn Connection) -> std::io::Result<()> + Send + Sync {
    move |stream| {
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }
}

#[test]
fn a_request_has_the_headers_of_standard_webhooks() {
    let receiver = LocalReceiver::start(plain("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine"));
    let sent = here(&receiver);
    assert_eq!(receiver.client().send(&sent, NOW), answered(200, "fine"));
    let request = receiver.requests.recv().unwrap();
    assert_eq!(request.line, "POST /hook?token=t0ken HTTP/1.1");
    assert_eq!(request.body, sent.body);
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("webhook-id"), "evt_81_0");
    assert_eq!(request.header("webhook-timestamp"), "1800000000");
    let expected =
        signatures(&[WebhookSecret::new([1; 32]), WebhookSecret::new([2; 32])], "evt_81_0", 1_800_000_000, &sent.body);
    assert_eq!(request.header("webhook-signature"), expected);
    assert_eq!(expected.split(' ').filter(|one| one.starts_with("v1,")).count(), 2);
}

#[test]
fn a_redirect_is_an_answer_and_is_not_followed() {
    let target = LocalReceiver::start(plain("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    let location = format!("http://127.0.0.1:{}/", target.port);
    let receiver = LocalReceiver::start(move |stream| {
        write!(stream, "HTTP/1.1 307 Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
    });
    assert_eq!(receiver.client().send(&here(&receiver), NOW), answered(307, ""));
    assert!(target.requests.try_recv().is_err());
}

#[test]
fn an_answer_is_cut_to_a_kibibyte_of_text() {
    let receiver = LocalReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 500 Oh\r\ncontent-length: 5000\r\n\r\n")?;
        stream.write_all(b"\xff\0a\n")?;
        stream.write_all(&[b'x'; 4_996])
    });
    let AttemptOutcome::Answered { status, answer } = receiver.client().send(&here(&receiver), NOW) else { panic!() };
    assert_eq!((status, answer.chars().count()), (500, 1_024));
    assert!(answer.starts_with("\u{fffd}\u{fffd}a\nxx"), "{answer:?}");
}

/// The status was sent: it counts, and the rest is not waited for.
#[test]
fn an_endless_answer_is_cut_off() {
    let receiver = LocalReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        loop {
            stream.write_all(b"400\r\n")?;
            stream.write_all(&[b'y'; 1_024])?;
            stream.write_all(b"\r\n")?;
        }
    });
    assert_eq!(receiver.client().send(&here(&receiver), NOW), answered(200, &"y".repeat(1_024)));
    let huge = LocalReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n")?;
        loop {
            stream.write_all(&[b'z'; 1_024])?;
        }
    });
    assert_eq!(huge.client().send(&here(&huge), NOW), answered(200, &"z".repeat(1_024)));
}

#[test]
fn headers_without_end_are_no_answer() {
    let receiver = LocalReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"x-more: and more\r\n")?;
        }
    });
    assert!(matches!(receiver.client().send(&here(&receiver), NOW), AttemptOutcome::Failed { .. }));
}

const LATE: &str = "no answer within the time";

#[test]
fn a_silent_endpoint_ends_with_its_time() {
    let silent = LocalReceiver::start(|_| {
        loop {
            std::thread::park();
        }
    });
    assert_eq!(silent.impatient_client().send(&here(&silent), NOW), failed(LATE));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = silent.client().send(&attempt(&format!("http://127.0.0.1:{closed}/")), NOW);
    assert!(matches!(refused, AttemptOutcome::Failed { .. }), "{refused:?}");
    assert!(!format!("{refused:?}").contains("127.0.0.1"), "{refused:?}");
}

/// A byte now and then, for twenty seconds, then the end of the connection.
fn drip(stream: &mut dyn Connection, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes.iter().chain(std::iter::repeat_n(&b'0', 1_000)) {
        stream.write_all(&[*byte])?;
        stream.flush()?;
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Ok(())
}

/// Each byte comes in time; all of them do not. If only the pauses were limited, the end of the connection would end it.
#[test]
fn an_answer_that_drips_ends_with_its_time() {
    let headers = LocalReceiver::start(|stream| drip(stream, b"HTTP/1.1 200 OK\r\nx: "));
    assert_eq!(headers.impatient_client().send(&here(&headers), NOW), failed(LATE));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{HOST}:{}/", listener.local_addr().unwrap().port());
    // A record of TLS that never ends.
    std::thread::spawn(move || drip(&mut listener.accept().unwrap().0, b"\x16\x03\x03\x40\x00"));
    assert_eq!(headers.impatient_client().send(&attempt(&url), NOW), failed(LATE));
    // The status counts, however slowly the rest comes.
    let body = LocalReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")?;
        drip(stream, b"")
    });
    let limits = ClientLimits { total: Duration::from_secs(4), ..ClientLimits::default() };
    let outcome = body.client().with_limits(limits).send(&here(&body), NOW);
    assert!(
        matches!(&outcome, AttemptOutcome::Answered { status: 200, answer } if answer.len() < 1_000),
        "{outcome:?}"
    );
}

#[test]
fn what_is_not_http_is_no_answer() {
    let receiver = LocalReceiver::start(plain("SSH-2.0-OpenSSH_9.6\r\n"));
    assert_eq!(receiver.client().send(&here(&receiver), NOW), failed("no HTTP answer"));
    let cut = LocalReceiver::start(plain("HTTP/1.1 200"));
    assert!(matches!(cut.client().send(&here(&cut), NOW), AttemptOutcome::Failed { .. }));
}

#[test]
fn tls_is_verified_for_the_host_that_the_url_names() {
    let ok = "HTTP/1.1 204 None\r\ncontent-length: 0\r\n\r\n";
    let right = LocalReceiver::start_tls(HOST, plain(ok));
    let url = |receiver: &LocalReceiver| attempt(&format!("https://{HOST}:{}/", receiver.port));
    assert_eq!(right.client().send(&url(&right), NOW), answered(204, ""));
    assert_eq!(right.requests.recv().unwrap().header("host"), format!("{HOST}:{}", right.port));
    // A certificate for another name; and one that no authority here has signed.
    let wrong = LocalReceiver::start_tls("other.example.com", plain(ok));
    assert_eq!(wrong.client().send(&url(&wrong), NOW), failed("TLS failed"));
    assert_eq!(right.client().with_roots(&[]).send(&url(&right), NOW), failed("TLS failed"));
    assert!(wrong.requests.try_recv().is_err());
    // A server that speaks no TLS at all.
    let bare = LocalReceiver::start(plain(ok));
    assert!(matches!(bare.client().send(&url(&bare), NOW), AttemptOutcome::Failed { .. }));
}
