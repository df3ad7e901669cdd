// The jobs of one fetch, column by column. Columns that not every fetch needs are parsed on first access.
import { type Database, query, type Statement } from "../../database/database.ts";
import { PAYLOAD_SEPARATOR } from "../../domain/payload.ts";
import { EARLIEST_S, type FetchedColumns } from "./job-columns.ts";

const YEAR_2000_S = 946_684_800;

interface RareColumns {
  readonly key: string | null;
  readonly revision: number;
  readonly flags: readonly string[];
  readonly lastError: string | null;
}

const NOTHING_RARE: RareColumns = Object.freeze({
  key: null,
  revision: 0,
  flags: [],
  lastError: null,
});

type RareRow = [string, string | null, number, object | null, string | null];

export class FetchedRows {
  readonly ids: readonly string[];
  /** The id of each job's task at the time of the fetch. */
  readonly taskIds: ArrayLike<number>;
  /**
   * The lock of each job's run (sql/slots.ts); null for a job without a named queue. `locks` itself is null if the
   * fetch reads no queues or has no jobs.
   */
  readonly locks: readonly (number | null)[] | null;
  readonly priorities: ArrayLike<number>;
  /** Each job's `run_at` in seconds since the epoch. */
  readonly runAts: ArrayLike<number>;
  readonly #payloads: string;
  readonly #texts: Pick<
    FetchedColumns,
    "attempts" | "max_attempts" | "task_names" | "queue_names" | "created_ats" | "rare"
  >;
  /** The payloads that load() has read, by job id. */
  #large: Map<string, string> | undefined;
  #payloadStarts: Uint32Array | undefined;
  #attempts: ArrayLike<number> | undefined;
  #maxAttempts: ArrayLike<number> | undefined;
  #createdAts: readonly (number | string | null)[] | undefined;
  #taskNames: Readonly<Record<string, string>> | undefined;
  #queueNames: Readonly<Record<string, string>> | undefined;
  #rare: ReadonlyMap<string, RareColumns> | undefined;

  constructor(columns: FetchedColumns) {
    const { attempts, max_attempts, task_names, queue_names, created_ats, rare } = columns;
    this.#texts = { attempts, max_attempts, task_names, queue_names, created_ats, rare };
    this.#payloads = columns.payloads ?? "";
    this.ids = columns.ids === null ? [] : columns.ids.slice(1, -1).split(",");
    const count = this.ids.length;
    this.taskIds = numbers(columns.task_ids, count);
    this.locks = columns.queue_ids === null ? null : parseColumn(columns.queue_ids);
    this.priorities = numbers(columns.priorities, count);
    this.runAts = momentsOf(columns.run_ats ?? "", count);
  }

  /** Returns the rows for a single job, from the text of `columnsText`. */
  static ofOne(text: string): FetchedRows {
    const [ids, payloads, run_ats, task_ids, task_names, ...rest] = text.split(PAYLOAD_SEPARATOR);
    const [priorities, attempts, max_attempts, created_ats, rare] = rest;
    const whole = { ids, payloads, run_ats, task_ids, priorities, attempts, max_attempts };
    const given = { task_names, created_ats: created_ats || null, rare: rare || null };
    const none = { queue_ids: null, queue_names: null };
    return new FetchedRows({ ...whole, ...given, ...none } as FetchedColumns);
  }

  /** Returns the name of a job's task; "" if the task had no row. */
  taskName(index: number): string {
    this.#taskNames ??= JSON.parse(this.#texts.task_names || "{}") as Record<string, string>;
    return this.#taskNames[this.taskIds[index] as number] ?? "";
  }

  /** Returns the name of the queue of a lock in `locks`; "" if the queue had no row. */
  queueName(lock: number): string {
    this.#queueNames ??= JSON.parse(this.#texts.queue_names ?? "{}") as Record<string, string>;
    return this.#queueNames[lock] ?? "";
  }

  /** Reads the payloads that the fetch has left out because of their size. Throws WorkerError. */
  async load(db: Database): Promise<void> {
    if (this.ids.length === 0 || !hasGap(this.#payloads)) return;
    const missing = this.ids.filter((_, index) => this.payloadText(index) === "");
    this.#large ??= new Map();
    const rows = await query<{ id: string; payload: string }>(db, largeSql, [missing]);
    for (const { id, payload } of rows) this.#large.set(id, payload);
  }

  /** After load(): whether the job's payload was read. */
  isLoaded(index: number): boolean {
    return this.#large === undefined || this.payloadText(index) !== "";
  }

  /** Returns the payload's exact JSON text; "" if the payload was not read. */
  payloadText(index: number): string {
    const large = this.#large?.get(this.ids[index] as string);
    if (large !== undefined) return large;
    this.#payloadStarts ??= startsIn(this.#payloads, this.ids.length);
    const starts = this.#payloadStarts;
    return this.#payloads.slice(starts[index], (starts[index + 1] as number) - 1);
  }

  attempts(index: number): number {
    this.#attempts ??= numbers(this.#texts.attempts, this.ids.length);
    return this.#attempts[index] as number;
  }

  maxAttempts(index: number): number {
    this.#maxAttempts ??= numbers(this.#texts.max_attempts, this.ids.length);
    return this.#maxAttempts[index] as number;
  }

  createdAt(index: number): number {
    this.#createdAts ??= parseColumn<number | string | null>(this.#texts.created_ats);
    const value = this.#createdAts[index] ?? this.runAts[index];
    // JSON has no infinity, so an infinite time arrives as text.
    return typeof value === "number" ? value : EARLIEST_S;
  }

  rare(index: number): RareColumns {
    this.#rare ??= rareOf(this.#texts.rare);
    return this.#rare.get(this.ids[index] as string) ?? NOTHING_RARE;
  }
}

const largeSql: Statement = (s) =>
  `select id::text, payload::text from ${s}._private_jobs where id = any($1::bigint[])`;

/** JSON is never empty, so an empty payload is a payload that the fetch has left out. */
function hasGap(payloads: string): boolean {
  if (payloads.includes(PAYLOAD_SEPARATOR.repeat(2)) || payloads === "") return true;
  return payloads.startsWith(PAYLOAD_SEPARATOR) || payloads.endsWith(PAYLOAD_SEPARATOR);
}

function startsIn(payloads: string, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (let index = 1, at = 0; index < count; index++) {
    at = payloads.indexOf(PAYLOAD_SEPARATOR, at) + 1;
    starts[index] = at;
  }
  starts[count] = payloads.length + 1;
  return starts;
}

function parseColumn<T>(column: string | null): readonly T[] {
  return column === null ? [] : (JSON.parse(column) as T[]);
}

// The functions below prefer typed arrays. V8 stores large typed arrays outside the young generation, so the data of a
// fetch does not enlarge this generation.

/** Returns a number for each job, from a column that has either one number for all jobs or a JSON array. */
function numbers(column: string | null, count: number): ArrayLike<number> {
  if (column === null || column.startsWith("[")) return parseColumn(column);
  return new Int32Array(count).fill(Number(column));
}

/** Returns seconds since the epoch. The decoded column has 8 bytes for each job: microseconds since 2000. */
function momentsOf(column: string, count: number): ArrayLike<number> {
  const bytes = Buffer.from(column, "base64");
  const moments = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const us = bytes.readInt32BE(8 * index) * 2 ** 32 + bytes.readUInt32BE(8 * index + 4);
    moments[index] = Math.max(us / 1e6 + YEAR_2000_S, EARLIEST_S);
  }
  return moments;
}

function rareOf(column: string | null): ReadonlyMap<string, RareColumns> {
  const rows = parseColumn<RareRow>(column);
  return new Map(
    rows.map(([id, key, revision, flags, lastError]) => [
      id,
      { key, revision, flags: Object.keys(flags ?? {}), lastError },
    ]),
  );
}
