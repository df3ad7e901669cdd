// Finds the limit that keeps one job from starting, and counts the jobs that wait for this limit. The count reads only
// the first 5,000 due entries of the index from which workers fetch, which takes 3 to 10 ms.
import { type Database, query, type Statement } from "../../database/database.ts";
import { type LimitDefinition, likePattern } from "../../domain/limits/limit.ts";
import { cappedValue, exactValue, type Value } from "../../domain/value.ts";
import { shortName, valueText } from "../../domain/words.ts";
import { MAX_PRIORITIES, priorities } from "../read/priorities.ts";
import { type ExhaustedLimit, readBlockingLimits } from "./blocking.ts";

export interface LimitOfJob {
  readonly definition: LimitDefinition;
  /** The number of due jobs that wait for the limit; for a limit of queues, only those of the job's queue. */
  readonly waiting: Value;
  /** The use of the limit: `10 of 10 running, 212 wait`. */
  readonly text: string;
}

/** Returns the first limit that keeps the job from starting; null: none does. */
export async function readLimitOfJob(
  db: Database,
  job: { readonly task: string | null; readonly queue: { id: number; name: string } | null },
  asOf: string,
): Promise<LimitOfJob | null> {
  const { task, queue } = job;
  const [first] = await readBlockingLimits(db, { task, queue: queue?.name ?? null });
  if (first === undefined) return null;
  const { definition } = first;
  const isQueue = definition.scope === "queue";
  const pattern = isQueue ? null : likePattern(definition.match);
  const [row] = await query<WaitingRow>(db, waitingSql, [pattern, queue?.id ?? null]);
  const { is_whole: isWhole = false, waiting: count = 0 } = row ?? {};
  const waiting = (isWhole ? exactValue : cappedValue)(count, "probe", asOf);
  return { definition, waiting, text: usedText(first, waiting) };
}

/** Returns a text such as `100 per minute are used up, 212 wait, next in 0.4 s`. */
export function usedText({ use, next }: ExhaustedLimit, waiting: Value): string {
  const waits = `${valueText(waiting)} ${waiting.value === 1 ? "waits" : "wait"}`;
  return `${use}, ${waits}${next === null ? "" : `, ${next}`}`;
}

/** Returns a text such as `limit stripe: 10 of 10 running, 212 wait`. */
export const limitedText = ({ definition, text }: LimitOfJob): string =>
  `limit ${shortName(definition.name)}: ${text}`;

interface WaitingRow {
  readonly is_whole: boolean;
  readonly waiting: number;
}

const MAX_WALKED = 5_000;

// $1: the pattern of the limit's tasks. If it is null, the limit is one of queues, and $2 is the id of the job's queue.
const waitingSql: Statement = (s) => `
  with recursive ${priorities(s)}, walked as (
    select due.* from priorities, lateral (
      select task_id, job_queue_id from ${s}._private_jobs as jobs
      where is_available and jobs.priority = priorities.priority and run_at <= pg_catalog.now()
      order by run_at limit ${MAX_WALKED}
    ) as due
    where priorities.priority is not null
    limit ${MAX_WALKED}
  )
  select pg_catalog.count(*) < ${MAX_WALKED}
      and (select pg_catalog.count(priority) < ${MAX_PRIORITIES} from priorities) as is_whole,
    pg_catalog.count(*) filter (where case when $1::text is null then job_queue_id = $2::int
      else task_id in (select id from ${s}._private_tasks where identifier like $1::text) end)::int as waiting
  from walked`;
