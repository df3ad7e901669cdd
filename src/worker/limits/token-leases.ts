// Takes the tokens that a session needs, under each limit of tasks that has a rate.
//
//   tokens are wanted ──▶ a request ──it gets some──▶ they are used; unused tokens are given back
//                             └───────it gets none──▶ another request when the next token is due, at the latest after
//                                                     about a minute
//   the limit applies to no task any more, or the session ends ──▶ all tokens are given back, also those that a request
//                                                                  under way still gets
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { returnTokens, takeTokens } from "../../queue/limits/tokens.ts";
import type { HeldLimit } from "./held-limit.ts";

/** The pause after a failed request, in milliseconds. */
const FAILED_MS = 1_000;
/** The longest pause. Under a slow rate, another worker may give back a token long before the next token is due. */
const MAX_PAUSE_MS = 60_000;
/** The longest random addition to a pause, so that not all workers request the next token at the same moment. */
const JITTER_MS = 20;

export interface TokenLeasesParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly database: Database;
  /** Called when tokens have arrived or may be requested. */
  changed(): void;
}

export class TokenLeases {
  readonly #parts: TokenLeasesParts;
  /**
   * The limits for which no request may be sent now. The value is null during a request. During a pause, the value
   * cancels the pause.
   */
  readonly #waiting = new Map<HeldLimit, (() => void) | null>();
  readonly #requests = new WeakMap<HeldLimit, Promise<void>>();
  readonly #released = new WeakSet<HeldLimit>();

  constructor(parts: TokenLeasesParts) {
    this.#parts = parts;
  }

  /** If the limit has fewer than `wanted` tokens, requests the rest, unless a request or a pause is under way. */
  consider(limit: HeldLimit, wanted: number): void {
    const { bucket, id } = limit;
    if (bucket === null || id === null || wanted <= limit.tokens) return;
    if (this.#released.has(limit) || this.#waiting.has(limit)) return;
    this.#waiting.set(limit, null);
    this.#requests.set(limit, this.#take(limit, id, wanted - limit.tokens));
  }

  /** Gives back all unused tokens of a limit. Never rejects. */
  async giveBack(limit: HeldLimit): Promise<void> {
    if (limit.id !== null) await this.#return(limit.id, limit.dropTokens());
  }

  /** Gives back the tokens of a limit that the session does not use any more. Never rejects. */
  async release(limit: HeldLimit): Promise<void> {
    this.#released.add(limit);
    this.cancelWait(limit);
    // A request under way may never be answered, so the present tokens are given back first.
    await this.giveBack(limit);
    await this.#requests.get(limit);
    await this.giveBack(limit);
  }

  /** Never rejects: tokens that cannot be given back stay taken. */
  async #return(limitId: number, unused: ReturnType<HeldLimit["dropTokens"]>): Promise<void> {
    const { database } = this.#parts;
    for (const { bucket, ...tokens } of unused) {
      await returnTokens(database, { limitId, key: "" }, bucket, tokens).catch(() => {});
    }
  }

  cancelWait(limit: HeldLimit): void {
    this.#waiting.get(limit)?.();
    this.#waiting.delete(limit);
  }

  async #take(limit: HeldLimit, limitId: number, wanted: number): Promise<void> {
    const { clock, database, logger } = this.#parts;
    const { bucket } = limit;
    if (bucket === null) return;
    let waitMs: number;
    // Lapsed tokens are given back first, so that the request can take them again. The next token of a slow rate may be
    // hours away.
    await this.#return(limitId, limit.dropLapsed());
    try {
      const sentAtMs = clock.monotonic();
      const { count, nextMs, takenAt } = await takeTokens(
        database,
        { limitId, key: "" },
        bucket,
        wanted,
      );
      limit.addTokens(count, takenAt, sentAtMs);
      const jitterMs = Math.random() * Math.min(JITTER_MS, bucket.lapseMs);
      waitMs = count > 0 ? 0 : Math.min(nextMs, MAX_PAUSE_MS) + jitterMs;
    } catch (error) {
      logger.debug({ error: messageOf(error) }, "tokens of a rate could not be taken");
      waitMs = FAILED_MS;
    }
    if (!this.#waiting.has(limit)) return;
    if (waitMs > 0) {
      const cancel = clock.after(waitMs, () => this.#allowRequest(limit));
      this.#waiting.set(limit, cancel);
    } else this.#allowRequest(limit);
  }

  #allowRequest(limit: HeldLimit): void {
    this.#waiting.delete(limit);
    this.#parts.changed();
  }
}
