// Writes the back-offs that jobs request. The target of a back-off is a task, a named queue or a limit.
//
//   a request ──▶ is written ──▶ all workers read it (control-watch.ts, limit-watch.ts)
//                    └ requests during the write: the back-off that ends last is written next
import { type Clock, systemClock, unlessAborted } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { type BackOffScope, beginBackOff, reasonOf } from "../../queue/limits/back-off.ts";
import type { WorkerConfig } from "../options/worker-options.ts";
import { type BackOffRequest, RetryRules } from "../task/next-attempt.ts";

interface PendingBackOff extends Omit<BackOffRequest, "target" | "delayMs"> {
  readonly untilMs: number;
}

interface Target {
  readonly scope: BackOffScope;
  readonly name: string;
  /** The end of the last back-off that was not ignored. 0 after a failed write: the next request is written. */
  untilMs: number;
  /** The time of the last request that was not ignored. */
  requestedMs: number;
  /** The request that is written next. */
  wanted: PendingBackOff | null;
  isWriting: boolean;
}

// Many jobs may request the same back-off at once. So while a request is written, and for RECENT_MS after the request,
// another one is ignored if its back-off ends at most SAME_MS later.
const SAME_MS = 100;
const RECENT_MS = 1_000;
const MAX_TARGETS = 1_000;
const MAX_WARNINGS = 100;

type BackOffsConfig = Pick<WorkerConfig<never>, "logger" | "retry" | "retryPolicies">;

export class BackOffs {
  /** Decides what follows a failed attempt. Calls begin() for a requested back-off. */
  readonly retry: RetryRules;
  readonly #logger: Logger;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #targets = new Map<string, Target>();
  readonly #writing = new Set<Promise<void>>();
  readonly #warned = new Set<string>();

  constructor(config: BackOffsConfig, database: Database, clock: Clock = systemClock) {
    const { logger, retry, retryPolicies } = config;
    this.#logger = logger;
    this.#database = database;
    this.#clock = clock;
    this.retry = new RetryRules(retry, retryPolicies, logger, (request) => this.begin(request));
  }

  /**
   * Writes the back-off in the background, unless the request is ignored (SAME_MS). If the write fails, only the job
   * that requested the back-off waits.
   */
  begin({ target: backOffTarget, delayMs, ...request }: BackOffRequest): void {
    const { job } = request;
    const target = this.#targetOf(backOffTarget, request.job);
    if (target === null) {
      const text = "a job without a named queue cannot make its queue back off: only the job waits";
      this.#warn(text, { task: job.taskIdentifier });
      return;
    }
    const nowMs = this.#clock.monotonic();
    const untilMs = nowMs + delayMs;
    const isRecent = target.isWriting || nowMs - target.requestedMs < RECENT_MS;
    if (isRecent && untilMs <= target.untilMs + SAME_MS) return;
    Object.assign(target, { untilMs, requestedMs: nowMs, wanted: { ...request, untilMs } });
    if (target.isWriting) return;
    const written = this.#write(target);
    this.#writing.add(written);
    void written.finally(() => this.#writing.delete(written));
  }

  /** Resolves when all writes have ended, or when `signal` aborts. */
  async waitUntilWritten(signal: AbortSignal): Promise<void> {
    await unlessAborted(Promise.all(this.#writing), signal);
  }

  #targetOf(backOffTarget: BackOffRequest["target"], job: BackOffRequest["job"]): Target | null {
    const [scope, name] = namesOf(backOffTarget, job);
    if (name === null) return null;
    const key = `${scope} ${name}`;
    let target = this.#targets.get(key);
    if (target === undefined) {
      if (this.#targets.size >= MAX_TARGETS) this.#removeIdle();
      target = { scope, name, untilMs: 0, requestedMs: 0, wanted: null, isWriting: false };
      this.#targets.set(key, target);
    }
    return target;
  }

  #removeIdle(): void {
    for (const [key, { isWriting }] of this.#targets) if (!isWriting) this.#targets.delete(key);
  }

  async #write(target: Target): Promise<void> {
    target.isWriting = true;
    while (target.wanted !== null) {
      const { wanted } = target;
      target.wanted = null;
      await this.#writeOne(target, wanted).catch((error) => {
        target.untilMs = 0;
        const { scope, name } = target;
        this.#warn("a back-off could not be written: only the job waits", {
          ...{ scope, name, error: messageOf(error) },
        });
      });
    }
    target.isWriting = false;
  }

  async #writeOne(
    { scope, name }: Target,
    { untilMs, reason: message, job }: PendingBackOff,
  ): Promise<void> {
    const reason = reasonOf(message);
    const db = this.#database;
    if (!(await hasLimits(db))) {
      const command = workerLine(db.schema.name, "worker migrate --with limits");
      this.#warn(`back-offs need tables: "${command}" adds them; until then only the job waits`);
      return;
    }
    const delayMs = untilMs - this.#clock.monotonic();
    const backOff = {
      ...{ scope, name, delayMs, reason },
      jobId: job.id,
      task: job.taskIdentifier,
    };
    const done = await beginBackOff(db, backOff);
    const fields = { scope, name, delay_ms: Math.round(delayMs), reason, job_id: job.id };
    if (done === "begun") this.#logger.info(fields, "backing off");
    if (done === "unknown") {
      this.#warn("a job makes a limit back off, and no limit has this name", { limit: name });
    }
  }

  /** Logs each combination of text and fields at most once. */
  #warn(message: string, fields: Record<string, unknown> = {}): void {
    const key = `${message} ${JSON.stringify(fields)}`;
    if (this.#warned.size >= MAX_WARNINGS || this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#logger.warn(fields, message);
  }
}

function namesOf(
  backOffTarget: BackOffRequest["target"],
  { taskIdentifier, queueName }: BackOffRequest["job"],
): [BackOffScope, string | null] {
  if (backOffTarget === "task") return ["task", taskIdentifier];
  if (backOffTarget === "queue" || backOffTarget === "key") return ["queue", queueName];
  return ["limit", backOffTarget.slice("limit:".length)];
}
