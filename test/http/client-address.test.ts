import assert from "node:assert/strict";
import { test } from "node:test";
import { clientAddress, networkOf } from "../../src/http/bounds/client-address.ts";

const trusting = clientAddress(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);

test("Without trusted proxies the peer is the client, regardless of headers.", () => {
  const client = clientAddress([]);
  assert.equal(client("10.0.0.1", { "x-forwarded-for": "1.2.3.4" }), "10.0.0.1");
  assert.equal(client("::ffff:10.0.0.1", { forwarded: "for=1.2.3.4" }), "10.0.0.1");
});

test("The client is the rightmost hop that is not a trusted proxy.", () => {
  const cases: [string, Record<string, string>, string][] = [
    ["203.0.113.1", { "x-forwarded-for": "1.2.3.4" }, "203.0.113.1"],
    ["10.0.0.1", {}, "10.0.0.1"],
    ["10.0.0.1", { "x-forwarded-for": "6.6.6.6, 1.2.3.4" }, "1.2.3.4"],
    ["::ffff:10.0.0.1", { "x-forwarded-for": "6.6.6.6,1.2.3.4 , 10.9.9.9,192.0.2.7" }, "1.2.3.4"],
    ["10.0.0.1", { "x-forwarded-for": "10.0.0.3, 10.0.0.2" }, "10.0.0.3"],
    ["10.0.0.1", { "x-forwarded-for": "1.2.3.4, nonsense, 10.0.0.2" }, "10.0.0.2"],
    ["10.0.0.1", { "x-forwarded-for": "nonsense" }, "10.0.0.1"],
    ["10.0.0.1", { "x-forwarded-for": "1.2.3.4:5678" }, "1.2.3.4"],
    ["fd00::1", { "x-forwarded-for": "2001:db8::5" }, "2001:db8::5"],
    ["10.0.0.1", { forwarded: 'for="[2001:db8::5]:99";proto=https' }, "2001:db8::5"],
    ["10.0.0.1", { forwarded: "for=6.6.6.6, proto=http;For=1.2.3.4;by=10.0.0.9" }, "1.2.3.4"],
    ["10.0.0.1", { forwarded: "for=_hidden" }, "10.0.0.1"],
    ["10.0.0.1", { forwarded: "for=1.2.3.4", "x-forwarded-for": "1.2.3.4" }, "1.2.3.4"],
    ["10.0.0.1", { forwarded: "for=1.2.3.4", "x-forwarded-for": "6.6.6.6" }, "10.0.0.1"],
  ];
  for (const [peer, headers, client] of cases) {
    assert.equal(trusting(peer, headers), client, JSON.stringify([peer, headers]));
  }
});

test("Invalid networks are refused.", () => {
  for (const cidr of [
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0/8",
    "proxy",
    "::/129",
    "1.1.1.1/8/8",
  ]) {
    assert.throws(() => clientAddress([cidr]), /trustedProxies: ".*" is not a network/, cidr);
  }
});

test("A client is identified by its IPv4 address or its IPv6 /64 network.", () => {
  assert.equal(networkOf("::ffff:1.2.3.4"), "1.2.3.4");
  assert.equal(networkOf("2001:db8:0:7::1"), networkOf("2001:db8:0:7:9:9:9:9"));
  assert.notEqual(networkOf("2001:db8:0:7::1"), networkOf("2001:db8:0:8::1"));
});

test("All spellings of an address are one client.", () => {
  const mapped = ["::ffff:10.1.2.3", "::FFFF:a01:203", "0:0:0:0:0:ffff:10.1.2.3"];
  for (const peer of mapped) assert.equal(clientAddress([])(peer, {}), "10.1.2.3", peer);
  for (const cidr of ["10.0.0.0/8", "::ffff:10.0.0.0/104", "::ffff:a00:0/104", "::ffff:10.1.2.3"]) {
    const client = clientAddress([cidr]);
    for (const peer of ["10.1.2.3", ...mapped]) {
      assert.equal(
        client(peer, { "x-forwarded-for": "192.0.2.9" }),
        "192.0.2.9",
        `${cidr} ${peer}`,
      );
    }
    const stranger = client("192.0.2.1", { "x-forwarded-for": "192.0.2.9" });
    assert.equal(stranger, "192.0.2.1", cidr);
  }
  const headers = {
    "x-forwarded-for": "2001:0DB8:0:0:0:0:0:7",
    forwarded: 'for="[2001:db8::7]:4711"',
  };
  assert.equal(trusting("fd00::1", headers), "2001:db8::7");
  assert.equal(trusting("fd00::1", { "x-forwarded-for": "::ffff:c000:209" }), "192.0.2.9");
  assert.equal(
    clientAddress(["fe80::/10"])("fe80::1%eth0", { forwarded: "for=1.2.3.4" }),
    "1.2.3.4",
  );
  assert.equal(networkOf("::ffff:c000:209"), "192.0.2.9");
  assert.equal(networkOf("2001:0DB8:0:7::1"), networkOf("2001:db8:0:7:9:9:9:9"));
});

test("An IPv6 network that would cover all IPv4 addresses is refused.", () => {
  for (const cidr of ["::ffff:10.0.0.0/8", "::ffff:a00:0/95"]) {
    assert.throws(() => clientAddress([cidr]), /trustedProxies: ".*" is not a network/, cidr);
  }
});
