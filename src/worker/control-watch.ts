// Reads what is paused and which of this worker's jobs are to be cancelled: every 2 seconds, and at once when a change
// is announced. A worker learns here that the schema has pauses at all, gives back jobs that it has fetched and not
// started after a new pause, acknowledges the pauses that it obeys, and ends pauses when they are over.
//
//   start() ──▶ a look ──2 s, or announced──▶ a look ──▶ … ──▶ stop()
//                 └ a new pause: what was fetched before goes back ──▶ acknowledged
import { monotonic, wait } from "../base/clock.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { hasControls } from "../database/schema/extensions/has-extension.ts";
import { endCancellations, lookAtCancellations } from "../queue/cancel/cancellations.ts";
import { lookAtPauses } from "../queue/pauses/look-at-pauses.ts";
import { CONTROL, endDuePauses } from "../queue/pauses/pause.ts";
import type { FetchedJob } from "./execute/fetched-job.ts";
import type { Controls } from "./fetch/task-parameters.ts";
import { JobCancelled } from "./task/outcomes.ts";

const EVERY_MS = 2_000;
/** The least wait for the end of a pause. */
const SOON_MS = 10;
/** After an announcement: a fetch under way may have brought a job that is to be cancelled. */
const AGAIN_MS = 250;
const OUTAGE: ReadonlySet<string> = new Set(["database_unreachable", "read_only_server"]);

export interface ControlWatchParts {
  readonly logger: Logger;
  /** A connection that is there; null: none is. */
  database(): Database | null;
  /**
   * Jobs that were fetched before a pause, and have not started, go back. Resolves when none of them can start any
   * more, and they have gone back.
   */
  returnUnstarted(): Promise<void>;
  /** Jobs may be ready again. */
  wake(): void;
  /** `obeyed` has changed. */
  acknowledge(): void;
  /** Read with each look. */
  readonly limits: { look(db: Database): Promise<void> };
  /** Jobs of this worker that have not ended. */
  jobs(): readonly FetchedJob[];
  /** Aborts the job's signal if it runs. Returns whether it does. */
  cancel(job: FetchedJob): boolean;
}

export class ControlWatch implements Controls {
  readonly #parts: ControlWatchParts;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #isAnnounced = false;
  #running: Promise<void> | null = null;
  #isInstalled = false;
  #pausesRead = 0;
  #mark: string | null = null;
  /** Those of the last change; null: too many. */
  #pauses: ReadonlySet<string> | null = new Set();
  /** Resolves when what was fetched before the last pause has gone back. */
  #gone: Promise<void> = Promise.resolve();
  #obeyed: string | null = null;
  /** A pause is over and has not ended, because a job of its queue runs. */
  #hasDue = false;
  /** When the next pause is over, by the monotonic clock. */
  #nextEndMs = Number.POSITIVE_INFINITY;
  /** What the last look failed with, and is logged; null: it has not failed. */
  #failure: string | null = null;

  constructor(parts: ControlWatchParts) {
    this.#parts = parts;
  }

  /** `db`: for the first look, before anything is fetched. */
  async start(db: Database): Promise<void> {
    await this.#lookAtAll(db);
    this.#running = this.#run();
  }

  get isInstalled(): boolean {
    return this.#isInstalled;
  }

  get pausesRead(): number {
    return this.#pausesRead;
  }

  /** The mark of the pauses that this worker obeys: none of their jobs can start any more. null: it is unknown. */
  get obeyed(): string | null {
    return this.#obeyed;
  }

  /** For a listener: a pause has begun or ended, or a job is to be cancelled. */
  get channels(): Readonly<Record<string, () => void>> {
    return { [CONTROL]: () => this.lookNow() };
  }

  /** A run of a named queue has ended: the queue may have been resumed while it ran. */
  queueFreed(): void {
    if (this.#hasDue) this.lookNow();
  }

  lookNow(): void {
    this.#isAnnounced = true;
    this.#pause.abort();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let wasAnnounced = false;
    while (!signal.aborted) {
      if (!this.#isAnnounced) {
        this.#pause = new AbortController();
        const endsInMs = Math.max(0, this.#nextEndMs - monotonic());
        const pauseMs = Math.min(wasAnnounced ? AGAIN_MS : EVERY_MS, endsInMs);
        await wait(pauseMs, AbortSignal.any([signal, this.#pause.signal]));
      }
      wasAnnounced = this.#isAnnounced;
      this.#isAnnounced = false;
      const database = signal.aborted ? null : this.#parts.database();
      if (database !== null) await this.#lookAtAll(database);
    }
  }

  /** Cancels jobs as requested. Returns whether there are requests of jobs that do not run. */
  async #cancel(db: Database): Promise<boolean> {
    const { jobs, cancel, returnUnstarted, logger } = this.#parts;
    const mine = jobs();
    const { found, hasOver } = await lookAtCancellations(
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
    // Such a job fails at once, and does not wait for a slot.
    if (hasUnstarted) void returnUnstarted();
    return hasOver;
  }

  async #lookAtAll(db: Database): Promise<void> {
    await this.#look(db);
    // The extension "limits" is installed with "controls".
    if (this.#isInstalled) await this.#parts.limits.look(db);
  }

  async #look(db: Database): Promise<void> {
    const { logger, wake } = this.#parts;
    try {
      if (!this.#isInstalled && !(await hasControls(db))) return this.#disobey();
      this.#isInstalled = true;
      const cancelled = this.#cancel(db);
      cancelled.catch(() => {}); // Without the requests pauses are obeyed, too.
      // An end that cannot be read is not waited for.
      this.#nextEndMs = Number.POSITIVE_INFINITY;
      const { mark, pauses, hasDue, nextMs } = await lookAtPauses(db, this.#mark);
      if (nextMs !== null) this.#nextEndMs = monotonic() + Math.max(nextMs, SOON_MS);
      if (mark !== this.#mark) this.#changed(mark, pauses);
      const hasOver = await cancelled;
      // Last: a role that may only read the pauses obeys them, and leaves their end to other workers.
      this.#hasDue = hasDue;
      if (hasDue && (await endDuePauses(db)) > 0) wake();
      if (hasOver) await endCancellations(db);
      this.#failure = null;
    } catch (error) {
      // Without the table, or without the right to read it, nothing is paused for this worker.
      const isGone = codeOf(error) !== undefined && !OUTAGE.has(codeOf(error) ?? "");
      if (isGone) this.#isInstalled = await hasControls(db).catch(() => this.#isInstalled);
      if (!this.#isInstalled) this.#disobey();
      const message = messageOf(error);
      if (message === this.#failure) return;
      this.#failure = message;
      logger[isGone ? "warn" : "debug"](
        { error: message },
        "pauses and cancellations could not be read or ended",
      );
    }
  }

  #disobey(): void {
    this.#mark = "";
    this.#pauses = new Set();
    if (this.#obeyed === null) return;
    this.#obeyed = null;
    this.#parts.acknowledge();
  }

  #changed(mark: string, pauses: readonly string[] | null): void {
    const isFirst = this.#mark === null;
    const isNew = pauses === null || pauses.some((one) => this.#pauses?.has(one) !== true);
    this.#mark = mark;
    this.#pauses = pauses === null ? null : new Set(pauses);
    if (isNew) {
      // From here on no fetch that was sent before starts its jobs.
      this.#pausesRead++;
      this.#gone = this.#parts.returnUnstarted();
    }
    if (!isFirst) this.#parts.wake();
    void this.#gone.then(() => {
      if (mark !== this.#mark) return;
      this.#obeyed = mark;
      this.#parts.acknowledge();
    });
  }
}
