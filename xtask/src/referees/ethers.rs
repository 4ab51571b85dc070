//! ethers, the independent referee of what the signer signs: a JavaScript library.

use std::fs;

use super::Referee;

pub const REFEREE: Referee = Referee {
    name: "ethers",
    version: "6.17.0",
    folder: ".tools/ethers",
    is_current: |workspace| {
        let manifest = REFEREE.place(workspace).join("node_modules/ethers/package.json");
        fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{}\"", REFEREE.version)))
    },
    install: |workspace| REFEREE.install_by_npm(workspace, "ethers"),
};
