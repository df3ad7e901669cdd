// How often a worker checks whether a stream (stream.ts) without a free permit or token has ready jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Queryable } from "../../src/database/database.ts";
import { FetchPlan } from "../../src/worker/fetch/fetch-plan.ts";
import { ReadyChecks, type ReadyChecksParts } from "../../src/worker/safe/ready-checks.ts";
import type { Stream } from "../../src/worker/safe/stream.ts";
import { testQueue } from "../queue/queue-database.ts";
import { manualClock } from "../support/manual-clock.ts";

const queue = testQueue();

/**
 * Runs one check, whose statement takes `ms` and then fails if `fails` is true. Then calls consider() once more, and
 * returns its result: the milliseconds after which consider() is to be called again. If the next check is due at once,
 * this call of consider() starts it.
 */
async function afterCheckOf(ms: number, fails = false): Promise<number> {
  const clock = manualClock();
  const client: Queryable = {
    query: async (statement) => {
      clock.advance(ms);
      if (fails) throw new Error("the connection was lost");
      return queue.pool.query(statement);
    },
  };
  const done = Promise.withResolvers<void>();
  const connection = { database: { ...queue.db, client } };
  const parts = {
    clock,
    connections: { take: () => connection, giveBack: () => {} },
    changed: done.resolve,
  } as unknown as ReadyChecksParts;
  const checks = new ReadyChecks(parts);
  const stream = {
    ...{ queue: { size: 0 }, startable: 0, hasEvidence: false, tasks: { pauses: false } },
    ...{ plan: new FetchPlan(clock, "all"), group: { names: ["task"] }, noteEvidence() {} },
  } as unknown as Stream;
  checks.consider([stream]);
  await done.promise;
  stream.plan.raise();
  return checks.consider([stream]);
}

test("The interval after a slow check is 20 times its duration, but at most 5 seconds.", async () => {
  assert.equal(await afterCheckOf(100), 20 * 100 - 100);
  assert.ok((await afterCheckOf(4_000)) <= 5_000 - 4_000);
});

test("A slow check that fails does not make the interval longer.", async () => {
  // The second consider() has started a check. So its result is the interval that begins with this check.
  assert.equal(await afterCheckOf(60_000, true), 20);
});
