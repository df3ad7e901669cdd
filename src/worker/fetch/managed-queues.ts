// Makes named queues managed while a limit applies to them, and ordinary again afterwards. In a managed queue, each run
// locks a slot instead of the queue (queue/sql/slots.ts). A pass is one scan of the rows of all queues, which changes
// queues that differ from the limits. A wait follows each pass.
import type { Clock } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { manageQueues } from "../../queue/limits/managed-queues.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";

/** The usual minimum wait after a pass, as a multiple of the duration of the pass. */
const SHARE = 20;
/**
 * The wait after a pass that lost its connection. The duration of such a pass does not show how long the server worked.
 */
const LOST_MS = 1_000;
/** The shortest wait between two passes. */
const PAUSE_MS = 5;
/**
 * The shortest wait while queues differ from the limits but cannot be changed yet. The wait doubles after each pass
 * that changes nothing, up to MAX_PENDING_MS.
 */
const PENDING_MS = 50;
const MAX_PENDING_MS = 1_000;

export class ManagedQueues {
  readonly #clock: Clock;
  /** Counts the events after which queues may have to be changed. */
  #news = 1;
  /** `#news` at the start of the last pass that left no queue to change. */
  #done = 0;
  /** Like `#done`, but the pass may have left queues that wait for the end of a run. */
  #read = 0;
  #hasAllToRead = true;
  #mayReadAtMs = 0;
  /** The end of the wait that SHARE or LOST_MS requires after the last pass. */
  #pausesUntilMs = 0;
  #pendingMs = PENDING_MS;
  #isReading = false;
  #changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of passes that have changed queues or their slots. */
  get changes(): number {
    return this.#changes;
  }

  /** Called when limits have changed. */
  limitsChanged(): void {
    this.#hasAllToRead = true;
    this.#news++;
  }

  /** Called when jobs may have become ready: a queue may be new, or the pause of a queue may have ended. */
  jobsAnnounced(): void {
    this.#news++;
  }

  /** Called when a run of a queue may have ended: some queues can be changed only after a run. */
  runEnded(): void {
    this.#pendingMs = PENDING_MS;
    const soonMs = Math.max(this.#clock.monotonic() + PAUSE_MS, this.#pausesUntilMs);
    this.#mayReadAtMs = Math.min(this.#mayReadAtMs, soonMs);
  }

  /** When the next pass is due, by the monotonic clock; Infinity: a pass is running, or there is nothing to change. */
  get dueAtMs(): number {
    return this.#done >= this.#news || this.#isReading
      ? Number.POSITIVE_INFINITY
      : this.#mayReadAtMs;
  }

  /** Whether all queues fit the limits, except queues that wait for the end of a run or of their pause. */
  get isDone(): boolean {
    return this.#read >= this.#news;
  }

  /** Runs a pass if a pass is due. Throws the error of the pass. */
  async manage(connection: WorkerConnection): Promise<void> {
    const startedMs = this.#clock.monotonic();
    if (startedMs < this.dueAtMs) return;
    const [news, all] = [this.#news, this.#hasAllToRead];
    this.#isReading = true;
    this.#hasAllToRead = false;
    try {
      const { isPending, isPartial, changed } = await connection.withSettings(() =>
        manageQueues(connection.database, { all }),
      );
      if (!isPending) this.#done = news;
      if (!isPartial) this.#read = news;
      this.#hasAllToRead ||= isPending && all;
      const nowMs = this.#clock.monotonic();
      const continues = isPartial && changed > 0;
      this.#pausesUntilMs = nowMs + (continues ? 1 : SHARE) * (nowMs - startedMs);
      if (changed > 0) this.#changes++;
      this.#pendingMs = changed > 0 ? PENDING_MS : Math.min(2 * this.#pendingMs, MAX_PENDING_MS);
      const pauseMs = isPending && !continues ? this.#pendingMs : PAUSE_MS;
      this.#mayReadAtMs = Math.max(nowMs + pauseMs, this.#pausesUntilMs);
    } catch (error) {
      const failedMs = this.#clock.monotonic();
      const isLost = codeOf(error) === "database_unreachable";
      this.#pausesUntilMs = failedMs + (isLost ? LOST_MS : SHARE * (failedMs - startedMs));
      this.#mayReadAtMs = this.#pausesUntilMs;
      this.#hasAllToRead ||= all;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }
}
