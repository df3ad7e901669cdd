import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoginThrottle } from "../../src/admin/access/login-throttle.ts";

/** What becomes of so many wrong logins at once, without waiting for those that wait. */
async function attempts(clients: readonly string[]) {
  const stop = new AbortController();
  const throttle = createLoginThrottle({ waitMs: 60_000 });
  const waits = clients.map((client) => throttle.delay(client, stop.signal));
  stop.abort();
  return Promise.all(waits);
}

const waiting = (verdicts: readonly boolean[]) => verdicts.filter((waits) => waits).length;

test("Eight wrong logins of a client wait at once, and 64 of all.", async () => {
  assert.equal(waiting(await attempts(Array.from({ length: 20 }, () => "10.0.0.1"))), 8);
  const many = Array.from({ length: 200 }, (_, n) => `10.0.0.${n}`);
  assert.equal(waiting(await attempts(many)), 64);
  assert.deepEqual((await attempts([...many.slice(0, 64), "10.1.1.1"])).at(-1), false);
});

test("An IPv6 /64 is one client, and an IPv4-mapped address is the IPv4 client.", async () => {
  const network = Array.from({ length: 9 }, (_, n) => `2001:db8:0:7:${n}::1`);
  assert.equal(waiting(await attempts(network)), 8);
  assert.equal(waiting(await attempts([...network, "2001:db8:0:8::1"])), 9);
  const mapped = Array.from({ length: 9 }, (_, n) => (n % 2 ? "::ffff:10.0.0.1" : "10.0.0.1"));
  assert.equal(waiting(await attempts(mapped)), 8);
});

test("Who has waited makes room for the next.", async () => {
  const throttle = createLoginThrottle({ waitMs: 1 });
  const { signal } = new AbortController();
  for (let n = 0; n < 20; n++) assert.equal(await throttle.delay("10.0.0.1", signal), true);
});
