// Makes queues under limits managed (queue/sql/slots.ts), for all fetches of a session. Each pass reads all rows of
// queues, so passes take at most a twentieth of the time, or half of it while there are many queues to change.
//
//   a limit has changed ─▶ all queues ─┐
//   jobs were announced ─▶ new queues ─┴▶ managed
import type { Clock } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { manageQueues } from "../../queue/limits/managed-queues.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";

/** The pause after a pass is at least this many times as long as the pass, unless many queues are still to change. */
const SHARE = 20;
/** The pause after a lost connection: the duration of such a pass does not show how long the server has worked. */
const LOST_MS = 1_000;
/** The shortest pause between two passes, and the first and longest while some queue cannot be changed yet. */
const PAUSE_MS = 5;
const PENDING_MS = 50;
const MAX_PENDING_MS = 1_000;

export class ManagedQueues {
  readonly #clock: Clock;
  /** Counts the events after which some queues may have to be made managed. */
  #news = 1;
  #done = 0;
  /** `#news` at the last pass that read all queues. Queues that still differ from the limits wait for runs to end. */
  #read = 0;
  #hasAllToRead = true;
  #mayReadAtMs = 0;
  /** The end of the pause after the last pass, which depends on the duration of that pass. */
  #pausesUntilMs = 0;
  #pendingMs = PENDING_MS;
  #isReading = false;
  #changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts the passes that have changed queues or their slots. */
  get changes(): number {
    return this.#changes;
  }

  /** Called when limits have changed: a queue may need more or fewer slots, or become ordinary again. */
  limitsChanged(): void {
    this.#hasAllToRead = true;
    this.#news++;
  }

  /** Called when jobs may have become ready: a queue may be new, or its pause may have ended. */
  jobsAnnounced(): void {
    this.#news++;
  }

  /** Called when a run of a queue has ended. The queue may have waited for that, to become managed. */
  runEnded(): void {
    this.#pendingMs = PENDING_MS;
    const soonMs = Math.max(this.#clock.monotonic() + PAUSE_MS, this.#pausesUntilMs);
    this.#mayReadAtMs = Math.min(this.#mayReadAtMs, soonMs);
  }

  /** When queues should be read again, by the monotonic clock; Infinity: only after another event. */
  get dueAtMs(): number {
    return this.#done >= this.#news || this.#isReading
      ? Number.POSITIVE_INFINITY
      : this.#mayReadAtMs;
  }

  /** Whether no queue has to be changed, except for those that wait for the end of a run or a pause. */
  get isDone(): boolean {
    return this.#read >= this.#news;
  }

  /** Makes queues managed, or ordinary again, if a pass is due. */
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
      this.#mayReadAtMs = failedMs + (isLost ? LOST_MS : SHARE * (failedMs - startedMs));
      this.#hasAllToRead ||= all;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }
}
