// How long a worker that ends waits for jobs that a lost fetch may have locked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UncertainLocks } from "../../src/worker/safe/uncertain-locks.ts";
import { manualClock } from "../support/manual-clock.ts";

/** A doubt after a fetch that broke; the server speaks whenever `speaks` is true. */
function ending(isLeased: boolean, speaks: () => boolean) {
  const clock = manualClock();
  let heard = 0;
  const doubt = new UncertainLocks({
    clock,
    trips: { isNone: true, hasResults: false },
    lease: { isHeld: isLeased },
    connections: {
      cancel: () => {},
      get heard() {
        return speaks() ? ++heard : heard;
      },
    },
    onLeft: () => {},
  });
  doubt.raise();
  doubt.end();
  return { doubt, clock };
}

test("A stop leaves what is in doubt to the lease once the server is silent for a moment.", () => {
  const { doubt, clock } = ending(true, () => false);
  clock.advance(399);
  assert.equal(doubt.isWaitedFor, true);
  clock.advance(1);
  assert.equal(doubt.isWaitedFor, false);
  assert.equal(clock.nextMs, null);
});

test("A stop waits five moments at the most while the server speaks.", () => {
  const { doubt, clock } = ending(true, () => true);
  clock.advance(1_999);
  assert.equal(doubt.isWaitedFor, true);
  clock.advance(1);
  assert.equal(doubt.isWaitedFor, false);
});

test("A stop without a lease waits until what is in doubt is given back.", async () => {
  const { doubt, clock } = ending(false, () => false);
  clock.advance(60_000);
  assert.equal(doubt.isWaitedFor, true);
  await doubt.settling(async () => {});
  assert.equal(doubt.isWaitedFor, false);
});
