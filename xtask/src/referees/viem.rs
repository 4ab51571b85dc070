//! viem, the independent referee of what wallets sign for the Funds API: a JavaScript library.

use std::fs;

use super::Referee;

pub const REFEREE: Referee = Referee {
    name: "viem",
    version: "2.56.9",
    folder: ".tools/viem",
    is_current: |workspace| {
        let manifest = REFEREE.place(workspace).join("node_modules/viem/package.json");
        fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{}\"", REFEREE.version)))
    },
    install: |workspace| REFEREE.install_by_npm(workspace, "viem"),
};
