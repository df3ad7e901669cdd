// The jobs of one claim, column by column. One array a column costs PostgreSQL half of what one array
// a job does, and Node a few objects a claim instead of a dozen a job; what nobody asks for is never
// parsed.

/** A claim's answer: each column as text, null where there are no jobs. */
export interface ClaimedColumns {
  /** `{1,2}`: bigints stay exact. */
  readonly ids: string | null;
  // The rest is JSON: arrays with a place for each job.
  readonly task_ids: string | null;
  /** null also where the form of the claim takes no queued jobs. */
  readonly queue_ids: string | null;
  readonly payloads: string | null;
  readonly priorities: string | null;
  /** Seconds since the epoch: doubles, in which microseconds survive. */
  readonly run_ats: string | null;
  readonly attempts: string | null;
  readonly max_attempts: string | null;
  /** As `run_ats`; null in the place of a job that was due when it was made. */
  readonly created_ats: string | null;
  /** Only of jobs that have any of these: `[id, key, revision, flags, last_error]`. */
  readonly rare: string | null;
}

/** What a Date can hold begins here; -infinity is shown as that. */
export const EARLIEST_S = -8.64e12;

/**
 * The columns for a query's select list, from jobs `j`. `attempts`: the expression to be shown;
 * `raw`: payloads as JSON strings of their exact text instead of as JSON values.
 */
export const claimedColumns = (form: {
  readonly attempts: string;
  readonly queues: boolean;
  readonly raw: boolean;
}): string => `
  array_agg(j.id)::text as ids,
  array_to_json(array_agg(j.task_id))::text as task_ids,
  ${form.queues ? "array_to_json(array_agg(j.job_queue_id))::text" : "null"} as queue_ids,
  ${form.raw ? "json_agg(j.payload::text)::text" : "'[' || string_agg(j.payload::text, ',') || ']'"} as payloads,
  array_to_json(array_agg(j.priority))::text as priorities,
  array_to_json(array_agg(greatest(date_part('epoch', j.run_at), ${EARLIEST_S})))::text as run_ats,
  array_to_json(array_agg(${form.attempts}))::text as attempts,
  array_to_json(array_agg(j.max_attempts))::text as max_attempts,
  array_to_json(array_agg(date_part('epoch', nullif(j.created_at, j.run_at))))::text as created_ats,
  json_agg(json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error)) filter (
    where j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null
  )::text as rare`;

/** The columns that `claimedColumns` reads. */
export const CLAIMED_SOURCE = `j.id, j.task_id, j.job_queue_id, j.payload, j.priority, j.run_at,
    j.attempts, j.max_attempts, j.key, j.revision, j.flags, j.created_at, j.last_error`;

/** What few jobs have. */
export interface RareColumns {
  readonly key: string | null;
  readonly revision: number;
  readonly flags: readonly string[];
  readonly lastError: string | null;
}

export const NOTHING_RARE: RareColumns = Object.freeze({
  key: null,
  revision: 0,
  flags: [],
  lastError: null,
});

type RareRow = [string, string | null, number, object | null, string | null];

/** Jobs by their places in an answer. */
export interface JobRows {
  readonly ids: readonly string[];
  readonly taskIds: readonly number[];
  /** null: none of them is in a queue. */
  readonly queueIds: readonly (number | null)[] | null;
  readonly priorities: readonly number[];
  readonly runAts_s: readonly number[];
  /** JSON values, or their texts where those were asked for. */
  payload(place: number): unknown;
  attempts(place: number): number;
  maxAttempts(place: number): number;
  createdAt_s(place: number): number;
  rare(place: number): RareColumns;
}

export class ClaimedRows implements JobRows {
  readonly ids: readonly string[];
  readonly taskIds: readonly number[];
  readonly queueIds: readonly (number | null)[] | null;
  readonly priorities: readonly number[];
  readonly runAts_s: readonly number[];
  readonly #columns: ClaimedColumns;
  #payloads: readonly unknown[] | undefined;
  #attempts: readonly number[] | undefined;
  #maxAttempts: readonly number[] | undefined;
  #createdAts_s: readonly (number | string | null)[] | undefined;
  #rare: ReadonlyMap<string, RareColumns> | undefined;

  constructor(columns: ClaimedColumns) {
    this.#columns = columns;
    this.ids = columns.ids === null ? [] : columns.ids.slice(1, -1).split(",");
    this.taskIds = parsed(columns.task_ids);
    this.queueIds = columns.queue_ids === null ? null : parsed(columns.queue_ids);
    this.priorities = parsed(columns.priorities);
    this.runAts_s = parsed(columns.run_ats);
  }

  payload(place: number): unknown {
    this.#payloads ??= parsed<unknown>(this.#columns.payloads);
    return this.#payloads[place];
  }

  attempts(place: number): number {
    this.#attempts ??= parsed<number>(this.#columns.attempts);
    return this.#attempts[place] as number;
  }

  maxAttempts(place: number): number {
    this.#maxAttempts ??= parsed<number>(this.#columns.max_attempts);
    return this.#maxAttempts[place] as number;
  }

  createdAt_s(place: number): number {
    this.#createdAts_s ??= parsed<number | string | null>(this.#columns.created_ats);
    const value = this.#createdAts_s[place] ?? this.runAts_s[place];
    // JSON has no infinity: it comes as text.
    return typeof value === "number" ? value : EARLIEST_S;
  }

  rare(place: number): RareColumns {
    this.#rare ??= rareOf(this.#columns.rare);
    return this.#rare.get(this.ids[place] as string) ?? NOTHING_RARE;
  }
}

function parsed<T>(column: string | null): readonly T[] {
  return column === null ? [] : (JSON.parse(column) as T[]);
}

function rareOf(column: string | null): ReadonlyMap<string, RareColumns> {
  const rows = parsed<RareRow>(column);
  return new Map(
    rows.map(([id, key, revision, flags, lastError]) => [
      id,
      { key, revision, flags: Object.keys(flags ?? {}), lastError },
    ]),
  );
}
