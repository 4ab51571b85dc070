//! PokerKit, the independent referee of the poker tests.

use super::Referee;

pub const REFEREE: Referee = Referee {
    name: "PokerKit",
    version: "0.7.7",
    folder: ".tools/pokerkit",
    is_current: |workspace| REFEREE.has_python_package(workspace, "pokerkit"),
    install: |workspace| REFEREE.install_by_pip(workspace, &[&format!("pokerkit=={}", REFEREE.version)]),
};
