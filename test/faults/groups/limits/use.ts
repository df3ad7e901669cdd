// Measures which share of a limit the workers use while jobs wait, and how soon other workers have the permits of a
// killed worker.
import { meanAtOnce } from "../../../worker/most.ts";
import { machineTime } from "../../../worker/run-log.ts";
import { record } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Stand } from "../../field/stand.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import { jobOf, RATED, TENANTS } from "./limits.ts";

const MS = 5;
/** The least share of the ideal rate, and of the capacity, that must be used. */
const USED = 0.8;
const RATE_USED = { least: 98, unit: "" } as const;
const FULL_AGAIN = { most: 10_000 };
const EDGE = 0.1;

/** Measures the use of a limit by jobs of 5 ms. */
export async function capacityUsed(
  field: Field,
  stand: Stand,
  watch: LeaseWatch,
  kind: "ten" | "three",
): Promise<void> {
  const capacity = kind === "ten" ? 10 : 3;
  const ideal = capacity / MS;
  const name = `used ${kind}`;
  const count = Math.round(ideal * field.times(10_000, 1_500));
  await addAll(
    stand,
    Array.from({ length: count }, (_, i) => jobOf(kind, `${name} ${i}`, MS)),
  );
  await done(stand, kind);
  const spans = watch.spans(stand.runs()).filter(({ n }) => n.startsWith(`${kind} ${name} `));
  const { from, to, starts } = steady(spans.map((span) => span.from));
  const what = `% of the ideal rate at capacity ${capacity}`;
  const rate = (100 * starts) / (to - from) / ideal;
  stand.figure(what, rate, { least: 100 * USED, unit: "" });
  const mean = meanAtOnce(spans, from, to);
  stand.figure(`mean number of running jobs at capacity ${capacity}`, mean, {
    ...{ least: USED * capacity, unit: "" },
  });
}

export async function rateUsed(field: Field, stand: Stand): Promise<void> {
  const count = (RATED.limit * field.times(15_000, 3_000)) / RATED.perMs;
  await addAll(
    stand,
    Array.from({ length: count }, (_, i) => jobOf("rated", `used ${i}`, 0)),
  );
  await done(stand, "rated");
  const own = stand.runs().filter(({ n }) => n.startsWith("rated used "));
  const { from, to, starts } = steady(own.map((run) => run.from));
  const ideal = RATED.limit / RATED.perMs;
  stand.figure(`% of ${RATED.limit}/s`, (100 * starts) / (to - from) / ideal, RATE_USED);
}

/** Measures how many jobs of limited queues run on average while such jobs wait. */
export async function queuesUsed(field: Field, stand: Stand, watch: LeaseWatch): Promise<void> {
  const [ms, each] = [20, field.times(100, 20)];
  const jobs = Array.from({ length: each * TENANTS }, (_, i) =>
    jobOf(`tenant/${i % TENANTS}`, `used ${i}`, ms),
  );
  await addAll(stand, jobs);
  await done(stand, "tenant");
  const spans = watch.spans(stand.runs()).filter(({ n }) => /^tenant\/\d+ used /.test(n));
  const { from, to } = steady(spans.map((span) => span.from));
  stand.figure(`mean number of running jobs, of ${TENANTS} × 3`, meanAtOnce(spans, from, to), {
    unit: "",
  });
}

/** Kills a worker that runs jobs under the limit `ten`, and measures how soon the other workers have all permits. */
export async function fullAgain(field: Field, stand: Stand): Promise<void> {
  const [kind, capacity, ms] = ["ten", 10, 100] as const;
  for (let round = 0; round < field.times(4, 1); round++) {
    const name = `kill ${round}`;
    const own = () => stand.runs().filter(({ n }) => n.startsWith(`${kind} ${name} `));
    let added = 0;
    // Some jobs must always wait.
    const refill = async () => {
      if (added > own().length + 20 * capacity) return;
      const some = Array.from({ length: 20 * capacity }, () =>
        jobOf(kind, `${name} ${added++}`, ms),
      );
      await addAll(stand, some);
    };
    await stand.until(`more than ${10 * capacity} jobs of the limit have started`, async () => {
      await refill();
      return own().length > 10 * capacity;
    });
    const victim = holder(stand, new Set(own().flatMap(({ by, to }) => (isOpen(to) ? [by] : []))));
    const at = await stand.kill(victim);
    const held = async () => {
      const [row] = await stand.sql<{ count: number }>(HELD, [kind, victim.workerId]);
      return row?.count ?? 0;
    };
    await stand.until("the other workers hold all permits of the limit", async () => {
      await refill();
      return (await held()) === capacity;
    });
    stand.figure(
      "from a kill until the other workers hold all permits",
      machineTime() - at,
      FULL_AGAIN,
    );
    await stand.hire();
    await done(stand, kind);
  }
}

/** Counts permits. A count of running jobs would be too low, because a worker keeps a permit between two jobs. */
const HELD = `select coalesce(sum(permits), 0)::int as count from worker._private_limit_permits
  where limit_id = (select id from worker._private_limits where name = $1) and worker_id <> $2`;

const isOpen = (to: number): boolean => to === Number.POSITIVE_INFINITY;

function holder({ living, dice }: Stand, names: ReadonlySet<string>): Member {
  const all = living.filter(({ by }) => names.has(by));
  return all[dice(all.length)] as Member;
}

/** Leaves out the first and the last tenth of the starts, because not all workers are busy at those times. */
function steady(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const [first, last] = [EDGE, 1 - EDGE].map((share) => Math.floor(sorted.length * share));
  const [from = 0, to = 0] = [sorted[first ?? 0], sorted[last ?? 0]];
  return { from, to, starts: (last ?? 0) - (first ?? 0) };
}

async function addAll(stand: Stand, jobs: readonly ReturnType<typeof jobOf>[]): Promise<void> {
  const utils = await stand.utils;
  for (let at = 0; at < jobs.length; at += 2_000) {
    for (const job of await utils.addJobs(jobs.slice(at, at + 2_000))) record(job, stand.log);
  }
}

const UNFINISHED = `select from worker._private_jobs j join worker._private_tasks t on t.id = j.task_id
  where t.identifier = $1 limit 1`;

async function done(stand: Stand, task: string): Promise<void> {
  const isSo = async () => (await stand.sql(UNFINISHED, [task])).length === 0;
  await stand.until(`all jobs of ${task} are done`, isSo);
}
