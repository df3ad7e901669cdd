// Reads the pauses, the limits, and the requests to cancel jobs of this worker: every 2 seconds, and at once after an
// announcement. After a new pause, gives back fetched jobs that have not started, and then acknowledges the pause. Also
// ends pauses whose time is over. The extension `controls` may be added while the worker runs.
import { monotonic, wait } from "../base/clock.ts";
import { codeOf, isOutage, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { hasControls } from "../database/schema/extensions/has-extension.ts";
import { endCancellations, readCancelRequests } from "../queue/cancel/cancellations.ts";
import { CONTROL, type Control, controlOf, endDuePauses } from "../queue/pauses/pause.ts";
import { readPauseState } from "../queue/pauses/pause-state.ts";
import type { FetchedJob } from "./execute/fetched-job.ts";
import type { Controls } from "./fetch/task-parameters.ts";
import { JobCancelled } from "./task/outcomes.ts";

const EVERY_MS = 2_000;
/** The shortest wait for the end of a pause. */
const MIN_WAIT_MS = 10;
const ALL: ReadonlySet<Control> = new Set(["all"]);
/**
 * The time between the two reads that follow an announcement. The second read finds requests to cancel jobs that were
 * still being fetched during the first read.
 */
const SECOND_READ_MS = 250;

// endDuePauses() may read all jobs. A wait after each slow attempt usually limits these reads to about 5% of the time.
const SHORT_MS = 100;
const IDLE_FACTOR = 19;
const MAX_IDLE_MS = 600_000;

export interface ControlWatchParts {
  readonly logger: Logger;
  /** Returns a connected database; null if there is none. */
  database(): Database | null;
  /** A database with a long time limit, for ending pauses and deleting requests. */
  readonly patient: Database;
  /** Gives back the fetched jobs that have not started. Resolves when no job of an earlier fetch can start any more. */
  returnUnstarted(): Promise<void>;
  /** Called when jobs may be ready again. */
  wake(): void;
  /** Called when the worker must report a new value of `appliedPauses`. */
  acknowledge(): void;
  /** The limits, which are read after the pauses. */
  readonly limits: { read(db: Database): Promise<unknown> };
  /** Returns the running jobs of this worker, and the jobs of the safe mode that have been fetched and not started. */
  jobs(): readonly FetchedJob[];
  /** Whether a session of this worker has this id. */
  isOwn(workerId: string): boolean;
  /** Aborts the signal of a running job. Returns whether the job is running. */
  cancel(job: FetchedJob): boolean;
}

export class ControlWatch implements Controls {
  readonly #parts: ControlWatchParts;
  readonly #stop = new AbortController();
  #waiting = new AbortController();
  #announced = new Set<Control>();
  #running: Promise<void> | null = null;
  isInstalled = false;
  pausesRead = 0;
  #mark: string | null = null;
  /** The pauses that were read last; null: too many to list. */
  #pauses: ReadonlySet<string> | null = new Set();
  #returned: Promise<void> = Promise.resolve();
  #appliedPauses: string | null = null;
  /** Whether a pause whose time is over still has a row, for example because a job of its queue is running. */
  #hasDue = false;
  /** The end of the next pause, by the monotonic clock; infinite: none, or unknown. */
  #nextEndMs = Number.POSITIVE_INFINITY;
  #isEnding = false;
  #endNotBeforeMs = 0;
  #endFailure: string | null = null;
  /** The error of the last read; null after a successful read. A repeated error is logged once. */
  #failure: string | null = null;

  constructor(parts: ControlWatchParts) {
    this.#parts = parts;
  }

  /**
   * Reads once on `db`, before the first fetch, and then periodically. Rejects if the first read of the pauses or of
   * the limits fails, because jobs could then start despite a pause or a limit.
   */
  async start(db: Database): Promise<void> {
    const error = await this.#readAll(db, ALL);
    if (error !== null) throw error;
    this.#running = this.#run();
  }

  /**
   * The mark (PauseState) of the pauses that the worker has applied: the paused jobs can no longer start. Null: no
   * pauses have been applied yet, the table of pauses is missing, or the worker lacks the right to read it.
   */
  get appliedPauses(): string | null {
    return this.#appliedPauses;
  }

  /** The channel that announces changed pauses, changed limits and requests to cancel, with its callback. */
  get channels(): Readonly<Record<string, (payload: string) => void>> {
    return { [CONTROL]: (payload) => this.#onAnnounced(controlOf(payload, this.#parts.isOwn)) };
  }

  /**
   * Called when a run of a named queue has ended: a pause whose time is over may have waited for this end. Runs may end
   * very often, so one read, a moment later, serves several runs.
   */
  queueUnlocked(): void {
    if (!this.#hasDue) return;
    this.#hasDue = false;
    void wait(SECOND_READ_MS, this.#stop.signal).then(() => this.readNow());
  }

  #onAnnounced(control: Control | null): void {
    if (control === null) return;
    // No wake for "pauses": the end of a pause is announced separately, on the channel of new jobs.
    if (control === "all") this.#parts.wake();
    this.readNow(control);
  }

  readNow(control: Control = "all"): void {
    this.#announced.add(control);
    this.#waiting.abort();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let wasAnnounced = false;
    while (!signal.aborted) {
      if (this.#announced.size === 0) {
        this.#waiting = new AbortController();
        const endsInMs = Math.max(0, this.#nextEndMs - monotonic());
        const waitMs = Math.min(wasAnnounced ? SECOND_READ_MS : EVERY_MS, endsInMs);
        await wait(waitMs, AbortSignal.any([signal, this.#waiting.signal]));
      }
      const announced = this.#announced;
      this.#announced = new Set();
      wasAnnounced = announced.size > 0;
      const database = signal.aborted ? null : this.#parts.database();
      if (database !== null) await this.#readAll(database, wasAnnounced ? announced : ALL);
      // Without a connection, a time in the past would make this loop run without a wait.
      else this.#nextEndMs = Number.POSITIVE_INFINITY;
    }
  }

  /** Returns whether some requests can be removed. */
  async #cancel(db: Database): Promise<boolean> {
    const { jobs, cancel, returnUnstarted, logger } = this.#parts;
    const mine = jobs();
    const { found, hasEnded } = await readCancelRequests(
      db,
      mine.map(({ id }) => id),
    );
    const requests = new Map(found.map((one) => [one.id, one]));
    const toCancel = mine.filter((job) => job.cancelled === undefined && requests.has(job.id));
    let hasUnstarted = false;
    for (const job of toCancel) {
      const { reason = null, by = null } = requests.get(job.id) ?? {};
      job.cancelled = new JobCancelled(reason, by);
      logger.info({ job_id: job.id, task: job.taskIdentifier, reason, by }, "a job is cancelled");
      hasUnstarted = !cancel(job) || hasUnstarted;
    }
    // A cancelled job that is given back unstarted fails, so it does not wait for a slot (Results.return()).
    if (hasUnstarted) void returnUnstarted();
    return hasEnded;
  }

  /** Reads what `due` names. Returns the error if the pauses, or the limits, have never been read. */
  async #readAll(db: Database, due: ReadonlySet<Control>): Promise<unknown> {
    const error = await this.#read(db, due);
    const isUnknown = this.#mark === null;
    // The extension "limits" needs "controls".
    const hasLimits = this.isInstalled && due.has("all");
    const limitsError = hasLimits ? await this.#parts.limits.read(db) : null;
    return isUnknown ? error : limitsError;
  }

  async #read(db: Database, due: ReadonlySet<Control>): Promise<unknown> {
    const { logger } = this.#parts;
    try {
      if (!this.isInstalled && !(await hasControls(db))) {
        this.#clearPauses();
        return null;
      }
      this.isInstalled = true;
      const hasCancels = due.has("all") || due.has("cancel");
      const hasPauses = due.size > 1 || !due.has("cancel");
      const cancelled = hasCancels ? this.#cancel(db) : Promise.resolve(false);
      cancelled.catch(() => {}); // Pauses take effect even if the requests cannot be read.
      if (hasPauses) await this.#readPauses(db, due !== ALL);
      let hasEnded = false;
      try {
        hasEnded = (await cancelled) && due.has("all");
      } finally {
        // Writes come last, so that a worker whose role may not write still applies what it has read.
        if (this.#hasDue || hasEnded) void this.#end(hasEnded);
      }
      this.#failure = null;
      return null;
    } catch (error) {
      // Without the table of pauses, or without the right to read it, nothing is paused for this worker.
      const isUnreadable = codeOf(error) !== undefined && !isOutage(error);
      if (isUnreadable) this.isInstalled = await hasControls(db).catch(() => this.isInstalled);
      if (!this.isInstalled) this.#clearPauses();
      const message = messageOf(error);
      if (message === this.#failure) return error;
      this.#failure = message;
      logger[isUnreadable ? "warn" : "debug"](
        { error: message },
        "pauses and cancellations could not be read",
      );
      return error;
    }
  }

  async #readPauses(db: Database, isAnnounced: boolean): Promise<void> {
    // If this read fails, the known end of a pause may be outdated, so the next read comes after the usual wait.
    this.#nextEndMs = Number.POSITIVE_INFINITY;
    const { mark, pauses, hasDue, nextMs } = await readPauseState(db, this.#mark);
    if (nextMs !== null) this.#nextEndMs = monotonic() + Math.max(nextMs, MIN_WAIT_MS);
    if (mark !== this.#mark) this.#applyPauses(mark, pauses, isAnnounced);
    this.#hasDue = hasDue;
  }

  async #end(hasEndedRequests: boolean): Promise<void> {
    const { patient, logger, wake } = this.#parts;
    const startMs = monotonic();
    if (this.#isEnding || startMs < this.#endNotBeforeMs) return;
    this.#isEnding = true;
    try {
      if (this.#hasDue && (await endDuePauses(patient)) > 0) wake();
      if (hasEndedRequests) await endCancellations(patient);
      this.#endFailure = null;
    } catch (error) {
      const message = messageOf(error);
      const level = isOutage(error) ? "debug" : "warn";
      if (message !== this.#endFailure)
        logger[level](
          { error: message },
          "pauses could not be ended, or requests to cancel could not be deleted",
        );
      this.#endFailure = message;
    }
    this.#isEnding = false;
    const tookMs = monotonic() - startMs;
    const idleMs = tookMs < SHORT_MS ? 0 : Math.min(tookMs * IDLE_FACTOR, MAX_IDLE_MS);
    this.#endNotBeforeMs = monotonic() + idleMs;
  }

  #clearPauses(): void {
    this.#mark = "";
    this.#pauses = new Set();
    if (this.#appliedPauses === null) return;
    this.#appliedPauses = null;
    this.#parts.acknowledge();
  }

  #applyPauses(mark: string, pauses: readonly string[] | null, isAnnounced: boolean): void {
    const isFirst = this.#mark === null;
    const isNew = pauses === null || pauses.some((one) => this.#pauses?.has(one) !== true);
    this.#mark = mark;
    this.#pauses = pauses === null ? null : new Set(pauses);
    if (isNew) {
      // From now on, jobs of fetches that were sent earlier do not start.
      this.pausesRead++;
      this.#returned = this.#parts.returnUnstarted();
    }
    if (!isFirst && !isAnnounced) this.#parts.wake();
    void this.#returned.then(() => {
      if (mark !== this.#mark) return;
      this.#appliedPauses = mark;
      // Once nothing is paused, there is nothing to acknowledge.
      if (this.#pauses?.size !== 0) this.#parts.acknowledge();
    });
  }
}
