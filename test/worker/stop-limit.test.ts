// How long a stop may take, without waiting for it: time passes when the test says so.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StopLimit } from "../../src/worker/stop-limit.ts";

const TIMES = { stopTimeoutMs: 25_000, abortGraceMs: 5_000 };

interface Sleep {
  readonly ms: number;
  /** The time has passed. */
  pass(): void;
}

/** A stop of a worker with so many running jobs, by a clock of the test's. */
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
  const over = limit.hold(work.promise, "SIGTERM").then(() => void log.push("over"));
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    log,
    limit,
    sleeps,
    running,
    over,
    turn,
    end: () => work.resolve(),
    /** The last sleep that was begun passes. */
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
  test("that is done in time is nobody's business.", async () => {
    const { log, limit, end, over, sleeps } = stopping(2);
    end();
    await over;
    assert.deepEqual([log, limit.hasGivenUp], [["over"], false]);
    assert.deepEqual(
      sleeps.map(({ ms }) => ms),
      [25_000],
    );
  });

  test("aborts signals at its bound; jobs that end in their grace are not given up.", async () => {
    const { log, limit, end, over, pass } = stopping(2);
    await pass();
    assert.deepEqual(log, [ABORT]);
    end();
    await over;
    assert.deepEqual([log, limit.hasGivenUp], [[ABORT, "over"], false]);
  });

  test("gives up what still runs after the grace, and a second later what is not written.", async () => {
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

  test("without a running job has no grace: only the database is away.", async () => {
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

  test("waits for ever with a bound of 0, until somebody aborts it.", async () => {
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
