//! JavaScript libraries that wallets and web pages use: the independent referees of what is signed, by us and for us.

use super::Referee;

/// Referee of what the signer signs.
pub const ETHERS: Referee = Referee {
    name: "ethers",
    version: "6.17.0",
    folder: ".tools/ethers",
    is_current: |workspace| ETHERS.has_npm_package(workspace, "ethers"),
    install: |workspace| ETHERS.install_by_npm(workspace, "ethers", &[]),
};

/// Referee of what wallets sign for the Funds API.
pub const VIEM: Referee = Referee {
    name: "viem",
    version: "2.56.9",
    folder: ".tools/viem",
    is_current: |workspace| VIEM.has_npm_package(workspace, "viem"),
    install: |workspace| VIEM.install_by_npm(workspace, "viem", &[]),
};

/// Referee of sign-in messages, by the authors of EIP-4361. It signs and verifies with ethers.
pub const SIWE: Referee = Referee {
    name: "siwe",
    version: "3.0.0",
    folder: ".tools/siwe",
    is_current: |workspace| SIWE.has_npm_package(workspace, "siwe"),
    install: |workspace| SIWE.install_by_npm(workspace, "siwe", &[&format!("ethers@{}", ETHERS.version)]),
};
