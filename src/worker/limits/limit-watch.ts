// Reads the limits when control-watch.ts requests it: every 2 s, and after an announced change. If the limits have
// changed, or if permits are announced, notifies the parts that apply limits.
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { mayReadLimits } from "../../database/schema/extensions/has-extension.ts";
import { hasManagedQueues, readLimits, type StoredLimit } from "../../queue/limits/limits.ts";
import { announcedPermits, PERMITS, shortLimits } from "../../queue/limits/permits.ts";

export interface LimitReader {
  /** Called after the stored limits have changed. Returns whether a task or queue now has other limits than before. */
  limitsChanged(): boolean;
  permitsAnnounced(limitId: number, areFree: boolean): void;
}

const HIDDEN = "this role may not read the limits: none applies to this worker";
const UNREAD = "limits could not be read: the last ones apply";

export class LimitWatch {
  readonly #logger: Logger;
  readonly #changed: (isOther: boolean) => void;
  readonly #readers = new Set<LimitReader>();
  #limits: readonly StoredLimit[] = [];
  #hasManagedQueues = false;
  #text = "[]";
  #isInstalled = false;
  #isKnown = false;
  #failure: string | null = null;

  /** `isOther`: whether a reader's limitsChanged() returned true. */
  constructor(logger: Logger, changed: (isOther: boolean) => void) {
    this.#logger = logger;
    this.#changed = changed;
  }

  /** All limits, ordered by id. */
  get limits(): readonly StoredLimit[] {
    return this.#limits;
  }

  /** Whether there is a limit of queues, or a queue still has slots of a removed limit. */
  get hasManagedQueues(): boolean {
    return this.#hasManagedQueues;
  }

  /** The handler of announcements of wanted and free permits, by channel. */
  get channels(): Readonly<Record<string, (payload: string) => void>> {
    return {
      [PERMITS]: (payload) => {
        const { limitId, areFree } = announcedPermits(payload);
        this.#notifyReaders(limitId, areFree);
      },
    };
  }

  subscribe(reader: LimitReader): void {
    this.#readers.add(reader);
  }

  unsubscribe(reader: LimitReader): void {
    this.#readers.delete(reader);
  }

  /** Reads the limits. Returns the error if this read and all earlier reads have failed; null if any succeeded. */
  async read(db: Database): Promise<unknown> {
    const error = await this.#read(db);
    this.#isKnown ||= error === null;
    return this.#isKnown ? null : error;
  }

  async #read(db: Database): Promise<unknown> {
    try {
      const mayRead = this.#isInstalled || (await mayReadLimits(db));
      if (mayRead === false) this.#warn("permission denied for table _private_limits", HIDDEN);
      if (mayRead !== true) return this.#apply([], false);
      this.#isInstalled = true;
      const limits = await readLimits(db);
      const hasOfQueues = limits.some(({ definition }) => definition.scope === "queue");
      this.#apply(limits, hasOfQueues || (await hasManagedQueues(db)));
      // Even a worker that receives no notifications must notice that other workers want its unused permits.
      const havePermits = limits.some(({ definition: { scope, concurrency } }) => {
        return scope === "task" && concurrency !== null;
      });
      if (havePermits) for (const id of await shortLimits(db)) this.#notifyReaders(id, false);
      this.#failure = null;
      return null;
    } catch (error) {
      // Without the tables there are no limits. After any other error, the limits that were read last apply.
      if (codeOf(error) === "schema_missing") {
        this.#isInstalled = false;
        return this.#apply([], false);
      }
      const message = messageOf(error);
      // Outages are logged elsewhere.
      if (codeOf(error) === "database_unreachable") this.#logger.debug({ error: message }, UNREAD);
      else this.#warn(message, UNREAD);
      return error;
    }
  }

  /** Logs a failure, unless the last logged failure was the same and no read has succeeded since. */
  #warn(error: string, sentence: string): void {
    if (error === this.#failure) return;
    this.#failure = error;
    this.#logger.warn({ error }, sentence);
  }

  #notifyReaders(limitId: number, areFree: boolean): void {
    for (const reader of this.#readers) reader.permitsAnnounced(limitId, areFree);
  }

  #apply(limits: readonly StoredLimit[], hasQueues: boolean): null {
    const text = JSON.stringify(limits, (name, value) => (name === "leftMs" ? undefined : value));
    if (text === this.#text && hasQueues === this.#hasManagedQueues) return null;
    this.#text = text;
    this.#limits = limits;
    this.#hasManagedQueues = hasQueues;
    const isOther = [...this.#readers].map((one) => one.limitsChanged()).includes(true);
    this.#changed(isOther);
    return null;
  }
}
