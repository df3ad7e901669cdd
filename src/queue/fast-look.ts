// A fast lane's look after a rest: nothing was ready before, so a few jobs of the most urgent
// priority are all there is. A tenth of the plan of `lockStatement`, and half of its time: what a job
// waits until it starts.
import type { Statement } from "../database/database.ts";
import { EARLIEST_S, type JobRows, NOTHING_RARE, type RareColumns } from "./claimed-rows.ts";

/** Columns as the wire has them. */
export interface LookRow {
  readonly id: string;
  readonly task_id: number;
  readonly payload: string;
  readonly priority: number;
  readonly run_at: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly revision: number;
  readonly flags: string | null;
  readonly created_at: number;
  readonly last_error: string | null;
}

/*
 * $1 text[] tasks  $2 int most jobs  [$3 text[] forbidden flags]
 * Only the first priority that has jobs: when none of them is due, this finds nothing.
 */
export const lookStatement =
  (form: { readonly flags: boolean }): Statement =>
  (s) =>
    `
select j.id, j.task_id, j.payload::text as payload, j.priority, ${seconds("j.run_at")} as run_at,
  j.attempts + 1 as attempts, j.max_attempts, j.revision, j.flags::text as flags,
  ${seconds("j.created_at")} as created_at, j.last_error
from ${s}._private_jobs j
where j.is_available and j.job_queue_id is null and j.key is null
  and j.priority = (select priority from ${s}._private_jobs
    where is_available and job_queue_id is null order by priority limit 1)
  and j.run_at <= now()
  and j.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any($1::text[])))
  ${form.flags ? "and (j.flags is null or not j.flags ?| $3::text[])" : ""}
order by j.run_at limit $2::int for update skip locked`;

const seconds = (moment: string) => `greatest(date_part('epoch', ${moment}), ${EARLIEST_S})`;

export class LookedRows implements JobRows {
  readonly ids: readonly string[];
  readonly taskIds: readonly number[];
  readonly queueIds = null;
  readonly priorities: readonly number[];
  readonly runAts_s: readonly number[];
  readonly #rows: readonly LookRow[];

  constructor(rows: readonly LookRow[]) {
    this.#rows = rows;
    this.ids = rows.map(({ id }) => id);
    this.taskIds = rows.map(({ task_id }) => task_id);
    this.priorities = rows.map(({ priority }) => priority);
    this.runAts_s = rows.map(({ run_at }) => run_at);
  }

  async load(): Promise<void> {}

  isLoaded(): boolean {
    return true;
  }

  payloadText(place: number): string {
    return this.#row(place).payload;
  }

  attempts(place: number): number {
    return this.#row(place).attempts;
  }

  maxAttempts(place: number): number {
    return this.#row(place).max_attempts;
  }

  createdAt_s(place: number): number {
    return this.#row(place).created_at;
  }

  rare(place: number): RareColumns {
    const { revision, flags, last_error: lastError } = this.#row(place);
    if (revision === 0 && flags === null && lastError === null) return NOTHING_RARE;
    return { key: null, revision, flags: Object.keys(JSON.parse(flags ?? "{}")), lastError };
  }

  #row(place: number): LookRow {
    return this.#rows[place] as LookRow;
  }
}
