// How many jobs are in which condition, and in which of the contract's states: exactly, in one pass.
import { type Database, query, type Statement } from "../../database/database.ts";
import { type Condition, conditions } from "../../domain/condition.ts";
import type { JobState } from "../../domain/job.ts";
import { conditionOf, type Heartbeats } from "../sql/condition.ts";
import { stateOf } from "../sql/job-state.ts";
import { heartbeatsOf } from "../workers/worker-table.ts";
import type { JobCounts } from "./count-jobs.ts";

/** The conditions add up to the total, and so do the states; all are of one moment. */
export interface ConditionCounts extends JobCounts {
  readonly conditions: Readonly<Record<Condition, number>>;
}

/** About 0.5 s for each million jobs. */
export async function countConditions(db: Database): Promise<ConditionCounts> {
  const rows = await query<CountRow>(db, countsSql(await heartbeatsOf(db)));
  const sum = (is: (row: CountRow) => boolean) =>
    rows.reduce((total, row) => (is(row) ? total + Number(row.count) : total), 0);
  const inState = (one: JobState) => sum(({ state }) => state === one);
  const counted = conditions.map((one) => [one, sum(({ condition }) => condition === one)]);
  return {
    total: sum(() => true),
    ready: inState("ready"),
    scheduled: inState("scheduled"),
    locked: inState("locked"),
    failed: inState("failed"),
    conditions: Object.fromEntries(counted) as Record<Condition, number>,
  };
}

interface CountRow {
  readonly state: JobState;
  readonly condition: Condition;
  readonly count: string;
}

const countsSql =
  (heartbeats: Heartbeats): Statement =>
  (schema) =>
    `
  select state, condition, pg_catalog.count(*)::text as count
  from (
    select ${stateOf("jobs")} as state,
      ${conditionOf("jobs", heartbeats, { isQueueLocked: "queues.locked_at is not null" })} as condition
    from ${schema}._private_jobs as jobs
    left join ${schema}._private_job_queues as queues on queues.id = jobs.job_queue_id
  ) as jobs
  group by state, condition`;
