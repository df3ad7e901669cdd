// The jobs of one claim, column by column. One array a column costs PostgreSQL half of what one array
// a job does, and Node a few objects a claim instead of a dozen a job; what nobody asks for is never
// parsed.
import { type Database, query, type Statement } from "../database/database.ts";
import { PAYLOAD_SEPARATOR } from "../domain/payload.ts";

/** A claim's answer: each column as text, null where there are no jobs. */
export interface ClaimedColumns {
  /** `{1,2}`: bigints stay exact. */
  readonly ids: string | null;
  /** Their exact texts, with PAYLOAD_SEPARATOR between them; nothing in the place of a large one. */
  readonly payloads: string | null;
  /** timestamptz in PostgreSQL's binary form, one after another, as base64. */
  readonly run_ats: string | null;
  // JSON: an array with a place for each job, or one number where all have the same.
  readonly task_ids: string | null;
  readonly priorities: string | null;
  readonly attempts: string | null;
  readonly max_attempts: string | null;
  /** An array; null also where the form of the claim takes no queued jobs. */
  readonly queue_ids: string | null;
  /** An array of seconds since the epoch, null for who was due when it was made; null for all. */
  readonly created_ats: string | null;
  /** Only of jobs that have any of these: `[id, key, revision, flags, last_error]`. */
  readonly rare: string | null;
}

/** What a Date can hold begins here; -infinity is shown as that. */
export const EARLIEST_S = -8.64e12;

/**
 * A larger payload comes by itself: a string of Node's holds 512 MiB, and the longest claim that the
 * options allow (60,000 jobs: 10,000 slots and half of a local queue of 100,000) stays below that.
 */
const LARGE_BYTES = 8_192;

/** What `claimedColumns` reads, from jobs `j`. `attempts`: the expression to be shown. */
export const claimedSource = (
  attempts: string,
): string => `j.id, j.task_id, j.job_queue_id, j.payload,
    j.priority, j.run_at, ${attempts} as attempts, j.max_attempts,
    nullif(j.created_at, j.run_at) as created_at,
    case when j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null
      then json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error) end as rare`;

/**
 * The columns for a select list, from rows of `claimedSource` called `taken j`. Most claims are of jobs
 * that have much in common, and two sums of a column cost a quarter of an array; so do bytes.
 */
export const claimedColumns = (form: { readonly queues: boolean }): string => `
  array_agg(j.id)::text as ids,
  encode(string_agg(timestamptz_send(j.run_at), ''), 'base64') as run_ats,
  string_agg(case when octet_length(j.payload::text) > ${LARGE_BYTES} then '' else j.payload::text end,
    E'\\x1f') as payloads,
  ${sameOrEach("task_id")} as task_ids,
  ${sameOrEach("priority")} as priorities,
  ${sameOrEach("attempts")} as attempts,
  ${sameOrEach("max_attempts")} as max_attempts,
  ${form.queues ? "array_to_json(array_agg(j.job_queue_id))::text" : "null"} as queue_ids,
  case when count(j.created_at) > 0 then ${each("date_part('epoch', created_at)")} end as created_ats,
  (json_agg(j.rare) filter (where j.rare is not null))::text as rare`;

const sameOrEach = (column: string) =>
  `case when min(j.${column}) = max(j.${column}) then min(j.${column})::text else ${each(column)} end`;

// Only run where it is needed, in the order of the rows.
const each = (value: string) => `(select array_to_json(array_agg(${value}))::text from taken)`;

const YEAR_2000_S = 946_684_800;

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
  /** Exact JSON text. */
  payloadText(place: number): string;
  /** Fetches what the answer has left out, once. Throws WorkerError. */
  load(db: Database): Promise<void>;
  /** False where the payload could not be fetched. */
  isLoaded(place: number): boolean;
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
  readonly #payloads: string;
  /** Columns that are parsed when somebody asks for them; the texts of the others are let go. */
  readonly #texts: Pick<ClaimedColumns, "attempts" | "max_attempts" | "created_ats" | "rare">;
  /** By job; undefined where there are none. */
  #large: Map<string, string> | undefined;
  /** Where each payload begins; one more for the end. */
  #payloadStarts: Uint32Array | undefined;
  #attempts: readonly number[] | undefined;
  #maxAttempts: readonly number[] | undefined;
  #createdAts_s: readonly (number | string | null)[] | undefined;
  #rare: ReadonlyMap<string, RareColumns> | undefined;

  constructor(columns: ClaimedColumns) {
    const { attempts, max_attempts, created_ats, rare } = columns;
    this.#texts = { attempts, max_attempts, created_ats, rare };
    this.#payloads = columns.payloads ?? "";
    this.ids = columns.ids === null ? [] : columns.ids.slice(1, -1).split(",");
    const count = this.ids.length;
    this.taskIds = numbers(columns.task_ids, count);
    this.queueIds = columns.queue_ids === null ? null : parsed(columns.queue_ids);
    this.priorities = numbers(columns.priorities, count);
    this.runAts_s = moments_s(columns.run_ats ?? "", count);
  }

  async load(db: Database): Promise<void> {
    if (this.ids.length === 0 || !hasGap(this.#payloads)) return;
    const missing = this.ids.filter((_, place) => this.payloadText(place) === "");
    this.#large ??= new Map();
    const rows = await query<{ id: string; payload: string }>(db, largeSql, [missing]);
    for (const { id, payload } of rows) this.#large.set(id, payload);
  }

  isLoaded(place: number): boolean {
    return this.#large === undefined || this.payloadText(place) !== "";
  }

  payloadText(place: number): string {
    const large = this.#large?.get(this.ids[place] as string);
    if (large !== undefined) return large;
    this.#payloadStarts ??= startsIn(this.#payloads, this.ids.length);
    const starts = this.#payloadStarts;
    return this.#payloads.slice(starts[place], (starts[place + 1] as number) - 1);
  }

  attempts(place: number): number {
    this.#attempts ??= numbers(this.#texts.attempts, this.ids.length);
    return this.#attempts[place] as number;
  }

  maxAttempts(place: number): number {
    this.#maxAttempts ??= numbers(this.#texts.max_attempts, this.ids.length);
    return this.#maxAttempts[place] as number;
  }

  createdAt_s(place: number): number {
    this.#createdAts_s ??= parsed<number | string | null>(this.#texts.created_ats);
    const value = this.#createdAts_s[place] ?? this.runAts_s[place];
    // JSON has no infinity: it comes as text.
    return typeof value === "number" ? value : EARLIEST_S;
  }

  rare(place: number): RareColumns {
    this.#rare ??= rareOf(this.#texts.rare);
    return this.#rare.get(this.ids[place] as string) ?? NOTHING_RARE;
  }
}

const largeSql: Statement = (s) =>
  `select id::text, payload::text from ${s}._private_jobs where id = any($1::bigint[])`;

/** Whether some payload is empty, as no JSON is. */
function hasGap(payloads: string): boolean {
  if (payloads.includes(PAYLOAD_SEPARATOR.repeat(2)) || payloads === "") return true;
  return payloads.startsWith(PAYLOAD_SEPARATOR) || payloads.endsWith(PAYLOAD_SEPARATOR);
}

/** One number a job, instead of a string each that few would ever ask for twice. */
function startsIn(payloads: string, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (let place = 1, at = 0; place < count; place++) {
    at = payloads.indexOf(PAYLOAD_SEPARATOR, at) + 1;
    starts[place] = at;
  }
  starts[count] = payloads.length + 1;
  return starts;
}

function parsed<T>(column: string | null): readonly T[] {
  return column === null ? [] : (JSON.parse(column) as T[]);
}

/** One for each job. */
function numbers(column: string | null, count: number): readonly number[] {
  if (column === null || column.startsWith("[")) return parsed(column);
  return new Array<number>(count).fill(Number(column));
}

/** Of 8 bytes each: microseconds since 2000. -infinity is the smallest of them. */
function moments_s(column: string, count: number): readonly number[] {
  const bytes = Buffer.from(column, "base64");
  const moments: number[] = [];
  for (let at = 0; at < 8 * count; at += 8) {
    const us = bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
    moments.push(Math.max(us / 1e6 + YEAR_2000_S, EARLIEST_S));
  }
  return moments;
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
