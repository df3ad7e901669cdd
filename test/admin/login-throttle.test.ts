import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoginThrottle } from "../../src/admin/access/login-throttle.ts";

function throttle() {
  let nowMs = 1_000_000;
  const { delay_s, failed } = createLoginThrottle(() => nowMs);
  return {
    delay_s,
    fail: (address: string, times: number) => {
      for (let n = 0; n < times; n++) failed(address);
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("After 20 failures a client waits, then has one try every 6 seconds.", () => {
  const { delay_s, fail, pass } = throttle();
  fail("10.0.0.1", 19);
  assert.equal(delay_s("10.0.0.1"), 0);
  fail("10.0.0.1", 1);
  assert.equal(delay_s("10.0.0.1"), 6);
  pass(5_999);
  assert.equal(delay_s("10.0.0.1"), 1);
  pass(1);
  assert.equal(delay_s("10.0.0.1"), 0);
  fail("10.0.0.1", 1);
  assert.equal(delay_s("10.0.0.1"), 6);
  assert.equal(delay_s("10.0.0.2"), 0);
  pass(10_000_000);
  fail("10.0.0.1", 19);
  assert.equal(delay_s("10.0.0.1"), 0);
});

test("An IPv6 /64 is one client, and an IPv4-mapped address is the IPv4 client.", () => {
  const { delay_s, fail } = throttle();
  fail("2001:db8:0:7::1", 10);
  fail("2001:db8:0:7:ffff::2", 10);
  assert.ok(delay_s("2001:db8:0:7:a:b:c:d") > 0);
  assert.equal(delay_s("2001:db8:0:8::1"), 0);
  fail("::ffff:10.0.0.1", 20);
  assert.ok(delay_s("10.0.0.1") > 0);
  assert.equal(delay_s("::ffff:10.0.0.2"), 0);
  fail("::1", 20);
  assert.ok(delay_s("::1") > 0);
});

test("The table does not grow with the number of clients.", () => {
  const { delay_s, fail } = throttle();
  fail("10.9.9.9", 20);
  for (let n = 0; n < 10_000; n++) fail(`10.1.${n >> 8}.${n & 255}`, 1);
  assert.equal(delay_s("10.9.9.9"), 0, "the oldest has been forgotten");
});
