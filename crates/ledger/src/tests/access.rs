//! The whole route table, as `decide` enforces it: role by role, kind by kind.

use super::story::{code, key_of, principal};
use crate::{
    Account, AccountId, AccountKind, AccountName, AccountPolicy, Action, Amount, AssetId, Books, Hold, HoldId,
    HoldState, Leg, OpenRejection, Principal, References, Request, Role, Scope, Seq, Settler, Side, Time, decide,
};

/// Each acts on its own server and its own wallet, confirmed, with its own keys: only the routes can reject it.
const PRINCIPALS: [&str; 7] =
    ["indexer", "admin(ann+ben)", "developer", "game_server", "user(alice)", "tables", "system"];

/// All routes; everything that is not listed is `not_allowed`.
const ROUTES: &str = "
indexer      unallocated  -> funds unallocated ecosystem developer
indexer      play_only    -> house
indexer      suspense     -> funds unallocated ecosystem developer
indexer      house        -> play_only
indexer      custody      -> funds unallocated ecosystem developer suspense house
admin        funds        -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        unallocated  -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        play_only    -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        world        -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        ecosystem    -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        developer    -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        clearing     -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        suspense     -> funds unallocated play_only world ecosystem developer clearing suspense house
admin        house        -> funds unallocated play_only world ecosystem developer clearing suspense house debt
game_server  funds        -> world
game_server  play_only    -> world
game_server  world        -> funds play_only ecosystem
game_server  ecosystem    -> world
tables       funds        -> table
tables       table        -> funds developer table
system       funds        -> clearing house custody
system       unallocated  -> funds ecosystem developer clearing house custody
system       play_only    -> clearing house
system       world        -> clearing
system       ecosystem    -> clearing
system       developer    -> clearing house custody
system       clearing     -> funds unallocated play_only world ecosystem developer
system       suspense     -> clearing house custody
system       house        -> play_only ecosystem custody
system       custody      -> in_transit
system       in_transit   -> custody
system       network_fees -> custody
";

/// Two accounts of every kind, with 10 in each, so that a move within each kind can be tried.
fn books() -> Books {
    let mut books = Books::default();
    for (place, kind) in (0..).zip(AccountKind::ALL) {
        for id in [place, place + 100] {
            let name = name(kind);
            let account = Account::open(AccountId(id), name, AccountPolicy::of(kind));
            books.put_account(Account { balance: Amount::new(10), ..account });
        }
    }
    books
}

/// In arena's books where that is possible, and alice's where the kind has an owner.
fn name(kind: AccountKind) -> AccountName {
    let server = Scope::Server("arena".parse().unwrap());
    let forms = [(server.clone(), Some("alice".parse().unwrap())), (server, None), (Scope::House, None)];
    let names = forms.into_iter().map(|(scope, owner)| AccountName { scope, kind, asset: AssetId(1), owner });
    names.into_iter().find(AccountName::is_well_owned).unwrap()
}

fn from(kind: AccountKind) -> AccountId {
    AccountId(kind as u64)
}

fn to(kind: AccountKind) -> AccountId {
    AccountId(kind as u64 + 100)
}

fn ask(books: &Books, who: &str, leg: Leg) -> bool {
    let (principal, confirmation) = principal(who);
    let request = Request {
        key: key_of(&principal, "k1"),
        principal,
        confirmation,
        action: Action::Legs(vec![leg]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    match code(&decide(books, &request, Seq(1), Time(1))) {
        "applied" => true,
        "not_allowed" => false,
        other => panic!("{who}: {other}"),
    }
}

fn kinds(allowed: impl Fn(AccountKind) -> bool) -> String {
    AccountKind::ALL.into_iter().filter(|kind| allowed(*kind)).map(AccountKind::as_str).collect::<Vec<_>>().join(" ")
}

fn role_of(who: &str) -> &str {
    who.split('(').next().unwrap()
}

#[test]
fn money_moves_along_these_routes_and_no_others() {
    let books = books();
    let mut table = String::from("\n");
    for who in PRINCIPALS {
        for source in AccountKind::ALL {
            let may =
                |target| ask(&books, who, Leg::Move { from: from(source), to: to(target), amount: Amount::new(1) });
            let targets = kinds(may);
            if !targets.is_empty() {
                table += &format!("{:<12} {source:<12} -> {targets}\n", role_of(who), source = source.as_str());
            }
        }
    }
    assert_eq!(table, ROUTES);
}

#[test]
fn only_the_indexer_and_the_system_touch_what_is_on_chain() {
    for line in ROUTES.lines().filter(|line| !line.is_empty()) {
        let (role, route) = line.split_once(' ').unwrap();
        let on_chain = ["custody", "in_transit", "network_fees"].iter().any(|kind| route.contains(kind));
        assert!(!on_chain || role == "indexer" || role == "system", "{line}");
    }
}

#[test]
fn these_roles_hold_money_in_these_kinds() {
    let books = books();
    let may = |who, kind| {
        ask(
            &books,
            who,
            Leg::Hold { account: from(kind), amount: Amount::new(1), expires: None, settler: Settler::Holder },
        )
    };
    let table = PRINCIPALS.map(|who| format!("{}: {}", role_of(who), kinds(|kind| may(who, kind))));
    let expected = [
        "indexer: ",
        "admin: funds unallocated play_only world ecosystem developer clearing suspense house",
        "developer: developer",
        "game_server: funds play_only",
        "user: funds unallocated",
        "tables: ",
        "system: funds unallocated developer suspense house",
    ];
    assert_eq!(table, expected);
}

/// A hold adds no routes: only the role that made it or the system posts it, if that role may hold there, along a
/// route that it has.
#[test]
fn a_post_needs_the_right_to_hold_the_hold_and_the_route() {
    let mut books = books();
    let credit_side = AccountKind::ALL.into_iter().filter(|kind| kind.side() == Side::Credit);
    for (source, settler) in credit_side.flat_map(|kind| Role::ALL.map(|settler| (kind, settler))) {
        let account = books.account(from(source)).unwrap().clone();
        books.put_account(Account { held: Amount::new(5), ..account });
        let (id, remaining, state) = (HoldId(1), Amount::new(5), HoldState::Open);
        books.put_hold(Hold { id, account: from(source), remaining, expires: None, settler, state });
        for (who, role) in PRINCIPALS.into_iter().zip(Role::ALL) {
            let may_settle = role.may_hold(source) && (role == settler || role == Role::System);
            let released = ask(&books, who, Leg::Release { hold: id });
            assert_eq!(released, may_settle, "{who} {source} held by {settler:?}");
            for target in AccountKind::ALL {
                let posted = ask(&books, who, Leg::Post { hold: id, to: to(target), amount: Amount::new(1) });
                let routed = may_settle && role.may_route(source, target);
                assert_eq!(posted, routed, "{who} {source} -> {target} held by {settler:?}");
            }
        }
    }
}

#[test]
fn accounts_are_opened_by_these() {
    let may = |who: &str, kind| {
        let (by, _) = principal(who);
        match name(kind).check_open(&by, &AccountPolicy::of(kind)) {
            Ok(()) => true,
            Err(OpenRejection::NotAllowed) => false,
            Err(other) => panic!("{who} {kind}: {other}"),
        }
    };
    let table = PRINCIPALS.map(|who| format!("{}: {}", role_of(who), kinds(|kind| may(who, kind))));
    let expected = [
        "indexer: funds unallocated play_only debt",
        "admin: ",
        "developer: ",
        "game_server: funds unallocated",
        "user: ",
        "tables: table",
        "system: funds unallocated play_only world ecosystem developer table clearing suspense house custody \
         in_transit network_fees debt",
    ];
    assert_eq!(table, expected);
}

/// A policy of the kind is the route table seen from one account.
#[test]
fn the_widest_policy_says_who_can_ever_do_it() {
    let roles = |roles: crate::Roles| {
        let names = Role::ALL.into_iter().zip(PRINCIPALS).filter(|(role, _)| roles.has(*role));
        names.map(|(_, who)| role_of(who)).collect::<Vec<_>>().join(" ")
    };
    let policy = |kind| {
        let AccountPolicy { deposit, withdraw, transfer } = AccountPolicy::of(kind);
        format!("{kind}: in {}; held {}; out {}", roles(deposit), roles(withdraw), roles(transfer))
    };
    let funds = "funds: in indexer admin game_server tables system; held admin game_server user system; \
                 out admin game_server tables system";
    assert_eq!(policy(AccountKind::Funds), funds);
    let early = "play_only: in indexer admin game_server system; held admin game_server; \
                 out indexer admin game_server system";
    assert_eq!(policy(AccountKind::PlayOnly), early);
    assert_eq!(policy(AccountKind::Table), "table: in tables; held ; out tables");
    assert_eq!(policy(AccountKind::Custody), "custody: in system; held ; out indexer system");
    assert_eq!(policy(AccountKind::Debt), "debt: in admin; held ; out ");
}

#[test]
fn the_list_of_roles_is_complete() {
    for ((place, role), who) in Role::ALL.into_iter().enumerate().zip(PRINCIPALS) {
        assert_eq!(postcard::from_bytes(&[place as u8]), Ok(role));
        assert_eq!(principal(who).0.role(), role);
        assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{}\"", role_of(who)));
    }
    assert!(postcard::from_bytes::<Role>(&[Role::ALL.len() as u8]).is_err());
    assert_eq!(Principal::System.role(), Role::System);
}
