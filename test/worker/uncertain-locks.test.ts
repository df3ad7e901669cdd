// Tests how long a stop waits if a fetch without an answer may have locked jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UncertainLocks } from "../../src/worker/safe/uncertain-locks.ts";
import { manualClock } from "../support/manual-clock.ts";

/**
 * Returns UncertainLocks after a lost fetch and the beginning of a stop, and its clock. Bytes arrive while `sendsBytes`
 * returns true.
 */
function ending(isLeased: boolean, sendsBytes: () => boolean) {
  const clock = manualClock();
  let bytes = 0;
  const uncertain = new UncertainLocks({
    clock,
    trips: { isNone: true, hasResults: false },
    lease: { hasHeartbeats: isLeased },
    connections: {
      cancel: () => {},
      get bytesReceived() {
        return sendsBytes() ? ++bytes : bytes;
      },
    },
    onLeft: () => {},
  });
  uncertain.fetchLost();
  uncertain.end();
  return { uncertain, clock };
}

test("Jobs may be locked while a fetch or a write of results has no answer.", () => {
  const trips = { isNone: false, hasResults: true };
  const [lease, connections] = [{ hasHeartbeats: true }, { cancel() {}, bytesReceived: 0 }];
  const uncertain = new UncertainLocks({
    ...{ clock: manualClock(), trips, lease, connections },
    onLeft: () => {},
  });
  assert.equal(uncertain.mayHaveLocks, true);
  trips.isNone = true;
  assert.equal(uncertain.mayHaveLocks, false);
});

test("A stop of a worker with a lease no longer waits for a lost fetch when no bytes have arrived for 400 ms.", () => {
  const { uncertain, clock } = ending(true, () => false);
  clock.advance(399);
  assert.equal(uncertain.delaysStop, true);
  clock.advance(1);
  assert.equal(uncertain.delaysStop, false);
  assert.equal(clock.nextMs, null);
});

test("A stop waits at most five times 400 ms while bytes arrive.", () => {
  const { uncertain, clock } = ending(true, () => true);
  clock.advance(1_999);
  assert.equal(uncertain.delaysStop, true);
  clock.advance(1);
  assert.equal(uncertain.delaysStop, false);
});

test("Without a lease, a stop waits until the jobs that a lost fetch may have locked are returned.", async () => {
  const { uncertain, clock } = ending(false, () => false);
  clock.advance(60_000);
  assert.equal(uncertain.delaysStop, true);
  await uncertain.settle(async () => {});
  assert.equal(uncertain.delaysStop, false);
});
