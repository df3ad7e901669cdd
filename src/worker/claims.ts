// What a worker's claims ask for and how their answers are read: its tasks and their ids, the form of
// the statement that is needed, and where the next claim may start.
import { monotonic } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import type { JobRows } from "../queue/claimed-rows.ts";
import type { KeyTest } from "../queue/ready-jobs.ts";
import { registerTasks } from "../queue/register-tasks.ts";
import { shortClaimStatement } from "../queue/short-look.ts";
import { type ClaimedJob, jobsInOrder } from "./claimed-job.ts";
import type { Claim } from "./exchange.ts";
import { LowWater, NO_MARK } from "./low-water.ts";
import { ShortLooks } from "./short-looks.ts";
import type { WorkerConfig } from "./worker-options.ts";

/** Which jobs claims are to take. */
export interface JobKinds {
  /** Of those without a queue. */
  readonly free: KeyTest;
  /** Of those in named queues. */
  readonly queued: KeyTest;
}

export const ALL_JOBS: JobKinds = { free: "all", queued: "all" };

export class Claims<E> {
  /** Of our tasks, as PostgreSQL writes an array: pg would do that anew for each statement. */
  readonly identifiers: string;
  readonly #names: readonly string[];
  readonly #forbiddenFlags: readonly string[];
  readonly #logger: Logger;
  readonly #lowWater = new LowWater();
  readonly #shortClaims: ShortLooks | null;
  #taskNames: ReadonlyMap<number, string> = new Map();
  /** Some named queue may be free: claims look at queued jobs, too. */
  #queuesInUse = true;

  constructor(config: WorkerConfig<E>, workerId: string) {
    this.#names = [...config.tasks.keys()];
    this.identifiers = arrayText(this.#names);
    this.#forbiddenFlags = config.forbiddenFlags;
    this.#logger = config.logger;
    this.#shortClaims = shortClaims(config, workerId, this.identifiers);
  }

  /** Makes the tasks known and learns their ids: a cleanup may have given them new ones. */
  async register(db: Database): Promise<void> {
    this.#taskNames = await registerTasks(db, this.#names);
  }

  /** Makes rows jobs, in order. A task that was cleaned up and made again has a new id. */
  async jobs(rows: JobRows, db: Database): Promise<ClaimedJob[]> {
    if (!rows.taskIds.every((id) => this.#taskNames.has(id))) {
      // Whatever stays unknown is given back unstarted.
      await this.register(db).catch(() => {});
    }
    // What does not come is given back unstarted, too.
    await rows.load(db).catch((error: unknown) => {
      this.#logger.warn({ error: messageOf(error) }, "cannot fetch large payloads");
    });
    return jobsInOrder({ rows, taskNames: this.#taskNames, at_ms: monotonic() });
  }

  /** Anything may have become ready: the next claim looks at everything. */
  forgetMark(): void {
    this.#lowWater.forget();
  }

  /** `isFresh`: after a rest, for what has just become ready. */
  next(want: number, kinds: JobKinds, isFresh: boolean): Claim {
    const short = this.#shortClaims;
    const isShort = isFresh && kinds === ALL_JOBS && !this.#queuesInUse && short?.next() === true;
    return {
      sentAt_ms: monotonic(),
      short: isShort ? short : null,
      identifiers: this.identifiers,
      want,
      form: {
        queues: this.#queuesInUse,
        flags: this.#forbiddenFlags.length > 0,
        ...kinds,
      },
      mark: this.#lowWater.mark,
      forbiddenFlags: this.#forbiddenFlags,
    };
  }

  /** Learns from an answer. True when it showed all there is for us. */
  learn(claim: Claim, jobs: readonly ClaimedJob[], queuesAreFree: boolean): boolean {
    if (claim.short !== null) return false;
    this.#queuesInUse = queuesAreFree;
    const sawQueues = claim.form.queues || !queuesAreFree;
    const isShort = jobs.length < claim.want;
    // Behind a mark one only sees what is behind it.
    const isLast = isShort && sawQueues && claim.mark === NO_MARK;
    const last = jobs.at(-1);
    if (isShort) this.#lowWater.forget();
    // Queued jobs are taken in runs and leave others behind them: no mark then.
    else if (last !== undefined && !last.isQueued && !queuesAreFree)
      this.#lowWater.remember(last, claim.sentAt_ms);
    return isLast;
  }
}

/**
 * True when a claim beside this one may have come back short for what this one had locked and left:
 * then nobody would look for that again. Where it took queued jobs only, their end is a reason to.
 */
export function leavesLocked({ form, want }: Claim, jobs: readonly ClaimedJob[]): boolean {
  return form.queues && jobs.length === want && jobs.some(({ isQueued }) => !isQueued);
}

/** null: not behind a pooler, which keeps no statements, and not where looks are to be few. */
function shortClaims<E>(config: WorkerConfig<E>, workerId: string, identifiers: string) {
  const { schema, forbiddenFlags, preparedStatements, localQueue } = config;
  if (!preparedStatements || localQueue.refetchDelay !== null) return null;
  const flags = forbiddenFlags.length > 0;
  return new ShortLooks({ schema }, shortClaimStatement({ flags }), {
    identifiers,
    rest: flags ? [workerId, arrayText(forbiddenFlags)] : [workerId],
    begins: false,
  });
}

/** As PostgreSQL writes a text[]. */
export function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
