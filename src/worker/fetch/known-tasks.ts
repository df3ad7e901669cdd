// The tasks that a worker's fetches ask for, by their identifiers, and how the rows of an answer become
// jobs. Each answer brings the names of its tasks: ids are used again when the tables are refilled.
import { monotonic } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { registerTasks } from "../../queue/add/register-tasks.ts";
import type { ClaimedRows } from "../../queue/fetch/claimed-rows.ts";
import { type ClaimedJob, jobsInOrder } from "../execute/claimed-job.ts";
import type { TaskTally } from "../execute/task-tally.ts";
import { HORIZON_MS } from "./prefetch.ts";

export interface KnownTasksParts {
  readonly tasks: ReadonlyMap<string, { readonly tally: Pick<TaskTally, "meanMs"> }>;
  /** Jobs with one of these flags are left to other workers. */
  readonly forbiddenFlags: readonly string[];
  readonly logger: Logger;
}

export class KnownTasks {
  /** As PostgreSQL writes a text[]: pg would make that anew for each statement. */
  readonly identifiers: string;
  /** The same of the forbidden flags; null = there are none, and statements leave the test out. */
  readonly forbiddenFlags: string | null;
  readonly #parts: KnownTasksParts;

  constructor(parts: KnownTasksParts) {
    this.#parts = parts;
    this.identifiers = arrayText([...parts.tasks.keys()]);
    this.forbiddenFlags = parts.forbiddenFlags.length > 0 ? arrayText(parts.forbiddenFlags) : null;
  }

  /**
   * Which part of a run of a named queue a job of each task takes up, in the order of `identifiers`: as
   * PostgreSQL writes a float8[]. Infinity: no job of the task has run yet.
   */
  get runShares(): string {
    const shares = [...this.#parts.tasks.values()].map(({ tally: { meanMs } }) =>
      meanMs === null ? "Infinity" : String(meanMs / HORIZON_MS),
    );
    return `{${shares.join(",")}}`;
  }

  /** Makes the tasks visible before their first job. */
  async register(db: Database): Promise<void> {
    await registerTasks(db, [...this.#parts.tasks.keys()]);
  }

  /** Makes rows jobs, in order. Those whose payload does not come are given back unstarted. */
  async jobs(answers: readonly ClaimedRows[], db: Database): Promise<ClaimedJob[]> {
    for (const rows of answers) {
      await rows.load(db).catch((error: unknown) => {
        this.#parts.logger.warn({ error: messageOf(error) }, "cannot fetch large payloads");
      });
    }
    return jobsInOrder(answers, monotonic());
  }

  /**
   * The same in an open transaction that holds the rows: a question that fails there has ended it and
   * freed them all, so it throws WorkerError.
   */
  async jobsInTransaction(answers: readonly ClaimedRows[], db: Database): Promise<ClaimedJob[]> {
    for (const rows of answers) await rows.load(db);
    return jobsInOrder(answers, monotonic());
  }
}

function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
