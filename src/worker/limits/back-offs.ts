// Makes all workers back off from what a job names, once for any number of jobs that say so at the same time.
import { now } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { beginBackOff, type NewBackOff } from "../../queue/limits/back-off.ts";
import type { WorkerConfig } from "../options/worker-options.ts";
import { type BackOffRequest, RetryRules } from "../task/next-attempt.ts";

/** A back-off is lengthened only by more than this. */
const SAME_MS = 100;
const LONGEST_REASON = 200;
/** The targets whose ends are remembered. */
const MOST_TARGETS = 1_000;

/** Returns the worker's rules for what follows a failed attempt, with back-offs. */
export function retryRules<E>(config: WorkerConfig<E>, database: Database): RetryRules {
  const { retry, retryPolicies, logger } = config;
  const backOffs = new BackOffs(logger, database);
  return new RetryRules(retry, retryPolicies, logger, (request) => backOffs.request(request));
}

export class BackOffs {
  readonly #logger: Logger;
  readonly #database: Database;
  /** The end of each back-off that this worker has asked for. */
  readonly #ends = new Map<string, number>();
  readonly #warned = new Set<string>();

  constructor(logger: Logger, database: Database) {
    this.#logger = logger;
    this.#database = database;
  }

  /** Never throws. The job waits for itself, whatever becomes of this. */
  request({ target, delayMs, reason, job }: BackOffRequest): void {
    const scopeAndName = placeOf(target, job);
    if (scopeAndName === null) {
      this.#warn(`the job has no queue that could back off: only it waits`, job.taskIdentifier);
      return;
    }
    const key = JSON.stringify(scopeAndName);
    const endMs = now() + delayMs;
    if ((this.#ends.get(key) ?? 0) + SAME_MS >= endMs) return;
    if (this.#ends.size >= MOST_TARGETS) this.#ends.clear();
    this.#ends.set(key, endMs);
    void this.#write(key, {
      ...scopeAndName,
      forMs: delayMs,
      reason: reason.slice(0, LONGEST_REASON).toWellFormed().replaceAll("\0", ""),
      jobId: job.id,
      task: job.taskIdentifier,
    });
  }

  async #write(key: string, given: NewBackOff): Promise<void> {
    const { scope, name, forMs, reason, task } = given;
    try {
      if (await beginBackOff(this.#database, given)) {
        this.#logger.info({ scope, name, forMs, reason, task }, "backing off");
      } else this.#warn(`there is no limit "${name}": only the job waits`, task);
    } catch (error) {
      this.#ends.delete(key);
      const isMissing =
        codeOf(error) === "schema_missing" || codeOf(error) === "schema_unsupported";
      const command = workerLine(this.#database.schema.name, "worker migrate --with limits");
      const advice = isMissing ? `; "${command}" adds the tables for it` : "";
      this.#warn(`back-offs cannot be written: ${messageOf(error)}${advice}`, task);
    }
  }

  #warn(problem: string, task: string): void {
    const known = `${task} ${problem}`;
    if (this.#warned.size >= MOST_TARGETS || this.#warned.has(known)) return;
    this.#warned.add(known);
    this.#logger.warn({ task, problem }, "a task asked to back off");
  }
}

function placeOf(
  target: BackOffRequest["target"],
  job: BackOffRequest["job"],
): Pick<NewBackOff, "scope" | "name"> | null {
  if (target === "task") return { scope: "task", name: job.taskIdentifier };
  if (target !== "queue" && target !== "key") return { scope: "limit", name: target.slice(6) };
  return job.queueName === null ? null : { scope: "queue", name: job.queueName };
}
