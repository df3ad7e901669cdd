// The look of a worker that rests: nothing was ready before, so a few jobs of the most urgent
// priority are all there is, and no named queue is looked at. Plain rows and a tenth of the plan of
// `claimStatement` and `lockStatement`: half of the time that a job waits until it starts.
import type { Statement } from "../database/database.ts";
import type { TextRow } from "../database/packet-statement.ts";
import { EARLIEST_S, type JobRows, NOTHING_RARE, type RareColumns } from "./claimed-rows.ts";

// Nothing is described: the places are those of `columns`.
const ID = 0;
const TASK_ID = 1;
const PAYLOAD = 2;
const PRIORITY = 3;
const RUN_AT_S = 4;
const ATTEMPTS = 5;
const MAX_ATTEMPTS = 6;
const REVISION = 7;
const FLAGS = 8;
const CREATED_AT_S = 9;
const LAST_ERROR = 10;
const KEY = 11;

const columns = (attempts: string) => `
  j.id, j.task_id, j.payload, j.priority, ${seconds("j.run_at")}, ${attempts}, j.max_attempts,
  j.revision, j.flags, ${seconds("j.created_at")}, j.last_error, j.key`;

const seconds = (moment: string) => `greatest(date_part('epoch', ${moment}), ${EARLIEST_S})`;

// Only the first priority that has jobs: when none of them is due, this finds nothing.
const ready = (s: string) => `
from ${s}._private_jobs j
where j.is_available and j.job_queue_id is null
  and j.priority = (select priority from ${s}._private_jobs
    where is_available and job_queue_id is null order by priority limit 1)
  and j.run_at <= now()
  and j.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any($1::text[])))`;

const FIRST = "order by j.run_at limit $2::int for update skip locked";

const flagTest = (place: string) => `and (j.flags is null or not j.flags ?| ${place}::text[])`;

/*
 * $1 text[] tasks  $2 int most jobs  [$3 text[] forbidden flags]
 * Locks the rows, for a fast lane: without keyed jobs, as `lockStatement` says.
 */
export const lookStatement =
  (form: { readonly flags: boolean }): Statement =>
  (s) =>
    `
select ${columns("j.attempts + 1")} ${ready(s)} and j.key is null
  ${form.flags ? flagTest("$3") : ""}
${FIRST}`;

/*
 * $1 text[] tasks  $2 int most jobs  $3 text the worker's id  [$4 text[] forbidden flags]
 * Takes the jobs, as a claim does.
 */
export const shortClaimStatement =
  (form: { readonly flags: boolean }): Statement =>
  (s) =>
    `
update ${s}._private_jobs j
set attempts = j.attempts + 1, locked_by = $3::text, locked_at = now()
where j.ctid = any(array(
  select j.ctid ${ready(s)} ${form.flags ? flagTest("$4") : ""}
  ${FIRST}))
returning ${columns("j.attempts")}`;

export class LookedRows implements JobRows {
  readonly ids: readonly string[];
  readonly taskIds: readonly number[];
  readonly queueIds = null;
  readonly priorities: readonly number[];
  readonly runAts_s: readonly number[];
  readonly #rows: readonly TextRow[];

  constructor(rows: readonly TextRow[]) {
    this.#rows = rows;
    this.ids = rows.map((row) => String(row[ID]));
    this.taskIds = rows.map((row) => Number(row[TASK_ID]));
    this.priorities = rows.map((row) => Number(row[PRIORITY]));
    this.runAts_s = rows.map((row) => Number(row[RUN_AT_S]));
  }

  /** One job that is in no database. */
  static of(job: { payload: string; attempts: number; maxAttempts: number }): LookedRows {
    const row: (string | null)[] = [];
    row[ID] = "1";
    row[TASK_ID] = "1";
    row[PAYLOAD] = job.payload;
    row[ATTEMPTS] = String(job.attempts);
    row[MAX_ATTEMPTS] = String(job.maxAttempts);
    for (const zero of [PRIORITY, RUN_AT_S, REVISION, CREATED_AT_S]) row[zero] = "0";
    return new LookedRows([row]);
  }

  async load(): Promise<void> {}

  isLoaded(): boolean {
    return true;
  }

  payloadText(place: number): string {
    return this.#text(place, PAYLOAD) ?? "";
  }

  attempts(place: number): number {
    return Number(this.#text(place, ATTEMPTS));
  }

  maxAttempts(place: number): number {
    return Number(this.#text(place, MAX_ATTEMPTS));
  }

  createdAt_s(place: number): number {
    const created_s = Number(this.#text(place, CREATED_AT_S));
    return Number.isFinite(created_s) ? created_s : EARLIEST_S;
  }

  rare(place: number): RareColumns {
    const revision = Number(this.#text(place, REVISION));
    const flags = this.#text(place, FLAGS);
    const lastError = this.#text(place, LAST_ERROR);
    const key = this.#text(place, KEY);
    const hasNone = key === null && flags === null && lastError === null;
    if (revision === 0 && hasNone) return NOTHING_RARE;
    return { key, revision, flags: Object.keys(JSON.parse(flags ?? "null") ?? {}), lastError };
  }

  #text(place: number, column: number): string | null {
    return this.#rows[place]?.[column] ?? null;
  }
}
