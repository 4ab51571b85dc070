// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// A correct token. Everyone mints; the tokens below change one thing each.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);

    string public name = "Dollar";
    string public symbol = "USDC";
    uint8 public decimals = 6;
    mapping(address => uint256) internal balances;
    mapping(address => mapping(address => uint256)) public allowance;

    function balanceOf(address holder) public view virtual returns (uint256) { return balances[holder]; }

    function mint(address to, uint256 value) external {
        balances[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    /// Three payments in one call.
    function payThree(address to, uint256 first, uint256 second, uint256 third) external {
        move(msg.sender, to, first);
        move(msg.sender, to, second);
        move(msg.sender, to, third);
    }

    function takeAndRevert(address from, address to, uint256 value) external {
        move(from, to, value);
        revert("no");
    }

    /// The transaction succeeds, and nothing has moved.
    function payAndCatch(address to, uint256 value) external {
        try this.takeAndRevert(msg.sender, to, value) {} catch {}
    }

    function setDecimals(uint8 value) external { decimals = value; }

    function move(address from, address to, uint256 value) internal virtual {
        balances[from] -= value;
        balances[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Keeps a tenth of each transfer, and logs the whole.
contract Taxed is Token {
    function move(address from, address to, uint256 value) internal override {
        balances[from] -= value;
        balances[to] += value - value / 10;
        emit Transfer(from, to, value);
    }
}

/// Moves nothing, logs nothing, returns false.
contract Declining is Token {
    function transfer(address, uint256) external pure override returns (bool) { return false; }
}

/// Moves nothing, and logs; `transfer` returns false besides.
contract Boasting is Token {
    function transfer(address to, uint256 value) external override returns (bool) {
        move(msg.sender, to, value);
        return false;
    }

    function claim(address from, address to, uint256 value) external { emit Transfer(from, to, value); }

    function move(address from, address to, uint256 value) internal override { emit Transfer(from, to, value); }
}

/// Balances are shares of something that grows and shrinks.
contract Rebasing is Token {
    uint256 public percent = 100;

    function rebase(uint256 value) external { percent = value; }

    function balanceOf(address holder) public view override returns (uint256) {
        return balances[holder] * percent / 100;
    }
}

/// Will not say what anybody has.
contract Secretive is Token {
    function balanceOf(address) public pure override returns (uint256) { revert("rate limit exceeded"); }
}

/// Says it never.
contract Endless is Token {
    function balanceOf(address) public pure override returns (uint256) { while (true) {} return 0; }
}

/// Says it in no form that can be read.
contract Mute is Token {
    function balanceOf(address) public pure override returns (uint256) { assembly { return(0, 0) } }
}

/// An ERC-721: the same topic, the id as a fourth one, and no data.
contract Collectible {
    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 id) external {
        balanceOf[to] += 1;
        emit Transfer(address(0), to, id);
    }
}

/// Of the first years: the same topic, and everything else in the data.
contract Unindexed {
    event Transfer(address from, address to, uint256 value);

    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

/// Logs what nobody moved, wherever its code is: as the system address of EIP-7708 does for coins.
contract Emitter {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function emitTransfer(address from, address to, uint256 value) external { emit Transfer(from, to, value); }
}

/// Keeps its data, and runs the code of another contract, which its owner exchanges.
contract Proxy {
    bytes32 private constant CODE = keccak256("proxy.code");

    function upgrade(address code) external {
        bytes32 slot = CODE;
        assembly { sstore(slot, code) }
    }

    fallback() external payable {
        bytes32 slot = CODE;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
