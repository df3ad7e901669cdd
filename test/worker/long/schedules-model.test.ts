// Makes random changes to schedules and to their jobs, between ticks and while ten schedulers add the jobs of ticks.
// After each step, compares the jobs with those of a simple model (schedules-model.ts). The environment variable
// SCHEDULES_SEED sets the seed of the random numbers.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { runSchedule } from "../../../src/commands/schedules/manual-run.ts";
import {
  addSchedule,
  changeSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
} from "../../../src/commands/schedules/stored-schedules.ts";
import type { Database } from "../../../src/database/database.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { cronEntry } from "../../../src/domain/cron/cron-entry.ts";
import { checkedSchedule } from "../../../src/domain/cron/schedule.ts";
import { migratedDatabase } from "../../support/database.ts";
import { random } from "../../support/random-calls.ts";
import { testPool } from "../../support/test-pool.ts";
import { ManualTime } from "../cron-harness.ts";
import { runner } from "../schedule-harness.ts";
import {
  addDueJobs,
  copyOf,
  type Job,
  type Model,
  type Plan,
  resumePlan,
  sortedJobs,
  tickAfter,
} from "./schedules-model.ts";

const seed = Number(process.env["SCHEDULES_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const dice = random(seed);
const own = testPool((await migratedDatabase("worker", ["schedules"])).url, 14);
after(() => own.close());
const { pool } = own;
const db: Database = { client: pool, schema: schemaName() };

const SCHEDULERS = 10;
const STEPS = 400;
const NAMES = ["a", "b", "c", "d", "e", "f"] as const;
const PATTERNS = ["* * * * *", "*/2 * * * *", "1-59/5 * * * *"] as const;
const MINUTE_MS = 60_000;

const oneOf = <T>(all: readonly T[]): T => all[dice(all.length)] as T;
/** A full hour, 23 to 24 hours from now. */
const START_MS = (Math.floor(Date.now() / 3_600_000) + 24) * 3_600_000;

test("With ten schedulers, schedules that change at random add exactly the jobs of the model.", async () => {
  const time = new ManualTime(new Date(START_MS + 1_000).toISOString());
  const all = Array.from({ length: SCHEDULERS }, () => runner({ pool, time }));
  await Promise.all(all.map(({ schedules }) => schedules.start(true)));
  await time.resting(SCHEDULERS);
  const models = new Map<string, Model>(
    NAMES.map((name) => [name, { name, plan: null, jobs: [] }]),
  );
  let versions = 0;
  let [added, during] = [0, 0];
  for (let step = 0; step < STEPS; step++) {
    for (let acts = dice(4); acts > 0; acts--) await act(oneOf(NAMES));
    const minutes = dice(5) === 0 ? 2 + dice(12) : 1;
    const toMs = Math.floor(time.nowMs / MINUTE_MS) * MINUTE_MS + minutes * MINUTE_MS;
    const disturbed = dice(3) === 0 ? oneOf(NAMES) : null;
    const other = disturbed === null ? null : disturbance(disturbed);
    await Promise.all([time.goTo(new Date(toMs).toISOString(), SCHEDULERS), other?.run()]);
    // If a scheduler finds the row of a due schedule locked or just changed, it reads the row again a second later.
    for (const ms of [1_000, 2_000, 3_000])
      await time.goTo(new Date(toMs + ms).toISOString(), SCHEDULERS);
    for (const model of models.values()) {
      const before = model.jobs.length;
      if (model.name === disturbed && other !== null) {
        during++;
        await settleDisturbed(model, toMs, other.change);
      } else {
        addDueJobs(model, toMs);
        assert.deepEqual(await jobsOf(model.name), sortedJobs(model), why(step, model));
      }
      added += model.jobs.length - before;
    }
  }
  await Promise.all(all.map(({ schedules }) => schedules.stop()));
  assert.ok(
    added > STEPS / 2 && during > STEPS / 10,
    `${added} jobs and ${during} changes during ticks are too few for this test`,
  );

  function why(step: number, model: Model): string {
    return `SCHEDULES_SEED=${seed}, step ${step}, ${JSON.stringify({ ...model, jobs: undefined })}`;
  }

  /**
   * Applies the change and the ticks up to `toMs` to the model. It is not known which came first, so both orders are
   * compared with the database.
   */
  async function settleDisturbed(model: Model, toMs: number, change: (model: Model) => void) {
    const [before, behind] = [copyOf(model), copyOf(model)];
    change(before);
    addDueJobs(before, toMs);
    addDueJobs(behind, toMs);
    change(behind);
    const there = await jobsOf(model.name);
    const nextMs = await nextOf(model.name);
    const isIt = (one: Model) =>
      JSON.stringify(sortedJobs(one)) === JSON.stringify(there) &&
      (one.plan?.nextMs ?? null) === nextMs;
    const found = [before, behind].find(isIt);
    if (found === undefined) assert.deepEqual(there, sortedJobs(behind), why(-1, before));
    Object.assign(model, found);
  }

  function newPlan(): Plan {
    const pattern = oneOf(PATTERNS);
    return {
      ...{ pattern, version: ++versions, overlap: oneOf(["allow", "skip", "replace"] as const) },
      ...{ jitterMs: oneOf([0, 45_000]), fillMs: oneOf([0, 5 * MINUTE_MS]), isPaused: false },
      nextMs: tickAfter(pattern, time.nowMs),
    };
  }

  /** Makes a random change, or none, in the database and in the model. */
  async function act(name: string): Promise<void> {
    const model = models.get(name) as Model;
    const { plan, jobs } = model;
    if (plan === null) return add(model);
    switch (dice(9)) {
      case 0:
        await pauseSchedule(db, name);
        plan.isPaused = true;
        return;
      case 1:
      case 2:
        if (plan.isPaused) resumePlan(plan, time.nowMs);
        return inStep(plan, name, (inside) => resumeSchedule(inside, name));
      case 3: {
        const to = newPlan();
        Object.assign(plan, { ...to, isPaused: plan.isPaused, fillMs: plan.fillMs });
        return inStep(plan, name, (inside) => changeSchedule(inside, name, changesTo(to)));
      }
      case 4:
        if (dice(3) > 0) return;
        await removeSchedule(db, name);
        model.plan = null;
        return;
      case 5:
        await runSchedule(db, name);
        jobs.push({
          ts: null,
          version: plan.version,
          runAt: null,
          isKeyed: false,
          state: "waiting",
        });
        return;
      default: {
        if (jobs.length === 0) return;
        return work(model, oneOf(jobs), oneOf(["running", "failed", "done", "done"] as const));
      }
    }
  }

  async function add(model: Model): Promise<void> {
    const plan = newPlan();
    const { pattern, version, jitterMs, overlap, fillMs } = plan;
    const entry = cronEntry(pattern, model.name, { fillMs });
    const schedule = checkedSchedule({ ...entry, payload: { version }, jitterMs, overlap });
    await inStep(plan, model.name, (inside) => addSchedule(inside, schedule));
    model.plan = plan;
  }

  /**
   * Returns a random change: `run` makes the change in the database, `change` makes the same change in a model. Returns
   * null if the schedule does not exist.
   */
  function disturbance(name: string) {
    const model = models.get(name) as Model;
    if (model.plan === null) return null;
    const version = ++versions;
    const changes = [
      {
        run: () => pauseSchedule(db, name),
        change: ({ plan }: Model) => {
          if (plan !== null) plan.isPaused = true;
        },
      },
      {
        run: () => changeSchedule(db, name, { payload: { version } }),
        change: ({ plan }: Model) => {
          if (plan !== null) plan.version = version;
        },
      },
      {
        run: () => removeSchedule(db, name),
        change: (one: Model) => {
          one.plan = null;
        },
      },
    ];
    return dice(4) === 0 ? (changes[2] ?? null) : (changes[dice(2)] ?? null);
  }
});

const changesTo = ({ pattern, version, jitterMs, overlap }: Plan) => ({
  ...{ pattern, jitterMs, overlap },
  payload: { version },
});

/**
 * Runs a command and sets the schedule's next tick to that of the model. The command computes the next tick by the
 * database's clock, which is far behind the schedulers' clock.
 */
async function inStep(
  { nextMs }: Plan,
  name: string,
  command: (inside: Database) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await command({ ...db, client });
    await client.query("update worker._private_schedules set next_at = $2 where identifier = $1", [
      name,
      new Date(nextMs).toISOString(),
    ]);
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** Starts, fails or completes a job, in the database and in the model. */
async function work(model: Model, job: Job, state: "running" | "failed" | "done"): Promise<void> {
  const [row] = (await rowsOf(model.name)).filter(
    (one) => JSON.stringify(one.job) === JSON.stringify(job),
  );
  if (row === undefined) return; // Only the model has this job, so the next comparison fails.
  if (state === "done") {
    await pool.query("delete from worker._private_jobs where id = $1", [row.id]);
    model.jobs.splice(model.jobs.indexOf(job), 1);
    return;
  }
  await pool.query(
    state === "running"
      ? "update worker._private_jobs set locked_by = 'w', locked_at = now(), attempts = 1 where id = $1"
      : "update worker._private_jobs set locked_by = null, locked_at = null, attempts = max_attempts where id = $1",
    [row.id],
  );
  job.state = state;
}

async function rowsOf(name: string): Promise<{ id: string; job: Job }[]> {
  const { rows } = await pool.query<{
    id: string;
    ts: string | null;
    version: number;
    run_at: Date;
    key: string | null;
    is_locked: boolean;
    is_failed: boolean;
  }>(
    `select jobs.id, case when payload -> '_cron' ->> 'manual' is null then payload -> '_cron' ->> 'ts' end as ts,
       (payload ->> 'version')::int as version, run_at, key, locked_at is not null as is_locked,
       attempts >= max_attempts as is_failed
     from worker._private_jobs as jobs join worker._private_tasks as tasks on tasks.id = task_id
     where identifier = $1 order by jobs.id`,
    [name],
  );
  return rows.map(({ id, ts, version, run_at: runAt, key, ...row }) => ({
    id,
    job: {
      ts: ts === null ? null : Date.parse(ts),
      version,
      runAt: ts === null ? null : runAt.getTime(),
      isKeyed: key !== null,
      state: row.is_locked ? "running" : row.is_failed ? "failed" : "waiting",
    },
  }));
}

const jobsOf = async (name: string) =>
  sortedJobs({ jobs: (await rowsOf(name)).map(({ job }) => job) });

async function nextOf(name: string): Promise<number | null> {
  const { rows } = await pool.query<{ next_at: Date }>(
    "select next_at from worker._private_schedules where identifier = $1",
    [name],
  );
  return rows[0]?.next_at.getTime() ?? null;
}
