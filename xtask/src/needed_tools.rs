//! Programs that the tests need in addition to cargo, installed from Debian packages where that is allowed.

use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::program;

struct Tool {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

const NEEDED: &[Tool] = &[
    Tool { program: "curl", package: "curl", why: "a test pastes the lines that the demo prints" },
    Tool { program: "node", package: "nodejs", why: "ethers verifies what the signer signs" },
    Tool { program: "npm", package: "npm", why: "ethers and anvil, which verify signer and chains, are npm packages" },
    Tool { program: "python3", package: "python3", why: "PokerKit verifies the poker tests" },
    Tool { program: "strace", package: "strace", why: "the crash tests stop the store at a chosen system call" },
];

pub fn ensure() -> Result<()> {
    let absent = missing(NEEDED, program::is_installed);
    if absent.is_empty() {
        return Ok(());
    }
    if !may_install() {
        bail!("{}", request(&absent));
    }
    let packages: Vec<_> = absent.iter().map(|tool| tool.package).collect();
    fetch(&packages)?;
    let still = missing(NEEDED, program::is_installed);
    ensure!(still.is_empty(), "after installing, {}", request(&still));
    Ok(())
}

/// Installs a package that has no program to look for.
pub fn install_package(package: &str) -> Result<()> {
    ensure!(may_install(), "install it with `apt-get install --no-install-recommends {package}`");
    fetch(&[package])
}

fn fetch(packages: &[&str]) -> Result<()> {
    println!("installing {}", packages.join(" "));
    // Without package lists the installation fails; only then are they fetched, which takes a while.
    if install(packages).is_err() {
        program::succeed(&mut apt_get(&["update"]))?;
        install(packages)?;
    }
    Ok(())
}

fn missing(tools: &[Tool], is_installed: impl Fn(&str) -> bool) -> Vec<&Tool> {
    tools.iter().filter(|tool| !is_installed(tool.program)).collect()
}

fn request(missing: &[&Tool]) -> String {
    let lines = missing.iter().map(|tool| format!("\n  {} (package {}): {}", tool.program, tool.package, tool.why));
    let packages: Vec<_> = missing.iter().map(|tool| tool.package).collect();
    let command = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    format!("programs are missing:{}\ninstall them with `{command}`", lines.collect::<String>())
}

fn may_install() -> bool {
    let user = program::stdout(Command::new("id").arg("-u"));
    program::is_installed("apt-get") && user.is_ok_and(|id| id.trim() == "0")
}

fn install(packages: &[&str]) -> Result<()> {
    program::succeed(apt_get(&["install", "-y", "--no-install-recommends"]).args(packages))
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[Tool] = &[
        Tool { program: "strace", package: "strace", why: "crash tests" },
        Tool { program: "pg_ctl", package: "postgresql", why: "a real server" },
    ];

    #[test]
    fn only_missing_programs_are_requested() {
        let missing = missing(TOOLS, |program| program == "strace");
        assert_eq!(
            request(&missing),
            "programs are missing:\n  pg_ctl (package postgresql): a real server\n\
             install them with `apt-get install --no-install-recommends postgresql`"
        );
    }

    #[test]
    fn nothing_is_missing_when_all_are_installed() {
        assert!(missing(TOOLS, |_| true).is_empty());
    }
}
