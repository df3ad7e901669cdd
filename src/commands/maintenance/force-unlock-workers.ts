// Removes the locks of workers that no longer run.
import * as v from "valibot";
import { boundedList, validate } from "../../base/validate.ts";
import type { Database, Statement } from "../../database/database.ts";
import { hasLimits, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { countText } from "../../domain/words.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { isPseudoLock, UNLOCK } from "../../queue/sql/lock.ts";
import { announceJobs } from "../../queue/sql/notify.ts";
import { freeSlots } from "../../queue/sql/slots.ts";
import { workerId } from "../../queue/workers/worker-table.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { workerIds } from "../declare/field.ts";
import { maintenanceAction } from "./maintenance-action.ts";

/** How many jobs and queues forceUnlockWorkers() has unlocked. */
export interface UnlockedCounts {
  /** The number of unlocked jobs. */
  readonly jobs: number;
  /** The number of unlocked named queues. A queue under a limit counts once for each slot that was unlocked. */
  readonly queues: number;
}

const workerIdsSchema = v.pipe(
  boundedList(
    workerId,
    "must be a list of worker ids",
    1_000,
    "must have at most 1,000 worker ids; split them into several calls",
  ),
  v.minLength(1, "must list at least one worker id"),
);

/**
 * Unlocks all jobs and named queues that these workers have locked, and returns how many there were. Pass only the ids
 * of workers that have ended: if a worker still runs one of the jobs, another worker can run the same job, too. Throws
 * InputError unless there are 1 to 1,000 valid ids.
 */
export async function forceUnlockWorkers(
  db: Database,
  workerIds: readonly string[],
): Promise<UnlockedCounts> {
  const { jobs, queues } = await unlock(db, workerIds);
  return { jobs, queues };
}

export interface UnlockResult extends UnlockedCounts {
  /** The given ids of workers that held no locks and have no row in the table of workers. */
  readonly unknown: readonly string[];
}

async function unlock(db: Database, workerIds: readonly string[]): Promise<UnlockResult> {
  const ids = validate(workerIdsSchema, workerIds);
  const statement = unlockSql(await hasWorkerTable(db), await hasLimits(db));
  type Row = { jobs: string; queues: string; unknown: string };
  const [row] = await contendedQuery<Row>(db, statement, [ids]);
  return {
    jobs: Number(row?.jobs ?? 0),
    queues: Number(row?.queues ?? 0),
    unknown: JSON.parse(row?.unknown ?? "[]"),
  };
}

const MAX_NAMED = 5;

// Like Graphile Worker's function force_unlock_workers, but also unlocks the slots of queues. "locked_at is not null"
// lets the planner use the optional index `running`.
const unlockSql =
  (heartbeats: boolean, slots: boolean): Statement =>
  (schema) =>
    `
  with worker as (
    select id, pg_catalog.min(n) as n from pg_catalog.unnest($1::text[]) with ordinality as requested (id, n) group by id
  ), jobs as (
    update ${schema}._private_jobs as job
    set ${UNLOCK}
    from worker
    where job.locked_by = worker.id and job.locked_at is not null and not job.is_available
    returning worker.id
  ), queues as (
    update ${schema}._private_job_queues as queue
    set ${UNLOCK}
    from worker
    where queue.locked_by = worker.id and not ${isPseudoLock("queue")}
    returning worker.id
  )${slots ? freedSlots(schema) : ""}, runs as (
    select id from queues${slots ? " union all select id from slots" : ""}
  )
  select (select pg_catalog.count(*)::text from jobs) as jobs, (select pg_catalog.count(*)::text from runs) as queues, pg_catalog.to_json(array(
    select id from worker
    where not exists (select from jobs where jobs.id = worker.id)
    and not exists (select from runs where runs.id = worker.id)${
      heartbeats
        ? `
    and not exists (select from ${schema}._private_workers as known where known.id = worker.id)`
        : ""
    }
    order by n
  ))::text as unknown,
  case when exists (select from jobs) or exists (select from runs) then ${announceJobs("1")} end`;

const freedSlots = (s: string) => `, slots as (
    ${freeSlots(s, "slots.locked_by in (select id from worker)")}
    returning slots.locked_by as id
  )`;

export const unlockCommand = defineCommand({
  name: "unlock",
  aliases: ["force-unlock"],
  summary: "Unlock the jobs and queues of workers that no longer run",
  title: "Force unlock workers",
  verb: "Force unlock",
  consequence:
    "Unlocks the jobs and queues of these workers; jobs with attempts left can run again. If a worker still runs, its jobs may run twice.",
  consequenceOfOne:
    "Unlocks the jobs and queues of this worker; jobs with attempts left can run again. If its process is still alive, its jobs may run twice.",
  weight: "heavy",
  danger: "destroys",
  http: maintenanceAction("force-unlock"),
  positionals: ["worker_ids"],
  fields: { worker_ids: workerIds },
  dialog: "none",
  key: "u",
  examples: ["worker unlock worker-1a2b3c"],
  answer: { unlocked_jobs: "integer", unlocked_queues: "integer" },
  run: (db, { worker_ids: ids }) => unlock(db, ids),
  sentence: ({ jobs, queues, unknown }, { worker_ids: ids }) => {
    const done = `Unlocked ${countText(jobs, "job")} and ${countText(queues, "queue")} of`;
    const all = new Set(ids).size;
    if (unknown.length === 0) return `${done} ${all === 1 ? ids[0] : countText(all, "worker")}`;
    const names = unknown.slice(0, MAX_NAMED).map((id) => `"${id}"`);
    const more = unknown.length > MAX_NAMED ? ", …" : "";
    return `${done} ${all - unknown.length} of ${countText(all, "worker")}; there is no worker ${names.join(", ")}${more}`;
  },
  tally: ({ unknown }, { worker_ids: ids }) => {
    const requested = new Set(ids).size;
    return { requested, done: requested - unknown.length };
  },
  members: ({ jobs, queues }) => jsonOf({ unlocked_jobs: jobs, unlocked_queues: queues }),
});
