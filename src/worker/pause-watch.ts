// Reads what is paused: every 2 seconds, and at once when a pause is announced. A worker learns here that the schema
// has pauses at all, gives back jobs that it has fetched and not started after a new pause, and ends pauses that are
// over.
//
//   start() ──▶ a look ──2 s, or announced──▶ a look ──▶ … ──▶ stop()
import { wait } from "../base/clock.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { hasControls } from "../database/schema/extensions/has-controls.ts";
import { lookAtPauses } from "../queue/pauses/list-pauses.ts";
import { CONTROL, endDuePauses } from "../queue/pauses/pause.ts";

const EVERY_MS = 2_000;
/** After a change: what a fetch under way has brought since goes back, too. */
const AGAIN_MS = 250;
const OUTAGE: ReadonlySet<string> = new Set(["database_unreachable", "read_only_server"]);

/** For the fetches. */
export interface Controls {
  /** The schema has the extension "controls". */
  readonly isInstalled: boolean;
}

export interface PauseWatchParts {
  readonly logger: Logger;
  /** A connection that is there; null: none is. */
  database(): Database | null;
  /** Jobs that were fetched before a pause, and have not started, go back. */
  letGo(): void;
  /** Jobs may be ready again. */
  wake(): void;
}

export class PauseWatch implements Controls {
  readonly #parts: PauseWatchParts;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #isAnnounced = false;
  #running: Promise<void> | null = null;
  #isInstalled = false;
  #mark: string | null = null;
  /** The last look has found a change. */
  #hasChanged = false;
  /** What the last look failed with, and is logged; null: it has not failed. */
  #failure: string | null = null;

  constructor(parts: PauseWatchParts) {
    this.#parts = parts;
  }

  /** `db`: for the first look, before anything is fetched. */
  async start(db: Database): Promise<void> {
    await this.#look(db);
    this.#running = this.#run();
  }

  get isInstalled(): boolean {
    return this.#isInstalled;
  }

  /** For a listener: a pause has begun or ended. */
  get channels(): Readonly<Record<string, () => void>> {
    return {
      [CONTROL]: () => {
        this.#isAnnounced = true;
        this.#pause.abort();
      },
    };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (!this.#isAnnounced) {
        this.#pause = new AbortController();
        const pauseMs = this.#hasChanged ? AGAIN_MS : EVERY_MS;
        await wait(pauseMs, AbortSignal.any([signal, this.#pause.signal]));
      }
      this.#isAnnounced = false;
      const database = signal.aborted ? null : this.#parts.database();
      if (database !== null) await this.#look(database);
    }
  }

  async #look(db: Database): Promise<void> {
    const { logger, letGo, wake } = this.#parts;
    try {
      if (!this.#isInstalled && !(await hasControls(db))) {
        this.#mark = "";
        return;
      }
      this.#isInstalled = true;
      const { mark, hasDue } = await lookAtPauses(db);
      const isFirst = this.#mark === null;
      const isAgain = this.#hasChanged;
      this.#hasChanged = mark !== this.#mark && !isFirst;
      this.#mark = mark;
      if (this.#hasChanged || isAgain) {
        letGo();
        wake();
      }
      // Last: a role that may only read the pauses obeys them, and leaves their end to other workers.
      if (hasDue && (await endDuePauses(db)) > 0) wake();
      this.#failure = null;
    } catch (error) {
      // Without the table, or without the right to read it, nothing is paused for this worker.
      const isGone = codeOf(error) !== undefined && !OUTAGE.has(codeOf(error) ?? "");
      if (isGone) this.#isInstalled = await hasControls(db).catch(() => this.#isInstalled);
      const message = messageOf(error);
      if (message === this.#failure) return;
      this.#failure = message;
      logger[isGone ? "warn" : "debug"]({ error: message }, "pauses could not be read or ended");
    }
  }
}
