// The first fetch of an idle worker: nothing was ready before, so a few jobs of the most urgent priority
// are all there is, and no named queue is asked for. Plain rows and a tenth of the plan of
// `claimStatement` and `lockStatement`: a third of the time that a job waits until it starts.
import type { TextRow } from "../../database/connection/packet-statement.ts";
import type { Statement } from "../../database/database.ts";
import { hasNoFlagOf, isOfKnownTask, isReady } from "../sql/eligible.ts";
import { takeBy } from "../sql/lock.ts";
import { type JobRows, NOTHING_RARE, type RareColumns } from "./claimed-rows.ts";
import { isForFastMode } from "./fetch-form.ts";
import { EARLIEST_S } from "./job-columns.ts";

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
const TASK = 12;

const columns = (s: string, attempts: string) => `
  j.id, j.task_id, j.payload, j.priority, ${seconds("j.run_at")}, ${attempts}, j.max_attempts,
  j.revision, j.flags, ${seconds("j.created_at")}, j.last_error, j.key,
  (select t.identifier from ${s}._private_tasks t where t.id = j.task_id)`;

const seconds = (moment: string) =>
  `greatest(pg_catalog.date_part('epoch', ${moment}), ${EARLIEST_S})`;

// Only the first priority that has jobs: when none of them is due, this finds nothing.
const ready = (s: string) => `
from ${s}._private_jobs j
where ${isReady("j")} and j.job_queue_id is null
  and j.priority = (select priority from ${s}._private_jobs
    where is_available and job_queue_id is null order by priority limit 1)
  and ${isOfKnownTask(s, "j", "$1")}`;

const FIRST = "order by j.run_at limit $2::int for update skip locked";

const flagTest = (flags: string) => `and ${hasNoFlagOf("j", flags)}`;

/** `flags`: skip jobs with a forbidden flag. */
export interface QuickForm {
  readonly flags: boolean;
}

/*
 * $1 text[] tasks  $2 int most jobs  [$3 text[] forbidden flags]
 * Locks the rows, for the fast mode: its jobs only.
 */
export const quickLockStatement =
  (form: QuickForm): Statement =>
  (s) =>
    `
select ${columns(s, "j.attempts + 1")} ${ready(s)} and ${isForFastMode("j")}
  ${form.flags ? flagTest("$3") : ""}
${FIRST}`;

/*
 * $1 text[] tasks  $2 int most jobs  $3 text the worker's id  [$4 text[] forbidden flags]
 * Takes the jobs, for the safe mode, as a claim does.
 */
export const quickClaimStatement =
  (form: QuickForm): Statement =>
  (s) =>
    `
update ${s}._private_jobs j
set ${takeBy("$3", "j")}
where j.ctid = any(array(
  select j.ctid ${ready(s)} ${form.flags ? flagTest("$4") : ""}
  ${FIRST}))
returning ${columns(s, "j.attempts")}`;

export class QuickRows implements JobRows {
  readonly ids: readonly string[];
  readonly taskIds: readonly number[];
  readonly queueIds = null;
  readonly priorities: readonly number[];
  readonly runAts: readonly number[];
  readonly #rows: readonly TextRow[];

  constructor(rows: readonly TextRow[]) {
    this.#rows = rows;
    this.ids = rows.map((row) => String(row[ID]));
    this.taskIds = rows.map((row) => Number(row[TASK_ID]));
    this.priorities = rows.map((row) => Number(row[PRIORITY]));
    this.runAts = rows.map((row) => Number(row[RUN_AT_S]));
  }

  /** One job that is in no database. */
  static of(job: {
    task: string;
    payload: string;
    attempts: number;
    maxAttempts: number;
  }): QuickRows {
    const row: (string | null)[] = [];
    row[ID] = "1";
    row[TASK_ID] = "1";
    row[TASK] = job.task;
    row[PAYLOAD] = job.payload;
    row[ATTEMPTS] = String(job.attempts);
    row[MAX_ATTEMPTS] = String(job.maxAttempts);
    for (const zero of [PRIORITY, RUN_AT_S, REVISION, CREATED_AT_S]) row[zero] = "0";
    return new QuickRows([row]);
  }

  async load(): Promise<void> {}

  isLoaded(): boolean {
    return true;
  }

  taskName(index: number): string {
    return this.#text(index, TASK) ?? "";
  }

  queueName(): string {
    return "";
  }

  payloadText(index: number): string {
    return this.#text(index, PAYLOAD) ?? "";
  }

  attempts(index: number): number {
    return Number(this.#text(index, ATTEMPTS));
  }

  maxAttempts(index: number): number {
    return Number(this.#text(index, MAX_ATTEMPTS));
  }

  createdAt(index: number): number {
    const createdAt = Number(this.#text(index, CREATED_AT_S));
    return Number.isFinite(createdAt) ? createdAt : EARLIEST_S;
  }

  rare(index: number): RareColumns {
    const revision = Number(this.#text(index, REVISION));
    const flags = this.#text(index, FLAGS);
    const lastError = this.#text(index, LAST_ERROR);
    const key = this.#text(index, KEY);
    const hasNone = key === null && flags === null && lastError === null;
    if (revision === 0 && hasNone) return NOTHING_RARE;
    return { key, revision, flags: Object.keys(JSON.parse(flags ?? "null") ?? {}), lastError };
  }

  #text(index: number, column: number): string | null {
    return this.#rows[index]?.[column] ?? null;
  }
}
