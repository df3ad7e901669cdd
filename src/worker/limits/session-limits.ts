// Groups a session's tasks by the limits that apply to them. Requests and gives back the session's permits and tokens.
import { type Clock, settlesWithin } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { likePattern } from "../../domain/limits/limit.ts";
import { tokenBucket } from "../../domain/limits/token-bucket.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";
import { releasePermits } from "../../queue/limits/permits.ts";
import { type QueueToken, returnQueueTokens } from "../../queue/limits/tokens.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import { arrangementOf, type LimitedTasks } from "./arrangement.ts";
import { HeldLimit } from "./held-limit.ts";
import type { LimitWatch } from "./limit-watch.ts";
import { PermitLeases } from "./permit-leases.ts";
import { TokenLeases } from "./token-leases.ts";

const RELEASE_MS = 300;

export interface SessionLimitsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
  /** The worker's pool. */
  readonly database: Database;
  readonly lease: Pick<WorkerLease, "hasHeartbeats">;
  readonly watch: LimitWatch;
  /** The worker's tasks, each with its option `concurrency`; null: the task has none. */
  readonly tasks: ReadonlyMap<string, number | null>;
}

/** Tasks that are fetched together, under the same limits. */
export interface LimitedGroup {
  readonly key: string;
  readonly names: readonly string[];
  readonly limits: readonly HeldLimit[];
}

/** The limits of queues. */
export interface QueueLimits {
  /**
   * The `like` patterns of these limits. Empty: there are no limits of queues, but some queues still have slots of a
   * removed limit.
   */
  readonly patterns: readonly string[];
  /** Whether one of these limits has a rate or a back-off. */
  readonly hasRates: boolean;
  /** Jobs may start up to this long after their fetch was sent, in milliseconds. Infinity: no limit has a rate. */
  readonly lapseMs: number;
  /** A text that differs after every change of the limits of queues or of their back-offs. */
  readonly mark: string;
}

export class SessionLimits {
  readonly #parts: SessionLimitsParts;
  readonly #permits: PermitLeases;
  readonly #tokens: TokenLeases;
  readonly #held = new Map<number, HeldLimit>();
  /** The option `concurrency`, by task. */
  readonly #own = new Map<string, HeldLimit>();
  /** The names of tasks without a limit and without the option `concurrency`. */
  unlimited: readonly string[];
  groups: readonly LimitedGroup[] = [];
  /** null: there is no limit of queues, and no queue still has slots of a removed limit. */
  queues: QueueLimits | null = null;
  #hasPermits = false;
  /** Called when permits or tokens may have changed. */
  onChange: () => void = () => {};
  /** Returns how many jobs this session wants to run at once under the limit, including running jobs. */
  demandOf: (limit: HeldLimit) => number = () => 0;

  constructor(parts: SessionLimitsParts) {
    const { clock, logger, workerId, database, lease, watch, tasks } = parts;
    this.#parts = parts;
    const changed = (): void => this.onChange();
    const demandOf = (limit: HeldLimit): number => this.demandOf(limit);
    this.#permits = new PermitLeases({
      ...{ clock, logger, workerId, database, lease, changed, demandOf },
    });
    this.#tokens = new TokenLeases({ clock, logger, database, changed });
    this.unlimited = [...tasks.keys()];
    for (const [name, concurrency] of tasks) {
      if (concurrency === null) continue;
      const own = new HeldLimit(null, clock);
      own.defineOwn(concurrency);
      this.#own.set(name, own);
    }
    this.#arrange();
    watch.subscribe(this);
  }

  /** Applies changed limits. Returns whether the groups of tasks or the patterns of queues have changed. */
  limitsChanged(): boolean {
    const before = this.#way;
    this.#arrange();
    return before !== this.#way;
  }

  /** Identifies how jobs are fetched. */
  get #way(): string {
    return JSON.stringify([this.queues?.patterns ?? null, ...this.groups.map(({ key }) => key)]);
  }

  /** `areFree`: permits of the limit are free; false: another worker wants some. */
  permitsAnnounced(limitId: number, areFree: boolean): void {
    this.#permits.permitsAnnounced(limitId, areFree);
  }

  /**
   * Requests permits for a group. If the group probably has jobs (`hasEvidence`), also requests tokens for at most
   * `wanted` jobs.
   */
  prepare({ limits }: LimitedGroup, hasEvidence: boolean, wanted: number): void {
    for (const limit of limits) {
      this.#hasPermits ||= limit.id !== null && limit.concurrency !== null;
      this.#permits.consider(limit);
    }
    const room = Math.min(wanted, ...limits.map(({ freePermits }) => freePermits));
    for (const limit of limits) {
      if (!hasEvidence || limit.bucket === null) continue;
      if (room > 0 && limit.backsOffMs === 0) this.#tokens.consider(limit, room);
    }
  }

  /** Gives back the tokens of each limit that applies to no group in `evident`: the groups that probably have jobs. */
  returnUnused(evident: readonly LimitedGroup[]): void {
    const used = new Set(evident.flatMap(({ limits }) => limits));
    for (const limit of this.#held.values()) {
      if (limit.bucket !== null && !used.has(limit)) void this.#tokens.giveBack(limit);
    }
  }

  /** Gives back the tokens of unstarted jobs of named queues under a limit. Never rejects. */
  async returnQueueTokens(unused: readonly QueueToken[]): Promise<void> {
    await returnQueueTokens(this.#parts.database, unused).catch(() => {});
  }

  /** Gives back the permits and the unused tokens. Never rejects, and takes at most RELEASE_MS. */
  async close(): Promise<void> {
    const { watch, workerId, database } = this.#parts;
    watch.unsubscribe(this);
    this.#permits.close();
    const returned = [...this.#held.values()].map((held) => this.#tokens.release(held));
    // Permits that are not released in time are deleted with the worker's heartbeat row.
    const released = this.#hasPermits ? releasePermits(database, workerId).catch(() => {}) : null;
    await settlesWithin(Promise.all([released, ...returned]), RELEASE_MS);
  }

  #arrange(): void {
    const { clock, tasks, watch } = this.#parts;
    const { limits } = watch;
    const { unlimited, limited } = arrangementOf(tasks, limits);
    const used = new Set(limited.flatMap((group) => group.limits.map(({ id }) => id)));
    for (const [id, held] of this.#held) {
      if (used.has(id)) continue;
      this.#held.delete(id);
      this.#permits.release(held);
      void this.#tokens.release(held);
    }
    for (const limit of limits) {
      if (!used.has(limit.id)) continue;
      const held = this.#held.get(limit.id) ?? new HeldLimit(limit.id, clock);
      this.#held.set(limit.id, held);
      const before = JSON.stringify(held.bucket);
      held.define(limit);
      // A pause before the next request for tokens was computed from the previous rate.
      if (JSON.stringify(held.bucket) !== before) this.#tokens.cancelWait(held);
    }
    this.unlimited = unlimited;
    this.queues = watch.hasManagedQueues ? queueLimitsOf(limits) : null;
    this.groups = limited.map((one) => this.#group(one));
  }

  #group({ key, names, limits, ownConcurrency }: LimitedTasks): LimitedGroup {
    const stored = limits.flatMap(({ id }) => this.#held.get(id) ?? []);
    const own = ownConcurrency === null ? [] : names.flatMap((name) => this.#own.get(name) ?? []);
    return { key, names, limits: [...own, ...stored] };
  }
}

function queueLimitsOf(limits: readonly StoredLimit[]): QueueLimits {
  const ofQueues = limits.filter(({ definition }) => definition.scope === "queue");
  return {
    patterns: ofQueues.map(({ definition }) => likePattern(definition.match)),
    hasRates: ofQueues.some(
      ({ definition, backOff }) => definition.rate !== null || backOff !== null,
    ),
    lapseMs: Math.min(
      Number.POSITIVE_INFINITY,
      ...ofQueues.flatMap(({ definition: { rate } }) =>
        rate === null ? [] : [tokenBucket(rate).lapseMs],
      ),
    ),
    mark: JSON.stringify(
      ofQueues.map(({ id, revision, backOff }) => [id, revision, backOff?.until]),
    ),
  };
}
