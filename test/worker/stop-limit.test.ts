// Tests the time limits of a worker's stop. The tests end each wait themselves, so no real time passes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StopLimit } from "../../src/worker/stop-limit.ts";

const TIMES = { stopTimeoutMs: 25_000, abortGraceMs: 5_000 };

interface Sleep {
  readonly ms: number;
  /** Ends the sleep, as if its time had passed. */
  pass(): void;
}

/**
 * Begins the stop of a worker with `jobs` running jobs. Returns the log and the sleeps of the stop, and functions that
 * control the stop.
 */
function stopping(jobs: number, times = TIMES) {
  const sleeps: Sleep[] = [];
  const log: string[] = [];
  const running = new Set(Array.from({ length: jobs }, (_, n) => `${n}`));
  const part = {
    get runningIds() {
      return [...running];
    },
    abort: (reason: Error) => void log.push(`abort: ${reason.message}`),
    abandon(reason: string) {
      log.push(`abandon: ${reason}`);
      running.clear();
    },
  };
  const limit = new StopLimit(
    times,
    () => [part],
    (ms, signal) =>
      new Promise((resolve) => {
        sleeps.push({ ms, pass: () => resolve(true) });
        signal.addEventListener("abort", () => resolve(false));
      }),
  );
  const work = Promise.withResolvers<void>();
  const over = limit.waitFor(work.promise, "SIGTERM").then(() => void log.push("over"));
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    log,
    limit,
    sleeps,
    running,
    over,
    turn,
    end: () => work.resolve(),
    /** Ends the sleep that began last, as if its time had passed. */
    async pass() {
      sleeps.at(-1)?.pass();
      await turn();
    },
  };
}

const LATE = "SIGTERM; not done after 25000 ms";
const ABORT = `abort: the worker was stopped: ${LATE}`;
const ABANDON = `abandon: interrupted: the worker was stopped (${LATE})`;

describe("A stop", () => {
  test("that ends in time aborts nothing.", async () => {
    const { log, limit, end, over, sleeps } = stopping(2);
    end();
    await over;
    assert.deepEqual([log, limit.hasGivenUp], [["over"], false]);
    assert.deepEqual(
      sleeps.map(({ ms }) => ms),
      [25_000],
    );
  });

  test("aborts the signals of running jobs after stopTimeoutMs; jobs that end within abortGraceMs are not abandoned.", async () => {
    const { log, limit, end, over, pass } = stopping(2);
    await pass();
    assert.deepEqual(log, [ABORT]);
    end();
    await over;
    assert.deepEqual([log, limit.hasGivenUp], [[ABORT, "over"], false]);
  });

  test("abandons running jobs after abortGraceMs, and is given up a second later if results are not written.", async () => {
    const { log, limit, over, pass, sleeps } = stopping(2);
    await pass();
    await pass();
    assert.deepEqual([log, limit.hasGivenUp], [[ABORT, ABANDON], true]);
    assert.equal(limit.givenUp.aborted, false);
    await pass();
    await over;
    assert.deepEqual(log, [ABORT, ABANDON, "over"]);
    assert.equal(limit.givenUp.aborted, true);
    assert.deepEqual(
      sleeps.map(({ ms }) => ms),
      [25_000, 5_000, 1_000],
    );
  });

  test("without a running job does not wait for abortGraceMs.", async () => {
    const { limit, over, pass, sleeps } = stopping(0);
    await pass();
    assert.equal(limit.hasGivenUp, false);
    await pass();
    await over;
    assert.equal(limit.hasGivenUp, true);
    assert.deepEqual(
      sleeps.map(({ ms }) => ms),
      [25_000, 1_000],
    );
  });

  test("with a stopTimeoutMs of 0 waits until abort() is called.", async () => {
    const { log, limit, over, turn, pass, end, sleeps } = stopping(1, {
      ...TIMES,
      stopTimeoutMs: 0,
    });
    await turn();
    assert.deepEqual([log, sleeps], [[], []]);
    limit.abort("enough");
    limit.abort("once more");
    assert.deepEqual(log, ["abort: the worker was stopped: enough"]);
    await pass();
    end();
    await over;
    assert.equal(log[1], "abandon: interrupted: the worker was stopped (enough)");
  });
});
