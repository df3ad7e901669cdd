// Changes limits and pauses tasks at random, while three workers run jobs. The number of running jobs under a limit
// never exceeds the highest value in force (see Force) since the oldest of these jobs started. The environment variable
// LIMITS_SEED repeats the random choices of a failed run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "../../../src/base/logger.ts";
import { type LimitOptions, matches } from "../../../src/domain/limits/limit.ts";
import { defineTask } from "../../../src/worker/task/task.ts";
import { migratedDatabase } from "../../support/database.ts";
import { random } from "../../support/random-calls.ts";
import { waitUntil, workerQueue } from "../worker-queue.ts";

const seed = Number(process.env["LIMITS_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const dice = random(seed);
const queue = workerQueue(() => migratedDatabase("worker", ["controls", "limits"]));

/** The time within which all workers apply a change of a limit, as documented. */
const APPLIED_MS = 2_000;
const DURATION_MS = 20_000;
const TASKS = ["mail_a", "mail_b", "mail_c", "other"] as const;
const LIMITS = [
  { name: "mails", task: "mail_*" },
  { name: "a", task: "mail_a" },
  { name: "b", task: "mail_b" },
] as const;
const VALUES = [1, 2, 3, 5, 8, 13, null];

interface Span {
  readonly task: string;
  readonly from: number;
  to: number;
}

/**
 * A value of a limit. The value is in force from the start of the call that sets it until APPLIED_MS after the next
 * change.
 */
interface Force {
  readonly most: number;
  readonly from: number;
  to: number;
}

class History {
  readonly forces: Force[] = [{ most: Number.POSITIVE_INFINITY, from: 0, to: Infinity }];

  async change(most: number, call: () => Promise<unknown>): Promise<void> {
    const from = performance.now();
    await call();
    const last = this.forces.at(-1);
    if (last !== undefined) last.to = performance.now() + APPLIED_MS;
    this.forces.push({ most, from, to: Number.POSITIVE_INFINITY });
  }

  /** Returns the greatest value in force at any moment from `from` to `to`. */
  most(from: number, to: number): number {
    const inForce = this.forces.filter((one) => one.from <= to && one.to >= from);
    return Math.max(...inForce.map(({ most }) => most));
  }
}

test("While limits change at random, no more jobs run than the highest limit in force allows, and all jobs run.", async () => {
  const spans: Span[] = [];
  const done = new Set<string>();
  const tasks = TASKS.map((task) =>
    defineTask(task, async (_payload, { job }) => {
      const span = { task, from: performance.now(), to: Number.POSITIVE_INFINITY };
      spans.push(span);
      await sleep(5 + (Number(job.id) % 7) * 20);
      span.to = performance.now();
      if (Number(job.id) % 50 === 0 && job.attempts === 1) throw new Error("once");
      done.add(job.id);
    }),
  );
  for (let n = 0; n < 3; n++)
    await queue.startWorker({ tasks, concurrency: 8, recovery: {}, logger: silentLogger });
  const histories = new Map(LIMITS.map(({ name }) => [name, new History()]));
  const added = new Set<string>();
  const end = performance.now() + DURATION_MS;
  const paused = new Set<string>();
  while (performance.now() < end) {
    await act();
    // A quarter of the waits are longer than APPLIED_MS.
    await sleep(dice(4) === 0 ? 2_500 : dice(400));
  }
  for (const task of paused) await queue.utils.resumeTask(task);
  // If a limit still allowed only one job at once, the remaining jobs would take minutes.
  for (const limit of LIMITS) await set(limit, 13);
  await queue.sql("update worker._private_jobs set run_at = now() where run_at > now()");
  await waitUntil(
    `all jobs have run (LIMITS_SEED=${seed})`,
    () => done.size === added.size,
    90_000,
  );
  const { tooMany, full } = judge(spans, histories);
  assert.deepEqual(tooMany, [], `LIMITS_SEED=${seed}`);
  assert.ok(full > 50, `only ${full} starts of jobs reached a limit`);
  assert.deepEqual(
    [...added].filter((id) => !done.has(id)),
    [],
  );

  async function act(): Promise<void> {
    const { utils } = queue;
    const task = TASKS[dice(TASKS.length)] as string;
    switch (dice(6)) {
      case 0:
        await utils.pauseTask(task);
        paused.add(task);
        break;
      case 1:
        await utils.resumeTask(task);
        paused.delete(task);
        break;
      case 2:
      case 3:
        for (const { id } of await utils.addJobs(
          Array.from({ length: 100 + dice(300) }, () => ({
            identifier: TASKS[dice(TASKS.length)] as string,
            payload: {},
          })),
        )) {
          added.add(id);
        }
        break;
      default: {
        const limit = LIMITS[dice(LIMITS.length)] as (typeof LIMITS)[number];
        const value = VALUES[dice(VALUES.length)] ?? null;
        await set(limit, value);
      }
    }
  }

  async function set(limit: (typeof LIMITS)[number], value: number | null): Promise<void> {
    const { utils } = queue;
    const history = histories.get(limit.name) as History;
    await history.change(value ?? Number.POSITIVE_INFINITY, () =>
      value === null
        ? utils.removeLimit(limit.name)
        : utils.setLimit({ ...limit, concurrency: value } satisfies LimitOptions),
    );
  }
});

/**
 * Checks the number of running jobs at each start of a job, because the number grows only then. `full`: how many starts
 * exactly reached a limit.
 */
function judge(spans: readonly Span[], histories: ReadonlyMap<string, History>) {
  let full = 0;
  const tooMany = LIMITS.flatMap(({ name, task }) => {
    const own = spans.filter((span) => matches(task, span.task));
    const history = histories.get(name) as History;
    return own.flatMap(({ from }) => {
      const running = own.filter((one) => one.from <= from && one.to > from);
      const oldest = Math.min(...running.map((one) => one.from));
      const most = history.most(oldest, from);
      if (running.length === most) full++;
      return running.length <= most
        ? []
        : [`limit ${name}: ${running.length} jobs ran at ${from}; the maximum is ${most}`];
    });
  });
  return { tooMany: tooMany.slice(0, 10), full };
}
