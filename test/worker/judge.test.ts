// The oracle itself: it says nothing about a good run, and one thing about each way to go wrong.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judge } from "./oracle.ts";
import type { Entry } from "./run-log.ts";
import type { JobLeft } from "./worker-queue.ts";

let runs = 0;
let now = 0;

const added = (n: string, job: string, more: Partial<Entry & { e: "added" }> = {}): Entry => ({
  ...{ e: "added", n, job },
  ...more,
});

function started(n: string, job: string, attempt = 1, by = "w") {
  const run = `run ${runs++}`;
  const start: Entry = { e: "start", run, n, job, by, attempt, t: now++ };
  return { start, end: (ok = true): Entry => ({ e: "end", run, ok, t: now++ }) };
}

/** A run from its start to its end. */
function ran(n: string, job: string, { attempt = 1, ok = true } = {}): Entry[] {
  const { start, end } = started(n, job, attempt);
  return [start, end(ok)];
}

const left = (n: string, more: Partial<JobLeft> = {}): JobLeft => ({
  ...{ id: "1", payload: `{"n":"${n}"}`, attempts: 0, max_attempts: 25, last_error: null },
  ...{ locked_by: null, wait_s: 0, key: null, queue: null },
  ...more,
});

const QUEUE = { queue: "q" };

test("Nothing is wrong with jobs that ran, failed and ran again, or wait.", () => {
  const log = [
    ...[added("a", "1", QUEUE), added("b", "2", QUEUE), added("c", "3")],
    ...ran("a", "1", { ok: false }),
    ...ran("b", "2"),
    ...ran("a", "1", { attempt: 2 }),
    ...[added("old", "4", { key: "k" }), added("new", "4", { key: "k" }), ...ran("new", "4")],
  ];
  assert.deepEqual(judge(log, [left("c")], []), []);
});

describe("It sees", () => {
  const lost = [added("a", "1"), ...ran("a", "1", { ok: false })];
  const twice = [added("a", "1"), ...ran("a", "1"), ...ran("a", "1", { attempt: 2 })];
  const uncounted = [added("a", "1"), ...ran("a", "1", { ok: false }), ...ran("a", "1")];
  const [old, newest] = [added("old", "1", { key: "k" }), added("new", "1", { key: "k" })];
  const beyond = [
    ...[added("a", "1", { max: 1 }), ...ran("a", "1", { ok: false })],
    ...ran("a", "1", { attempt: 2 }),
  ];
  const queued = [added("a", "1", QUEUE), added("b", "2", QUEUE)];
  const cases: [string, Entry[], JobLeft[], RegExp][] = [
    ["a job that never ran.", [added("a", "1")], [], /^a \(job 1\) is lost$/],
    ["a job that failed and is gone.", lost, [], /lost/],
    [
      "a job that is done and still there.",
      [added("a", "1"), ...ran("a", "1")],
      [left("a")],
      /still/,
    ],
    [
      "a key whose newest payload did not run.",
      [old, newest, ...ran("old", "1")],
      [],
      /^new .* lost/,
    ],
    ["a job that succeeded twice.", twice, [], /succeeded 2 times/],
    ["an attempt beyond the last one.", beyond, [], /tried 2 times of 1/],
    ["an attempt that was not counted.", uncounted, [], /attempt 1 after attempt 1/],
    [
      "a queue out of order.",
      [...queued, ...ran("b", "2"), ...ran("a", "1")],
      [],
      /b started before/,
    ],
    ["a job that is still locked.", [added("a", "1")], [left("a", { locked_by: "w" })], /by w/],
  ];
  for (const [name, log, jobs, problem] of cases) {
    test(name, () => {
      const found = judge(log, jobs, []);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", problem);
    });
  }

  test("a job that overlaps itself, and two of a queue that overlap.", () => {
    const itself = [started("a", "1"), started("a", "1", 2)] as const;
    const neighbours = [started("a", "1"), started("b", "2")] as const;
    for (const [one, other] of [itself, neighbours]) {
      const log = [...queued, one.start, other.start, one.end(false), other.end(false)];
      assert.match(judge(log, [left("a"), left("b")], []).join("\n"), /overlap/);
    }
  });

  test("a queue that is still locked.", () => {
    assert.deepEqual(judge([], [], ["q"]), ["the queue q is still locked"]);
  });

  test("no overlap with what ran in a process that is dead.", () => {
    const first = started("a", "1", 1, "dead");
    const death: Entry = { e: "dead", by: "dead", t: now++ };
    const log = [added("a", "1"), first.start, death, ...ran("a", "1", { attempt: 2 })];
    assert.deepEqual(judge(log, [], [], { killed: true }), []);
  });
});
