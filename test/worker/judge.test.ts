// Tests the oracle (oracle.ts), which judges a trial of workers by its log and by the jobs that are left. The oracle
// must report each violation that no fault, such as the death of a process, excuses. The oracle must report nothing
// else.
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

function ran(n: string, job: string, { attempt = 1, ok = true, by = "w" } = {}): Entry[] {
  const { start, end } = started(n, job, attempt, by);
  return [start, end(ok)];
}

const left = (n: string, more: Partial<JobLeft> = {}): JobLeft => ({
  ...{ id: "1", payload: `{"n":"${n}"}`, attempts: 0, max_attempts: 25, last_error: null },
  ...{ locked_by: null, wait_s: 0, key: null, queue: null },
  ...more,
});

const QUEUE = { queue: "q" };

test("The oracle reports nothing for jobs that ran, were retried, or wait.", () => {
  const log = [
    ...[added("a", "1", QUEUE), added("b", "2", QUEUE), added("c", "3")],
    ...ran("a", "1", { ok: false }),
    ...ran("b", "2"),
    ...ran("a", "1", { attempt: 2 }),
    ...[added("old", "4", { key: "k" }), added("new", "4", { key: "k" }), ...ran("new", "4")],
  ];
  assert.deepEqual(judge(log, [left("c")], []), []);
});

describe("The oracle reports", () => {
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
    ["a job whose only attempt failed, and which has no row.", lost, [], /lost/],
    ["a completed job with a row.", [added("a", "1"), ...ran("a", "1")], [left("a")], /still/],
    [
      "a key whose newest payload did not run.",
      [old, newest, ...ran("old", "1")],
      [],
      /^new .* lost/,
    ],
    ["a job that succeeded twice.", twice, [], /succeeded 2 times/],
    ["more attempts than the maximum.", beyond, [], /tried 2 times; the maximum is 1/],
    ["an attempt that was not counted.", uncounted, [], /attempt 1 after attempt 1/],
    [
      "jobs of a queue that start out of order.",
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

  test("a job whose runs overlap, and two jobs of one queue whose runs overlap.", () => {
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

  test("no overlap with a run in a killed process.", () => {
    const first = started("a", "1", 1, "dead");
    const death: Entry = { e: "dead", by: "dead", t: now++ };
    const log = [added("a", "1"), first.start, death, ...ran("a", "1", { attempt: 2 })];
    assert.deepEqual(judge(log, [], [], { killed: true }), []);
  });

  test("a job that succeeded twice, unless the process of its first success died.", () => {
    const log = [added("a", "1"), ...ran("a", "1", { by: "alive" })];
    log.push(...ran("a", "1", { attempt: 2, by: "other" }));
    const death = (by: string): Entry => ({ e: "dead", by, t: now });
    const leniency = { killed: true };
    assert.match(
      judge([...log, death("other")], [], [], leniency).join(),
      /2 times, by alive,other/,
    );
    assert.deepEqual(judge([...log, death("alive")], [], [], leniency), []);
  });

  test("nothing for a job that another worker ran while the job's first worker was frozen.", () => {
    const frozen = started("a", "1", 1, "frozen");
    const fault: Entry = { e: "fault", by: "frozen", t: now };
    const other = ran("a", "1", { attempt: 2, by: "other" });
    const log = [added("a", "1"), frozen.start, fault, ...other, frozen.end()];
    assert.deepEqual(judge(log, [], [], { leaseLost: true }), []);
    assert.match(judge(log, [], []).join(), /2 times/);
  });

  test("a repeated run, even if connections of fast lanes were cut, unless a fault may have affected the first run.", () => {
    const pair = () => [started("a", "1", 1, "x"), started("a", "1", 1, "y")] as const;
    for (const [by, count] of [
      ["x", 0],
      [undefined, 0],
      ["z", 3],
    ] as const) {
      const [one, other] = pair();
      const fault: Entry = { e: "fault", ...(by === undefined ? {} : { by }), t: now };
      const log = [added("a", "1"), one.start, fault, other.start, one.end(), other.end()];
      const found = judge(log, [], [], { cutFastLanes: true });
      assert.equal(found.length, count, `${by}: ${found.join()}`);
    }
  });

  test("an attempt that starts after an attempt with a higher number, even if there was a fault.", () => {
    const fault: Entry = { e: "fault", t: now };
    const tries = [2, 1].flatMap((attempt) => ran("a", "1", { attempt, ok: false }));
    const leniency = { killed: true, cutFastLanes: true, leaseLost: true };
    const found = judge([added("a", "1"), fault, ...tries], [left("a")], [], leniency);
    assert.deepEqual(found, ["a (job 1) started attempt 1 after attempt 2"]);
  });

  test("nothing if a worker that was frozen starts an attempt after another worker has run the next attempt.", () => {
    const other = ran("a", "1", { attempt: 2, by: "other", ok: false });
    const late = started("a", "1", 1, "frozen");
    const woken: Entry = { e: "fault", by: "frozen", t: now };
    const log = [added("a", "1"), ...other, late.start, woken, late.end(false)];
    assert.deepEqual(judge(log, [left("a")], [], { leaseLost: true }), []);
    assert.equal(judge(log, [left("a")], [], {}).length, 1);
    const later = [...log, ...ran("a", "1", { attempt: 2, by: "other", ok: false })];
    const again = judge(later, [left("a")], [], { leaseLost: true });
    assert.deepEqual(again, ["a (job 1) started attempt 2 after attempt 2"]);
  });

  test("a job that kills more processes than its maximum of attempts plus one.", () => {
    const log = [added("a", "1", { max: 1 })];
    for (const by of ["x", "y"]) log.push({ e: "dead", by, t: now++, n: "a" });
    assert.deepEqual(judge(log, [left("a")], [], {}), []);
    log.push({ e: "dead", by: "z", t: now++, n: "a" });
    assert.deepEqual(judge(log, [left("a")], [], {}), [
      "a has killed 3 processes; the maximum is 2",
    ]);
  });

  test("a job that does not start again in time after the death of its process.", () => {
    const first = started("a", "1", 1, "dead");
    const log = [added("a", "1"), first.start, { e: "dead", by: "dead", t: now } as Entry];
    now += 500;
    log.push(...ran("a", "1", { attempt: 2 }));
    const leniency = { killed: true, freedWithinMs: 600 };
    assert.deepEqual(judge(log, [], [], leniency), []);
    assert.match(judge(log, [], [], { ...leniency, freedWithinMs: 400 }).join(), /a was stuck/);
  });

  test("both overlaps if two short runs, one after the other, overlap a long run.", () => {
    const names = ["a", "b", "c"] as const;
    const [long, brief, third] = names.map((n, index) => started(n, String(index + 1)));
    if (!long || !brief || !third) throw new Error("three");
    const log = [
      ...names.map((n, index) => added(n, String(index + 1), QUEUE)),
      ...[long.start, brief.start, brief.end(), third.start, third.end(), long.end()],
    ];
    assert.equal(judge(log, [], []).filter((one) => one.includes("overlap")).length, 2);
  });

  test("nothing for a key whose newest add was rejected but may have been committed.", () => {
    const log = [added("a", "1", { key: "k" }), { e: "maybe", n: "b", key: "k" } as Entry];
    assert.deepEqual(judge([...log, ...ran("b", "1")], [], []), []);
    assert.match(judge([added("a", "1", { key: "k" }), ...ran("b", "1")], [], []).join(), /lost/);
  });
});
