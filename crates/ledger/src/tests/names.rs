//! Names, scopes, accounts' names, kinds and who can own them.

use crate::{AccountKind, AccountName, AccountNameError, AssetId, HoldId, Name, Scope, Seq, Side};

#[test]
fn no_server_can_call_itself_the_house() {
    assert_eq!("@house".parse(), Ok(Scope::House));
    assert_eq!("house".parse(), Ok(Scope::Server("house".parse().unwrap())));
    assert!("@house".parse::<Name>().is_err());
    assert!("@House".parse::<Scope>().is_err());
    assert!(serde_json::from_str::<Scope>(r#"{"Server":"@house"}"#).is_err());
    for text in ["@house", "house", "arena-1"] {
        assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
    }
}

#[test]
fn account_names_are_read_as_they_are_written() {
    let names = [
        "arena-1/funds/1/0xab12",
        "arena-1/unallocated/1/0xab12",
        "arena-1/table/1/nlhe-7.seat-3",
        "arena-1/world/4294967295",
        "arena-1/debt/1",
        "arena-1/debt/1/0xab12",
        "arena-1/custody/1/deposits",
        "@house/custody/1/0xfeed",
        "@house/suspense/1",
    ];
    for name in names {
        assert_eq!(name.parse::<AccountName>().unwrap().to_string(), name);
    }
}

#[test]
fn a_refused_account_name_says_why() {
    let why = |text: &str| text.parse::<AccountName>().unwrap_err();
    assert_eq!(why(""), AccountNameError::Shape);
    assert_eq!(why("arena/funds"), AccountNameError::Shape);
    assert_eq!(why("arena/funds/1/alice/x"), AccountNameError::Shape);
    assert_eq!(why("arena/gold/1/alice"), AccountNameError::UnknownKind);
    assert_eq!(why("arena/Funds/1/alice"), AccountNameError::UnknownKind);
    assert_eq!(why("arena/funds/eth/alice"), AccountNameError::AssetNumber);
    assert_eq!(why("arena/funds/-1/alice"), AccountNameError::AssetNumber);
    assert_eq!(why("arena/funds//alice"), AccountNameError::AssetNumber);
    assert_eq!(why("arena/funds/4294967296/alice"), AccountNameError::AssetNumber);
    assert!(matches!(why("Arena/funds/1/alice"), AccountNameError::Name(error) if error.given == "Arena"));
    assert!(matches!(why("arena/funds/1/"), AccountNameError::Name(error) if error.given.is_empty()));
    assert!(matches!(why("/funds/1/alice"), AccountNameError::Name(_)));
    assert_eq!(why("arena/funds/1"), AccountNameError::Owner);
    assert_eq!(why("@house/funds/1/alice"), AccountNameError::Owner);
    assert_eq!(why("arena/suspense/1"), AccountNameError::Owner);
}

#[test]
fn one_account_has_one_name() {
    assert_eq!("arena/funds/1/alice".parse::<AccountName>().map(|name| name.asset), Ok(AssetId(1)));
    assert_eq!("arena/funds/0/alice".parse::<AccountName>().map(|name| name.asset), Ok(AssetId(0)));
    for number in ["+1", "01", "001", "00", "+0", "-0", " 1", "1 ", "1_0", "0x1", "\u{661}"] {
        let name = format!("arena/funds/{number}/alice");
        assert_eq!(name.parse::<AccountName>(), Err(AccountNameError::AssetNumber), "{name:?}");
    }
}

/// Which of the four forms of a name each kind accepts.
#[test]
fn every_kind_has_its_side_and_its_owners() {
    let forms = [
        ("server+owner", "arena", "/x"),
        ("server", "arena", ""),
        ("house+owner", "@house", "/x"),
        ("house", "@house", ""),
    ];
    let line = |kind: AccountKind| {
        let is_legal = |scope, owner| format!("{scope}/{kind}/1{owner}").parse::<AccountName>().is_ok();
        let accepted = forms.iter().filter(|(_, scope, owner)| is_legal(scope, owner)).map(|(form, ..)| *form);
        format!("{kind} {:?}: {}", kind.side(), accepted.collect::<Vec<_>>().join(" "))
    };
    let table = [
        "funds Credit: server+owner",
        "unallocated Credit: server+owner",
        "play_only Credit: server+owner",
        "world Credit: server",
        "ecosystem Credit: server",
        "developer Credit: server",
        "table Credit: server+owner",
        "clearing Credit: server",
        "suspense Credit: house",
        "house Credit: house",
        "custody Debit: server+owner house+owner",
        "in_transit Debit: house",
        "network_fees Debit: house",
        "debt Debit: server+owner server",
    ];
    assert_eq!(AccountKind::ALL.map(line), table);
}

#[test]
fn the_list_of_kinds_is_complete() {
    for (place, kind) in AccountKind::ALL.into_iter().enumerate() {
        assert_eq!(postcard::from_bytes(&[place as u8]), Ok(kind));
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
    }
    assert!(postcard::from_bytes::<AccountKind>(&[AccountKind::ALL.len() as u8]).is_err());
    assert_eq!(AccountKind::ALL.iter().filter(|kind| kind.side() == Side::Debit).count(), 4);
}

#[test]
fn these_kinds_are_a_players_own_money() {
    let own: Vec<&str> =
        AccountKind::ALL.into_iter().filter(|kind| kind.is_players()).map(AccountKind::as_str).collect();
    assert_eq!(own, ["funds", "unallocated", "play_only"]);
}

#[test]
fn a_debt_is_kept_per_player_and_per_server() {
    let name = |text: &str| text.parse::<AccountName>().unwrap();
    let debt_of = |text: &str| name(text).debt().map(|debt| debt.to_string());
    assert_eq!(debt_of("arena/funds/1/alice").as_deref(), Some("arena/debt/1/alice"));
    assert_eq!(debt_of("arena/unallocated/1/alice").as_deref(), Some("arena/debt/1/alice"));
    assert_eq!(debt_of("arena/ecosystem/1").as_deref(), Some("arena/debt/1"));
    // Early credit is the house's money: what is lost of it, the house has lost.
    assert_eq!(debt_of("arena/play_only/1/alice"), None);
    for owes_nothing in ["arena/table/1/seat", "@house/house/1", "@house/custody/1/vault", "arena/debt/1/alice"] {
        assert_eq!(debt_of(owes_nothing), None);
    }
    let debtors = |text: &str| name(text).debtors().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(debtors("arena/debt/1/alice"), "arena/funds/1/alice arena/unallocated/1/alice");
    assert_eq!(debtors("arena/debt/1"), "arena/world/1 arena/ecosystem/1 arena/developer/1");
    assert_eq!(debtors("arena/funds/1/alice"), "");
}

#[test]
fn a_hold_is_numbered_by_the_request_that_made_it_and_its_leg() {
    assert_eq!(HoldId::of(Seq(1), 0), HoldId(16));
    assert_eq!(HoldId::of(Seq(1), 15), HoldId(31));
    assert_eq!(HoldId::of(Seq(2), 0), HoldId(32));
    assert_eq!(HoldId(31).made_by(), Seq(1));
    assert_eq!(HoldId::of(Seq((1 << 60) - 1), 15), HoldId(u64::MAX));
    assert_eq!(Seq(7).next(), Seq(8));
}
