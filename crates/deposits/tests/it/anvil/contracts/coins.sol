// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// Moves coins in the ways that count, and does what only looks like it.
contract Coins {
    uint256 public share;

    receive() external payable {}

    function pay(address to, uint256 value) public payable {
        (bool done, ) = to.call{value: value}("");
        require(done, "not taken");
    }

    function payTwice(address to) external payable {
        pay(to, msg.value / 2);
        pay(to, msg.value / 2);
    }

    /// To each address of an equal run of them: as many equal payments.
    function payOften(address to, uint256 value, uint256 times) external payable {
        for (uint256 time = 0; time < times; time++) pay(to, value);
    }

    function payAndRevert(address to, uint256 value) external payable {
        pay(to, value);
        revert("no");
    }

    /// The frame that pays carries no error of its own; the one above it is reverted, and the transaction succeeds.
    function payAndCatch(address to) external payable {
        try this.payAndRevert{value: msg.value}(to, msg.value) {} catch {}
    }

    function payAndBurn(address to) external payable {
        pay(to, msg.value);
        while (true) {}
    }

    /// Runs the code of the address: the value stays here.
    function callcode(address to) external payable {
        assembly { pop(callcode(gas(), to, callvalue(), 0, 0, 0, 0)) }
    }

    /// Runs the code of the address, with the caller and the value of this call.
    function delegate(address to) external payable {
        assembly { pop(delegatecall(gas(), to, 0, 0, 0, 0)) }
    }

    /// One wei more than there is.
    function payTooMuch(address to) external payable {
        assembly { pop(call(gas(), to, add(selfbalance(), 1), 0, 0, 0, 0)) }
    }

    function setShare(uint256 value) external { share = value; }

    /// What the call does depends on what was done before it.
    function payShare(address to) external { pay(to, share); }

    function payShareOrRevert(address to) external {
        require(share > 0, "nothing to pay");
        pay(to, share);
    }
}

/// Ends, and leaves what it has to an address.
contract Leaving {
    receive() external payable {}

    function leave(address payable to) external payable { selfdestruct(to); }

    function leaveAndRevert(address payable to) external payable {
        this.leave{value: msg.value}(to);
        revert("no");
    }

    function leaveAndCatch(address payable to) external payable {
        try this.leaveAndRevert{value: msg.value}(to) {} catch {}
    }
}

/// Pays a half of what it is created with.
contract Born {
    constructor(address to) payable {
        (bool done, ) = to.call{value: msg.value / 2}("");
        require(done, "not taken");
    }
}

/// Is created and ends at once.
contract Gone {
    constructor(address payable to) payable { selfdestruct(to); }
}

/// The code of a wallet that passes on what it gets (EIP-7702).
contract PassingOn {
    receive() external payable {
        (bool done, ) = address(0xbeef).call{value: msg.value}("");
        require(done, "not taken");
    }
}
