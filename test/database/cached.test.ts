// Readings that many ask for: shared while they run, kept while they rest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cached, cachedByKey } from "../../src/database/cached.ts";

test("Whoever asks during a reading shares it, and whoever asks soon after gets the same.", async () => {
  let runs = 0;
  const done = Promise.withResolvers<void>();
  const read = cached(
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

test("A reading that fails is told to those who waited, and tried again by the next.", async () => {
  let runs = 0;
  const read = cached(async () => {
    if (++runs === 1) throw new Error("not now");
    return runs;
  });
  await assert.rejects(read(), /not now/);
  assert.equal(await read(), 2);
});

test("Of different questions only the last few are kept.", async () => {
  const keep = cachedByKey<string>(2);
  let runs = 0;
  const ask = (key: string) => keep(key, async () => `${key}${++runs}`)();
  assert.deepEqual([await ask("a"), await ask("b"), await ask("a")], ["a1", "b2", "a1"]);
  assert.deepEqual([await ask("c"), await ask("a"), await ask("b")], ["c3", "a1", "b4"]);
});

test("After a write what was read before is read anew, and waited for, but not a second time.", async () => {
  let nowMs = 0;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let runs = 0;
  const run = async () => {
    nowMs += 300;
    return ++runs;
  };
  const read = cached(run, { changedAtMs: () => changedAtMs, clock: () => nowMs });
  assert.equal(await read(), 1);
  nowMs += 5_000;
  assert.equal(await read(), 1, "it rests");
  changedAtMs = nowMs;
  assert.equal(await read(), 2);
  nowMs += 5_000;
  assert.equal(await read(), 2, "nothing was written since");
  changedAtMs = nowMs;
  assert.equal(await read(), 3);
  changedAtMs = nowMs += 10;
  assert.equal(await read(), 3, "who writes all the time does not make it read all the time");
  nowMs += 600;
  assert.equal(await read(), 4);
});

test("A slow reading of a small table was the machine's doing, and rests for 5 s at most.", async () => {
  let nowMs = 0;
  let runs = 0;
  const run = async () => {
    nowMs += 2_000;
    return ++runs;
  };
  const clock = () => nowMs;
  const small = cached(run, { slowIntervalMs: 30_000, isSmall: () => true, clock });
  assert.equal(await small(), 1);
  nowMs += 4_900;
  assert.equal(await small(), 1);
  nowMs += 200;
  void small();
  await Promise.resolve();
  assert.equal(runs, 2);
  const large = cached(run, { slowIntervalMs: 30_000, isSmall: () => false, clock });
  await large();
  nowMs += 30_000;
  await large();
  assert.equal(runs, 3, "a large one rests in proportion");
});

test("A fresh value is read after the call, once for all that ask during a reading.", async () => {
  const began: number[] = [];
  const ends: (() => void)[] = [];
  const read = cached(async () => {
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
