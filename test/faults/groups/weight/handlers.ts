// Tests handlers that throw unusual values, never end, or block their process. Each of their jobs must end, and the
// workers must continue to run.
import { THROWS } from "../../../worker/misbehavior.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";

const TIMEOUT_MS = 2_000;
const BLOCK_S = 30;
const BRIEF_BLOCK_S = 5;
/** The longest time between the timeout of a run and the end of the run, with a margin for a busy machine. */
const ENDED_MS = 5_000;

export async function handlers(field: Field): Promise<void> {
  const server = await field.server();
  const stands = await field.stands(server, {
    options: { timeoutMs: TIMEOUT_MS },
    name: "-handlers",
  });
  await field.each(stands, async (stand) => {
    await stand.hire(2);
    await stopStock(stand);
    await throwAnything(stand);
    await neverEnd(stand);
    await block(stand, field.brief ? BRIEF_BLOCK_S : BLOCK_S);
    for (const { by, exit, isStock } of stand.members) {
      if (!isStock && exit !== null) stand.problem(`${by} has ended: ${JSON.stringify(exit)}`);
    }
    await stand.end();
  });
}

async function stopStock(stand: Stand): Promise<void> {
  for (const member of stand.living) if (member.isStock) await member.stop();
}

/** Adds one job for each behavior (test/worker/misbehavior.ts). A job has one attempt. Returns the ids of the jobs. */
async function act(
  stand: Stand,
  behaviors: readonly string[],
  queueName?: string,
): Promise<string[]> {
  const utils = await stand.utils;
  const jobs = behaviors.map((behavior, index) => ({
    identifier: "single",
    payload: { n: `${behavior} ${index}`, ms: 0, failures: 0, children: 0, misbehavior: behavior },
    spec: { maxAttempts: 1, ...(queueName === undefined ? {} : { queueName }) },
  }));
  const added = await utils.addJobs(jobs);
  for (const [index, { id }] of added.entries()) {
    const n = String(jobs[index]?.payload.n);
    stand.log.write({ e: "added", n, job: id, max: 1 });
  }
  return added.map(({ id }) => id);
}

const OPEN = `select id::text, payload->>'misbehavior' as behavior, attempts, locked_by from worker._private_jobs
  where id = any($1::bigint[]) and (is_available or locked_at is not null)`;

async function ended(stand: Stand, what: string, ids: readonly string[], limitMs: number) {
  const open = () => stand.sql<{ behavior: string }>(OPEN, [ids]);
  await stand
    .until(
      `every job whose task ${what} has ended`,
      async () => (await open()).length === 0,
      limitMs,
    )
    .catch(async (error: Error) => {
      throw new Error(`${error.message}; left: ${JSON.stringify(await open())}`);
    });
}

async function throwAnything(stand: Stand): Promise<void> {
  const behaviors = THROWS.filter((behavior) => !behavior.startsWith("returns"));
  const ids = await act(stand, behaviors);
  await ended(stand, "throws", ids, 60_000);
  const rows = await stand.sql<{ behavior: string; length: number }>(
    `select payload->>'misbehavior' as behavior, coalesce(length(last_error), 0) as length
     from worker._private_jobs where id = any($1::bigint[])`,
    [ids],
  );
  const failed = new Map(rows.map(({ behavior, length }) => [behavior, length]));
  for (const behavior of behaviors) {
    const length = failed.get(behavior);
    if (length === undefined) stand.problem(`a job whose task ${behavior} counted as completed`);
    else if (length === 0)
      stand.problem(`a job whose task ${behavior} has failed without an error text`);
  }
  stand.figure("kinds of throws that ended as failures", failed.size, { unit: "" });
}

async function neverEnd(stand: Stand): Promise<void> {
  // There are more jobs than slots, so some jobs can start only after other jobs have timed out.
  const ids = await act(
    stand,
    Array.from({ length: 24 }, (_, n) => (n % 2 ? "never" : "late")),
  );
  await ended(stand, "never ends", ids, 60_000);
  const timed = stand.runs().filter(({ n }) => /^(never|late)/.test(n));
  for (const { from, to } of timed) {
    stand.figure("from the start of a handler that never ends to the end of its run", to - from, {
      most: TIMEOUT_MS + ENDED_MS,
    });
  }
}

async function block(stand: Stand, seconds: number): Promise<void> {
  const started = stand.members.map(({ workerId }) => workerId);
  const ids = await act(stand, [`blocks ${seconds}`, `blocks ${seconds}`], "line");
  await ended(stand, "blocks", ids, seconds * 2_000 + 60_000);
  const runs = stand.runs().filter(({ n }) => n.startsWith("blocks"));
  stand.figure(`runs of 2 jobs that block for ${seconds} s`, runs.length, { most: 2, unit: "" });
  const rows = await stand.sql<{ id: string }>("select id from worker._private_workers");
  const leases = new Set(rows.map(({ id }) => id));
  const lost = started.filter(
    (id, index) => stand.members[index]?.isStock === false && !leases.has(id),
  );
  stand.figure("leases lost by blocking", lost.length, { most: 0, unit: "" });
}
