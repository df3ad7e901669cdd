// Turns the filters state, task, queue and search of a list of jobs into conditions of a walk (walk/matching.ts).
import { type Database, query, type Statement } from "../../database/database.ts";
import { type Condition, conditionData, conditions } from "../../domain/condition.ts";
import type { JobState } from "../../domain/job.ts";
import { isJobId } from "../../domain/job-ids.ts";
import { isReady } from "../../queue/sql/eligible.ts";
import { isFailed, isLocked, isScheduled } from "../../queue/sql/job-state.ts";
import { namesWithText } from "../query/facts/names.ts";
import { ANY_SHAPE } from "../query/parts/shape.ts";
import { textSearch } from "../read/text-search.ts";
import { everyJob, type WalkCondition } from "../walk/matching.ts";

const nothing: WalkCondition = Object.freeze({
  ...everyJob,
  sql: () => "false",
  isEmpty: true,
  isAll: false,
});

function conditionOf(part: Partial<WalkCondition> & Pick<WalkCondition, "sql">): WalkCondition {
  return { ...everyJob, isAll: false, ...part };
}

const conditionsOf = (state: JobState): readonly Condition[] =>
  conditions.filter((one) => conditionData[one].states.includes(state));

export function ofState(state: JobState | "all"): WalkCondition {
  switch (state) {
    case "all":
      return everyJob;
    case "ready":
      return inState(isReady("jobs"), state, true);
    case "scheduled":
      return inState(isScheduled("jobs"), state, false);
    case "locked":
      return inState(isLocked("jobs"), state, null);
    case "failed":
      return inState(isFailed("jobs"), state, null);
    default:
      return state satisfies never;
  }
}

function inState(sql: string, state: JobState, isDue: boolean | null): WalkCondition {
  return conditionOf({
    sql: () => `(${sql})`,
    shape: { ...ANY_SHAPE, conditions: conditionsOf(state), isDue },
  });
}

/**
 * Returns the conditions for the exact names of a task and a queue. An empty name matches every job, an unknown name
 * matches no job.
 */
export async function ofNames(db: Database, task: string, queue: string): Promise<WalkCondition[]> {
  if (task === "" && queue === "") return [];
  const [ids] = await query<IdRow>(db, idsSql, [task, queue]);
  return [
    nameCondition("task_id", task, ids?.task_id ?? null),
    nameCondition("job_queue_id", queue, ids?.queue_id ?? null),
  ];
}

interface IdRow {
  readonly task_id: number | null;
  readonly queue_id: number | null;
}

const idsSql: Statement = (schema) => `
  select
    (select id from ${schema}._private_tasks where identifier = $1::text) as task_id,
    (select id from ${schema}._private_job_queues where queue_name = $2::text) as queue_id`;

function nameCondition(
  column: "task_id" | "job_queue_id",
  name: string,
  id: number | null,
): WalkCondition {
  if (name === "") return everyJob;
  if (id === null) return nothing;
  const ids = column === "task_id" ? { taskIds: [id] } : { queueIds: [id] };
  return conditionOf({
    sql: (first) => `jobs.${column} = $${first}::int`,
    values: [id],
    shape: { ...ANY_SHAPE, ...ids },
  });
}

/**
 * Returns the condition for jobs whose id or key is the text, or whose payload, last error, key, task, queue or worker
 * contains the text. `withoutExact`: jobs whose id or key is the text do not match, because an earlier page has already
 * shown such a job.
 */
export async function ofSearch(
  db: Database,
  text: string,
  withoutExact: boolean,
): Promise<WalkCondition> {
  if (text === "") return everyJob;
  const { value, isIn } = textSearch(text);
  // The names of tasks and queues are searched once for each page, not for each job.
  const { tasks, queues } = await namesWithText(db, text);
  const exact = idOrKeyCondition(text);
  const found = (first: number) => {
    const has = (column: string) => isIn(column, `$${first}::text[]`);
    return `(jobs.task_id = any($${first + 1}::int[])
    or jobs.job_queue_id = any($${first + 2}::int[])
    or ${has("jobs.key")}
    or ${has("jobs.locked_by")}
    or ${has("jobs.last_error")}
    or ${has("jobs.payload::text")})`;
  };
  return conditionOf({
    sql: (first) => {
      const has = found(first + exact.values.length);
      const is = exact.sql(first);
      return withoutExact ? `((${has}) and ${is} is not true)` : `(${is} or ${has})`;
    },
    values: [...exact.values, value, tasks, queues],
  });
}

/** Returns the condition for the jobs that have this id or this key: at most one of each. */
export function idOrKeyCondition(text: string): WalkCondition {
  return conditionOf({
    sql: (first) => `(jobs.id = $${first}::bigint or jobs.key = $${first + 1}::text)`,
    values: [isJobId(text) ? text : null, text],
  });
}
