// createCache(): concurrent callers share one read, and during the pause after the read, callers get its value.
// cachedByKey() keeps such a cache for each of the keys that were used last.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerError } from "../../src/base/errors.ts";
import { cachedByKey, createCache } from "../../src/database/cached.ts";

test("Callers during a read share the read, and callers soon after it get the same value.", async () => {
  let runs = 0;
  const done = Promise.withResolvers<void>();
  const read = createCache(
    async () => {
      await done.promise;
      return ++runs;
    },
    { intervalMs: 60_000 },
  );
  assert.equal(read.peek(), null);
  const both = [read(), read()];
  done.resolve();
  assert.deepEqual(await Promise.all(both), [1, 1]);
  assert.deepEqual([await read(), read.peek(), runs], [1, 1, 1]);
});

test("If a read fails, the callers that wait for it get the error, and the next call begins a new read.", async () => {
  let runs = 0;
  const read = createCache(async () => {
    if (++runs === 1) throw new Error("not now");
    return runs;
  });
  await assert.rejects(read(), /not now/);
  assert.equal(await read(), 2);
});

test("If PostgreSQL stops the first read because it took too long, a pause follows that is as long as the read, but at most slowIntervalMs; calls in the pause get the error of the read.", async () => {
  let nowMs = 0;
  let runs = 0;
  const read = createCache(
    async () => {
      runs += 1;
      nowMs += 5_000;
      if (runs === 1) throw new WorkerError("database_timeout", "stopped");
      return runs;
    },
    { clock: () => nowMs },
  );
  await assert.rejects(read(), /stopped/);
  nowMs += 4_900;
  await assert.rejects(read(), /stopped/);
  assert.equal(runs, 1);
  nowMs += 200;
  assert.equal(await read(), 2);
});

test("Only the values of the keys that were used last are cached.", async () => {
  const keep = cachedByKey<string>(2);
  let runs = 0;
  const readKey = (key: string) => keep(key, async () => `${key}${++runs}`)();
  assert.deepEqual(
    [await readKey("a"), await readKey("b"), await readKey("a")],
    ["a1", "b2", "a1"],
  );
  assert.deepEqual(
    [await readKey("c"), await readKey("a"), await readKey("b")],
    ["c3", "a1", "b4"],
  );
});

test("After a write, the value is read again, but frequent writes do not cause one read each.", async () => {
  let nowMs = 0;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let runs = 0;
  const run = async () => {
    nowMs += 300;
    return ++runs;
  };
  const read = createCache(run, { changedAtMs: () => changedAtMs, clock: () => nowMs });
  assert.equal(await read(), 1);
  nowMs += 5_000;
  assert.equal(await read(), 1, "the pause after the first read has not ended");
  changedAtMs = nowMs;
  assert.equal(await read(), 2);
  nowMs += 5_000;
  assert.equal(await read(), 2, "nothing has been written since the last read");
  changedAtMs = nowMs;
  assert.equal(await read(), 3);
  changedAtMs = nowMs += 10;
  assert.equal(await read(), 3, "frequent writes do not cause constant reads");
  nowMs += 600;
  assert.equal(await read(), 4);
});

test("After a slow read, the pause is at most 5 s for a small table, and longer for a large one.", async () => {
  let nowMs = 0;
  let runs = 0;
  const run = async () => {
    nowMs += 2_000;
    return ++runs;
  };
  const clock = () => nowMs;
  const small = createCache(run, { slowIntervalMs: 30_000, isSmall: () => true, clock });
  assert.equal(await small(), 1);
  nowMs += 4_900;
  assert.equal(await small(), 1);
  nowMs += 200;
  void small();
  await Promise.resolve();
  assert.equal(runs, 2);
  const large = createCache(run, { slowIntervalMs: 30_000, isSmall: () => false, clock });
  await large();
  nowMs += 30_000;
  await large();
  assert.equal(runs, 3, "for a large table the pause is in proportion to the duration of the read");
});

test("fresh() returns a value whose read began after the call. Calls of fresh() during a read share the next read.", async () => {
  const began: number[] = [];
  const ends: (() => void)[] = [];
  const read = createCache(async () => {
    const turn = began.push(began.length);
    await new Promise<void>((resolve) => ends.push(resolve));
    return turn;
  });
  const first = read.fresh();
  const second = [read.fresh(), read.fresh()];
  assert.equal(began.length, 1);
  ends[0]?.();
  assert.equal(await first, 1);
  while (ends.length < 2) await Promise.resolve();
  ends[1]?.();
  assert.deepEqual(await Promise.all(second), [2, 2]);
});
