// The fast mode's way to take jobs: by row locks of an open transaction instead of an update. A third
// of the WAL, half the work. They are free the moment the connection is gone, and nobody but the
// holder sees that they are taken. For short jobs without a key.
import { type Database, query, type Statement } from "../../database/database.ts";
import { idArray } from "../settle/fence.ts";
import { lockBy, takeBy } from "../sql/lock.ts";
import { readyJobs } from "./eligible-jobs.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { type ClaimedColumns, claimedColumns, claimedSource } from "./job-columns.ts";
import { jobsWithoutQueue, priorityLevels } from "./jobs-without-queue.ts";

export interface LockForm {
  /** Also take runs of named queues. */
  readonly queues: boolean;
  readonly flags: boolean;
}

export interface LockAnswer extends ClaimedColumns {
  /** Queued jobs were seen. */
  readonly queued: boolean;
  /** Not all of them have been taken. */
  readonly more: boolean;
  /** Some are for the safe mode. */
  readonly left_over: boolean;
}

/*
 * $1 text[] tasks  $2 int most jobs  $3 smallint $4 float8 fetch cursor
 * with queues: $5 int $6 int which share of the queues  $7 int jobs that can start at once
 * last: text[] forbidden flags
 *
 * `attempts + 1` is what the attempt is told; it is stored only if it fails.
 */
export function lockStatement({ queues, flags }: LockForm): Statement {
  const form: ReadyForm = { queues, flags, free: "fast", queued: "fast" };
  const $: ReadyParameters = {
    identifiers: "$1",
    want: "$2",
    priority: "$3",
    runAt: "$4",
    run: "null",
    share: "$5",
    shares: "$6",
    slots: "$7",
    flags: queues ? "$8" : "$5",
  };
  const source = claimedSource("j.attempts + 1");
  if (queues) {
    return (s) => `
with recursive ${readyJobs(s, form, $)}, taken as materialized (
  select ${source} from ${s}._private_jobs j where j.ctid = any(array(select ctid from picked))
)
select ${claimedColumns(s, form)}, ${SEEN} from taken j`;
  }
  return (s) => `
with recursive ${priorityLevels(s, form, $)}, taken as materialized (${jobsWithoutQueue(s, form, $, source)})
select ${claimedColumns(s, form)}, false as queued, false as more, false as left_over from taken j`;
}

const SEEN = `exists (select from candidate) as queued,
  (select pg_catalog.count(*) from candidate) > (select pg_catalog.count(*) from locked_run) as more,
  exists (select from candidate where is_safe) as left_over`;

const keepSql: Statement = (s) => `
with kept as (
  update ${s}._private_jobs j set ${takeBy("$1", "j")}
  where j.id = any($2::bigint[]) returning j.job_queue_id
)
update ${s}._private_job_queues set ${lockBy("$1")}
where id in (select job_queue_id from kept)`;

/**
 * Locks jobs by `locked_by`, and their named queues: those that take longer than a transaction
 * should, whose rows this transaction has locked.
 */
export async function keepJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<void> {
  await query(db, keepSql, [workerId, idArray(ids)]);
}
