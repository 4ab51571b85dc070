//! solc, the Solidity compiler: what attacks deposits on anvil is written in Solidity, not in our own chain's contracts.

use super::Referee;

pub const REFEREE: Referee = Referee {
    name: "solc",
    version: "0.8.37",
    folder: ".tools/solc",
    is_current: |workspace| REFEREE.has_npm_package(workspace, "solc"),
    install: |workspace| REFEREE.install_by_npm(workspace, "solc", &[]),
};
