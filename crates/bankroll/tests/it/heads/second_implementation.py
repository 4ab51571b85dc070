"""Published heads and receipts, checked by code that shares nothing with the product.

Only the standard library: Keccak-256, secp256k1, EIP-712, the trees of RFC 9162 and the bytes of a record are written
here again. Usage: second_implementation.py URL ADDRESS RECEIPT; prints what it has checked as one JSON object, and ends
with an exception at the first thing that is not so.
"""

import hashlib
import json
import random
import sys
import urllib.request

# --- Keccak-256 -----------------------------------------------------------------------------------------------------

LANE = (1 << 64) - 1


def rotate(lane, by):
    return ((lane << by) | (lane >> (64 - by))) & LANE if by else lane


def round_constants():
    register, constants = 1, []
    for _ in range(24):
        constant = 0
        for power in range(7):
            register = (register << 1) ^ ((register >> 7) * 0x71)
            register &= 0xFF
            if register & 2:
                constant ^= 1 << ((1 << power) - 1)
        constants.append(constant)
    return constants


def permute(lanes):
    for constant in round_constants():
        columns = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        parity = [columns[(x - 1) % 5] ^ rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ parity[x] for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x][y] = lanes[x][y], rotate(current, (step + 1) * (step + 2) // 2 % 64)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & LANE & row[(x + 2) % 5])
        lanes[0][0] ^= constant
    return lanes


def keccak(data):
    rate = 136
    data += b"\x01" + b"\x00" * (-(len(data) + 1) % rate)
    data = data[:-1] + bytes([data[-1] | 0x80])
    lanes = [[0] * 5 for _ in range(5)]
    for block in range(0, len(data), rate):
        for place in range(rate // 8):
            lane = int.from_bytes(data[block + 8 * place:block + 8 * place + 8], "little")
            lanes[place % 5][place // 5] ^= lane
        lanes = permute(lanes)
    return b"".join(lanes[place % 5][place // 5].to_bytes(8, "little") for place in range(4))


# --- secp256k1 ------------------------------------------------------------------------------------------------------

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def add(one, two):
    if one is None or two is None:
        return one or two
    if one[0] == two[0] and (one[1] + two[1]) % P == 0:
        return None
    if one == two:
        slope = 3 * one[0] * one[0] * pow(2 * one[1], -1, P)
    else:
        slope = (two[1] - one[1]) * pow(two[0] - one[0], -1, P)
    x = (slope * slope - one[0] - two[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def times(scalar, point):
    result = None
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def recover(digest, signature):
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    assert len(signature) == 65 and 0 < r < N and 0 < s <= N // 2 and v in (27, 28), "a signature in its one form"
    square = (pow(r, 3, P) + 7) % P
    y = pow(square, (P + 1) // 4, P)
    assert y * y % P == square, "a point of the curve"
    if y % 2 != v - 27:
        y = P - y
    z, inverse = int.from_bytes(digest, "big"), pow(r, -1, N)
    key = add(times(s * inverse % N, (r, y)), times(-z * inverse % N, G))
    return "0x" + keccak(key[0].to_bytes(32, "big") + key[1].to_bytes(32, "big"))[12:].hex()


# --- EIP-712 --------------------------------------------------------------------------------------------------------


def number(value):
    return value.to_bytes(32, "big")


def unhex(text):
    return bytes.fromhex(text[2:] if text.startswith("0x") else text)


def digest_of(head):
    domain = keccak(b"EIP712Domain(string name,string version,uint256 chainId)")
    domain = keccak(domain + keccak(b"Bankroll") + keccak(b"1") + number(head["chain_id"]))
    kind = keccak(b"PublishedHead(string audience,uint64 batch,bytes32 head,bytes32 root,uint64 time)")
    message = keccak(head["audience"].encode()) + number(head["batch"])
    message += unhex(head["head"]) + unhex(head["root"]) + number(head["seconds"])
    return keccak(b"\x19\x01" + domain + keccak(kind + message))


def check_signature(head, address):
    assert head["format"] == "bankroll head 1"
    assert head["address"].lower() == address.lower(), "the expected signer"
    assert recover(digest_of(head), unhex(head["signature"])) == address.lower(), "the signature of that signer"


# --- Trees ----------------------------------------------------------------------------------------------------------


def leaf(data):
    return hashlib.sha256(b"\x00" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def is_consistent(first, first_root, second, second_root, proof):
    """RFC 9162, section 2.1.4.2, step by step."""
    if first == second:
        return not proof and first_root == second_root
    if not 0 < first < second or not proof:
        return False
    path = ([first_root] if first & (first - 1) == 0 else []) + proof
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return fr == first_root and sr == second_root and sn == 0


def is_included(hash, index, size, path, root):
    """RFC 9162, section 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, hash
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


# --- Receipts -------------------------------------------------------------------------------------------------------

KINDS = "funds unallocated play_only world ecosystem developer table clearing suspense house custody in_transit".split()
KINDS += ["network_fees", "debt"]


def head_of(batch):
    data = b"bankroll batch 1\0" + batch["number"].to_bytes(8, "big") + batch["first"].to_bytes(8, "big")
    data += batch["count"].to_bytes(4, "big") + batch["at"].to_bytes(8, "big")
    return hashlib.sha256(data + unhex(batch["root"]) + unhex(batch["previous"])).digest()


def check_rooted(receipt, published):
    batch = receipt["batch"]
    siblings = [unhex(hash) for hash in receipt["siblings"]]
    own, index = leaf(unhex(receipt["record"])), receipt["seq"] - batch["first"]
    assert index >= 0 and is_included(own, index, batch["count"], siblings, unhex(batch["root"])), "in its batch"
    path = [unhex(hash) for hash in receipt["path"]]
    is_in = is_included(leaf(head_of(batch)), batch["number"] - 1, published["batch"], path, unhex(published["root"]))
    assert is_in, "its batch is under the published root"


class Bytes:
    """The bytes of a record: variable-length numbers, and texts after their lengths."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at].decode()


def opened(record):
    """The number and the name of the account that a record opens."""
    data = Bytes(unhex(record))
    assert data.number() == 1 and data.number() == 1, "version 1, and the record of an account"
    account = data.number()
    scope = data.text() if data.number() else "@house"
    kind, asset = KINDS[data.number()], data.number()
    owner = "/" + data.text() if data.number() else ""
    return account, f"{scope}/{kind}/{asset}{owner}"


def check_receipt(receipt, published):
    assert receipt["format"] == "bankroll receipt 3" and receipt["published"] == published
    assert unhex(receipt["head"]) == head_of(receipt["batch"])
    for one in [receipt] + receipt["accounts"]:
        check_rooted(one, published)
    names = dict(opened(one["record"]) for one in receipt["accounts"])
    for posting in receipt["readable"]["postings"]:
        for side in ("debit", "credit"):
            assert posting[side]["name"] == names[posting[side]["id"]], "the readable name is the proven one"
    return sorted(names.values())


# --- The run --------------------------------------------------------------------------------------------------------


def get(url, path, kept=None):
    with urllib.request.urlopen(url + path, timeout=30) as response:
        assert kept is None or response.headers["Cache-Control"] == kept, "how long a proxy may keep it"
        return json.loads(response.read())


def log(url):
    heads, after = [], ""
    while True:
        page = get(url, f"/v1/heads?limit=3{after}")
        heads += page["heads"]
        if "next" not in page:
            return heads
        after = f"&after={page['next']}"


def connected(one, two, proof):
    return is_consistent(one["batch"], unhex(one["root"]), two["batch"], unhex(two["root"]), proof)


def check_pair(url, one, two, chance):
    """The proof of the service holds; changed in any way, it does not. Returns how many forgeries were refused."""
    answer = get(url, f"/v1/heads/consistency?from={one['batch']}&to={two['batch']}")
    assert answer["from"] == one and answer["to"] == two
    proof, refused = [unhex(hash) for hash in answer["proof"]], 0
    assert connected(one, two, proof), (one["batch"], two["batch"])
    forged = [proof + [bytes(32)]]
    for place in range(len(proof)):
        byte = chance.randrange(32)
        changed = proof[place][:byte] + bytes([proof[place][byte] ^ 1 << chance.randrange(8)]) + proof[place][byte + 1:]
        forged += [proof[:place] + [changed] + proof[place + 1:], proof[:place] + proof[place + 1:]]
    for forgery in forged:
        assert not connected(one, two, forgery), "a forged proof is refused"
        refused += 1
    if one != two:
        assert not connected(two, one, proof) and not connected(dict(one, root=two["root"]), two, proof)
    return refused


def main():
    url, address, file = sys.argv[1:]
    assert keccak(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    chance, heads = random.Random(15), log(url)
    assert heads == sorted(heads, key=lambda head: -head["batch"])
    assert get(url, "/v1/heads/latest", "public, max-age=1") == heads[0]
    for head in heads:
        check_signature(head, address)
        assert get(url, f"/v1/heads/{head['batch']}", "public, max-age=31536000, immutable") == head
    pairs = [(one, two) for two in heads for one in heads if one["batch"] <= two["batch"]]
    refused = sum(check_pair(url, one, two, chance) for one, two in pairs)
    receipt = json.load(open(file))
    names = check_receipt(receipt, get(url, f"/v1/heads/{receipt['published']['batch']}"))
    print(json.dumps({"heads": len(heads), "pairs": len(pairs), "forgeries_refused": refused, "names": names}))


main()
