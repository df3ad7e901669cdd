// A fetch of managed queues: queues that limits are for. Before it, queues that are not managed yet are made so, now and
// then: that reads all rows of queues, so it takes at most a twentieth of the time.
//
//   a limit has changed ─▶ all queues ─┐
//   jobs were announced ─▶ new queues ─┴▶ managed ──▶ slots, tokens, jobs ──▶ none: again when a token is due
import type { Clock } from "../../base/clock.ts";
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import { type ManagedTake, takeManaged } from "../../queue/fetch/take-managed.ts";
import { manageQueues } from "../../queue/limits/managed-queues.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { FetchRequest } from "./fetch-plan.ts";
import type { TaskParameters } from "./task-parameters.ts";

/** The most of the time that looks at all queues take. */
const SHARE = 20;
/** The shortest pause between two looks, and the pauses while some queue cannot be managed yet. */
const PAUSE_MS = 5;
const PENDING_MS = 50;
const PENDING_AT_MOST_MS = 1_000;
/** The pause after a fetch that found slots or jobs locked by another session. */
const CONTENDED_MS = 10;
/** Workers that wait for the same token request it at different times. */
const JITTER_MS = 5;

export interface ManagedJobs {
  readonly rows: FetchedRows;
  readonly nowSeconds: number;
}

export class ManagedFetch {
  readonly #clock: Clock;
  /** Whether some limit of queues has a rate. */
  #hasRates = false;
  /** Counts what may have made queues that are not managed yet. */
  #news = 1;
  #seen = 0;
  #looksAtAll = true;
  #mayLookAtMs = 0;
  #pendingMs = PENDING_MS;
  #isLooking = false;
  #dueAtMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The limits have changed: a queue may have more or fewer slots, or be ordinary again. */
  limitsChanged(hasRates: boolean): void {
    this.#hasRates = hasRates;
    this.#looksAtAll = true;
    this.#news++;
  }

  /** Jobs were added, or a pause has ended. */
  announced(): void {
    this.#news++;
  }

  /** A run may have ended for which its queue waits. */
  runEnded(): void {
    this.#pendingMs = PENDING_MS;
    this.#mayLookAtMs = Math.min(this.#mayLookAtMs, this.#clock.monotonic() + PAUSE_MS);
  }

  /** When another fetch may find more than the last one, by the monotonic clock; null: only after news. */
  get dueAtMs(): number | null {
    if (this.#seen >= this.#news || this.#isLooking) return this.#dueAtMs;
    return Math.min(this.#dueAtMs ?? Number.POSITIVE_INFINITY, this.#mayLookAtMs);
  }

  /** Takes the requested number of jobs at most. */
  async take(
    connection: WorkerConnection,
    workerId: string,
    { identifiers, runShares, forbiddenFlags }: TaskParameters,
    { want, isPatient }: FetchRequest,
  ): Promise<ManagedJobs> {
    await this.#look(connection);
    const form = { flags: forbiddenFlags !== null, rates: this.#hasRates };
    const values = [
      identifiers,
      want,
      workerId,
      runShares,
      ...(form.flags ? [forbiddenFlags] : []),
    ];
    const work = (db: Database) =>
      query<ManagedTake>(db, statementOf(form.flags, form.rates), values);
    const [row] = isPatient
      ? await connection.patiently(work)
      : await connection.within(() => work(connection.database));
    const { now_s, is_contended, next_ms } = row as ManagedTake;
    const rows = new FetchedRows(row as ManagedTake);
    const nextMs = is_contended ? Math.min(next_ms ?? CONTENDED_MS, CONTENDED_MS) : next_ms;
    this.#dueAtMs =
      nextMs === null ? null : this.#clock.monotonic() + nextMs + Math.random() * JITTER_MS;
    return { rows, nowSeconds: now_s };
  }

  async #look(connection: WorkerConnection): Promise<void> {
    const startedMs = this.#clock.monotonic();
    if (this.#isLooking || this.#seen >= this.#news || startedMs < this.#mayLookAtMs) return;
    const [news, all] = [this.#news, this.#looksAtAll];
    this.#isLooking = true;
    this.#looksAtAll = false;
    try {
      const { isPending, changed } = await connection.within(() =>
        manageQueues(connection.database, { all }),
      );
      if (!isPending) this.#seen = news;
      this.#looksAtAll ||= isPending && all;
      const tookMs = this.#clock.monotonic() - startedMs;
      this.#pendingMs =
        changed > 0 ? PENDING_MS : Math.min(2 * this.#pendingMs, PENDING_AT_MOST_MS);
      const pauseMs = Math.max(SHARE * tookMs, isPending ? this.#pendingMs : PAUSE_MS);
      this.#mayLookAtMs = this.#clock.monotonic() + pauseMs;
    } catch (error) {
      const failedMs = this.#clock.monotonic();
      this.#mayLookAtMs = failedMs + SHARE * (failedMs - startedMs);
      this.#looksAtAll ||= all;
      throw error;
    } finally {
      this.#isLooking = false;
    }
  }
}

const statements = new Map<string, Statement>();

function statementOf(flags: boolean, rates: boolean): Statement {
  const key = `${flags} ${rates}`;
  const known = statements.get(key) ?? builtOnce(takeManaged({ flags, rates }));
  statements.set(key, known);
  return known;
}
