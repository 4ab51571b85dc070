//! Whether this node's database user can do what its roles need, and nothing else.

use bankroll_nodes::NodeRole;
use bankroll_roles::{config::LoadedConfig, flows};
use bankroll_store::{DatabaseUrl, compare_user};
use bankroll_terminal::{counted, invocation};

use super::Check;
use crate::location::LocationArgs;

/// How many rights are named.
const NAMED: usize = 3;

pub fn check(location: &LocationArgs, loaded: &LoadedConfig, url: &DatabaseUrl) -> Check {
    let roles = loaded.config.node.roles;
    let names: Vec<&str> = roles.iter().map(NodeRole::as_str).collect();
    let report = match compare_user(url, &flows::grants(), &names) {
        Ok(report) => report,
        Err(error) => return Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), "check the server"),
    };
    let write_users = format!("{} init --users FOLDER --dir {}", invocation(), location.base().display());
    let user = &report.user;
    if let Some(first) = report.powers.first() {
        // Not red: one node that does everything on a machine of its own loses nothing by it.
        let found = format!("{user} {first}: a node that is taken over can change every table");
        return Check::warned(NAME, found, format!("{write_users}; then use the login of the node's role"));
    }
    let wrong = [("lacks", &report.missing), ("does not need, and has,", &report.surplus)];
    let wrong = wrong.into_iter().filter(|(_, rights)| !rights.is_empty()).map(|(verb, rights)| {
        let named: Vec<&str> = rights.iter().take(NAMED).map(String::as_str).collect();
        let more = rights.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        format!("{verb} {}{more}", named.join(", "))
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        let tables = counted(flows::grants().len() as u64, "table", "tables");
        return Check::green(NAME, format!("{user} has the rights of {roles} on {tables}, and no others"));
    }
    let found = format!("for the roles {roles}, {user} {}", wrong.join("; and "));
    Check::red(NAME, found, format!("run `{write_users}` with the owner's login; see node.roles, too"))
}

const NAME: &str = "database user";
