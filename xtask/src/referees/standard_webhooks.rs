//! The reference implementation of Standard Webhooks: the independent referee of the signatures of deliveries.

use super::Referee;

pub const REFEREE: Referee = Referee {
    name: "standardwebhooks",
    version: "1.1.1",
    folder: ".tools/standardwebhooks",
    is_current: |workspace| REFEREE.has_npm_package(workspace, "standardwebhooks"),
    install: |workspace| REFEREE.install_by_npm(workspace, "standardwebhooks", &[]),
};
