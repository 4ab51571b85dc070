//! Which targets are refused, and why: a URL's form, the address it names, the addresses that its name has.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicUsize, Ordering},
};

use bankroll_notify::{HostResolver, TargetError, TargetPolicy, WebhookClient};

/// Every URL with the name of the rule that refuses it.
const REFUSED: &[(&str, &str)] = &[
    // Schemes.
    ("http://hooks.example.com/", "scheme"),
    ("ftp://hooks.example.com/", "scheme"),
    ("file:///etc/passwd", "malformed"),
    ("gopher://hooks.example.com/", "scheme"),
    ("wss://hooks.example.com/", "scheme"),
    ("javascript:alert(1)", "scheme"),
    ("hooks.example.com/path", "malformed"),
    ("/path", "scheme"),
    ("//hooks.example.com/", "scheme"),
    ("https:/hooks.example.com/", "malformed"),
    ("https://", "malformed"),
    ("https:///path", "malformed"),
    ("", "malformed"),
    // User info, fragments, letters that parsers read differently.
    ("https://user@hooks.example.com/", "user_info"),
    ("https://user:password@hooks.example.com/", "user_info"),
    ("https://hooks.example.com@10.0.0.1/", "user_info"),
    ("https://@hooks.example.com/", "user_info"),
    ("https://hooks.example.com%40evil.com/", "malformed"),
    ("https://hooks.example.com/#fragment", "fragment"),
    ("https://hooks.example.com#@evil.com/", "fragment"),
    ("https://hooks.example.com\\@evil.com/", "malformed"),
    ("https://hooks.example.com\\.evil.com/", "malformed"),
    ("https://hooks.example.com/a b", "malformed"),
    (" https://hooks.example.com/", "malformed"),
    ("https://hooks.example.com/\t", "malformed"),
    ("https://hooks.example.com/\r\nHost: evil", "malformed"),
    ("https://hooks.example.com/\0", "malformed"),
    ("https://höoks.example.com/", "malformed"),
    ("https://①②⑦.⓪.⓪.①/", "malformed"),
    ("https://hooks.example。com/", "malformed"),
    // Ports.
    ("https://hooks.example.com:80/", "port"),
    ("https://hooks.example.com:22/", "port"),
    ("https://hooks.example.com:5432/", "port"),
    ("https://hooks.example.com:6379/", "port"),
    ("https://hooks.example.com:8080/", "port"),
    ("https://hooks.example.com:0/", "port"),
    ("https://hooks.example.com:65536/", "malformed"),
    ("https://hooks.example.com:0443/", "malformed"),
    ("https://hooks.example.com:/", "malformed"),
    ("https://hooks.example.com:443:443/", "malformed"),
    // Names of this machine and its network.
    ("https://localhost/", "host"),
    ("https://LOCALHOST/", "host"),
    ("https://api.localhost/", "host"),
    ("https://books/", "host"),
    ("https://printer.local/", "host"),
    ("https://metadata.google.internal/", "host"),
    ("https://wiki.intranet/", "host"),
    ("https://router.home.arpa/", "host"),
    ("https://hidden.onion/", "host"),
    ("https://hooks.example.com./", "host"),
    ("https://hooks..example.com/", "host"),
    ("https://.example.com/", "host"),
    ("https://-hooks.example.com/", "host"),
    ("https://hooks_1.example.com/", "host"),
    ("https://127.0.0.1./", "host"),
    // Numbers that C libraries take for addresses.
    ("https://2130706433/", "host"),
    ("https://017700000001/", "host"),
    ("https://0x7f000001/", "host"),
    ("https://0x7f.0x0.0x0.0x1/", "host"),
    ("https://0177.0.0.1/", "host"),
    ("https://127.0.0.01/", "host"),
    ("https://127.1/", "host"),
    ("https://127.0.1/", "host"),
    ("https://10.1/", "host"),
    ("https://0/", "host"),
    ("https://169.254.43518/", "host"),
    ("https://1.2.3.4.5/", "host"),
    ("https://256.256.256.256/", "host"),
    // Addresses of IPv4 that are not public.
    ("https://0.0.0.0/", "private_address"),
    ("https://10.0.0.1/", "private_address"),
    ("https://100.64.0.1/", "private_address"),
    ("https://100.100.100.200/", "private_address"),
    ("https://127.0.0.1/", "private_address"),
    ("https://127.255.255.254/", "private_address"),
    ("https://168.63.129.16/", "private_address"),
    ("https://169.254.169.254/latest/meta-data/", "private_address"),
    ("https://172.16.0.1/", "private_address"),
    ("https://172.31.255.255/", "private_address"),
    ("https://192.0.0.192/", "private_address"),
    ("https://192.0.2.1/", "private_address"),
    ("https://192.88.99.1/", "private_address"),
    ("https://192.168.1.1/", "private_address"),
    ("https://198.18.0.1/", "private_address"),
    ("https://198.19.255.255/", "private_address"),
    ("https://198.51.100.7/", "private_address"),
    ("https://203.0.113.9/", "private_address"),
    ("https://224.0.0.1/", "private_address"),
    ("https://240.0.0.1/", "private_address"),
    ("https://255.255.255.255/", "private_address"),
    // Of IPv6, also those that contain one of IPv4.
    ("https://[::]/", "private_address"),
    ("https://[::1]/", "private_address"),
    ("https://[::ffff:127.0.0.1]/", "private_address"),
    ("https://[::ffff:8.8.8.8]/", "private_address"),
    ("https://[::ffff:7f00:1]/", "private_address"),
    ("https://[::127.0.0.1]/", "private_address"),
    ("https://[64:ff9b::7f00:1]/", "private_address"),
    ("https://[64:ff9b::8.8.8.8]/", "private_address"),
    ("https://[64:ff9b:1::1]/", "private_address"),
    ("https://[100::1]/", "private_address"),
    ("https://[2001::1]/", "private_address"),
    ("https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "private_address"),
    ("https://[2001:2::1]/", "private_address"),
    ("https://[2001:10::1]/", "private_address"),
    ("https://[2001:db8::1]/", "private_address"),
    ("https://[2002:7f00:1::]/", "private_address"),
    ("https://[3fff::1]/", "private_address"),
    ("https://[5f00::1]/", "private_address"),
    ("https://[fc00::1]/", "private_address"),
    ("https://[fd00:ec2::254]/", "private_address"),
    ("https://[fe80::1]/", "private_address"),
    ("https://[fec0::1]/", "private_address"),
    ("https://[ff02::1]/", "private_address"),
    ("https://[fe80::1%25eth0]/", "host"),
    ("https://[fe80::1%eth0]/", "host"),
    ("https://[::1/", "malformed"),
    ("https://[127.0.0.1]/", "host"),
    ("https://[]/", "host"),
];

const ALLOWED: &[&str] = &[
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/path?token=a%20b&c=1",
    "https://HOOKS.example.com/",
    "https://hooks.example.com:443/",
    "https://hooks.example.com:8443/v1/events",
    "https://xn--hoks-5qa.example.com/",
    "https://3com.com/",
    "https://1.2.3.4.example.com/",
    "https://8.8.8.8/",
    "https://172.32.0.1/",
    "https://100.128.0.1/",
    "https://[2606:4700:4700::1111]/",
    "https://[2a00:1450::1]:8443/",
];

/// The name of the rule that refuses a URL.
fn rule(policy: TargetPolicy, url: &str) -> Option<&'static str> {
    policy.check_url(url).err().map(|refusal| refusal.code())
}

#[test]
fn every_target_inside_of_the_network_is_refused() {
    assert!(REFUSED.len() >= 100);
    let wrong: Vec<_> = REFUSED
        .iter()
        .map(|(url, expected)| (*url, *expected, rule(TargetPolicy::default(), url)))
        .filter(|(_, expected, found)| *found != Some(expected))
        .collect();
    assert_eq!(wrong, []);
    let long = format!("https://hooks.example.com/{}", "a".repeat(2_048));
    assert_eq!(rule(TargetPolicy::default(), &long), Some("too_long"));
    let label = format!("https://{}.com/", "a".repeat(64));
    assert_eq!(rule(TargetPolicy::default(), &label), Some("host"));
}

#[test]
fn targets_on_the_internet_are_allowed() {
    for url in ALLOWED {
        assert_eq!(rule(TargetPolicy::default(), url), None, "{url}");
    }
}

#[test]
fn in_development_the_own_machine_is_a_target_and_urls_still_have_one_form() {
    let policy = TargetPolicy { allows_private: true };
    for url in ["http://127.0.0.1:9000/hook", "http://localhost:9000", "https://10.0.0.1/", "http://[::1]:8080/"] {
        assert_eq!(rule(policy, url), None, "{url}");
    }
    for (url, expected) in [
        ("ftp://localhost/", "scheme"),
        ("http://user@localhost/", "user_info"),
        ("http://localhost/#a", "fragment"),
        ("http://localhost:0/", "port"),
        ("http://2130706433/", "host"),
    ] {
        assert_eq!(rule(policy, url), Some(expected), "{url}");
    }
}

fn resolving_to(addresses: &'static [&'static str]) -> WebhookClient {
    let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect::<Vec<IpAddr>>();
    WebhookClient::new(TargetPolicy::default()).with_resolver(HostResolver::with(move |_| Ok(addresses.clone())))
}

#[test]
fn one_private_address_of_a_name_refuses_all_of_them() {
    let check = |addresses| resolving_to(addresses).check_target("https://hooks.example.com/");
    assert_eq!(check(&["8.8.8.8", "2606:4700:4700::1111"]), Ok(()));
    for addresses in [
        &["127.0.0.1"] as &[&str],
        &["8.8.8.8", "10.0.0.1"],
        &["8.8.8.8", "::1"],
        &["::ffff:10.0.0.1"],
        &["169.254.169.254", "8.8.8.8"],
        &["64:ff9b::a00:1"],
    ] {
        let found = check(addresses);
        assert!(matches!(found, Err(TargetError::Refused(_))), "{addresses:?}: {found:?}");
    }
    assert!(matches!(check(&[]), Err(TargetError::Refused(_))));
    let silent = HostResolver::with(|_| Err(std::io::ErrorKind::NotFound.into()));
    let client = WebhookClient::new(TargetPolicy::default()).with_resolver(silent);
    assert_eq!(client.check_target("https://hooks.example.com/"), Err(TargetError::Unresolved));
}

/// A name that is public when the endpoint is made, and private when an event is sent.
#[test]
fn a_name_that_changes_its_address_is_checked_again_at_each_delivery() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let flipping = HostResolver::with(|_| {
        let first = ASKED.fetch_add(1, Ordering::SeqCst) == 0;
        Ok(vec![IpAddr::V4(if first { Ipv4Addr::new(8, 8, 8, 8) } else { Ipv4Addr::LOCALHOST })])
    });
    let client = WebhookClient::new(TargetPolicy::default()).with_resolver(flipping);
    assert_eq!(client.check_target("https://hooks.example.com/"), Ok(()));
    let outcome = client.send(&crate::receiver::attempt("https://hooks.example.com/"), crate::receiver::NOW);
    let error = "127.0.0.1 is not a public address".to_owned();
    assert_eq!(outcome, bankroll_notify::AttemptOutcome::Failed { error });
    // Once for the check and once for the delivery: the client connects to what was checked, and asks no more.
    assert_eq!(ASKED.load(Ordering::SeqCst), 2);
}
