// Takes tokens of a session's rates for jobs that are about to be fetched or started.
//
//   wanted ──▶ a request ──some──▶ used within the lapse ─ the rest is given back
//                       └──none──▶ another one when the next token is due
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { returnTokens, takeTokens } from "../../queue/limits/tokens.ts";
import type { HeldLimit } from "./held-limit.ts";

/** The pause after a failed request. */
const FAILED_MS = 1_000;
/** Workers that wait for the same token request it at different times. */
const JITTER_MS = 20;

export interface TokenLeasesParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly database: Database;
  /** Called when tokens have arrived, or may be requested again. */
  changed(): void;
}

export class TokenLeases {
  readonly #parts: TokenLeasesParts;
  /** Limits whose request is under way or waits. */
  readonly #waiting = new Map<HeldLimit, (() => void) | null>();
  #isClosed = false;

  constructor(parts: TokenLeasesParts) {
    this.#parts = parts;
  }

  /** Requests tokens, unless that is under way. */
  consider(limit: HeldLimit, wanted: number): void {
    const { bucket, id } = limit;
    if (bucket === null || id === null || wanted <= limit.tokens) return;
    if (this.#isClosed || this.#waiting.has(limit)) return;
    this.#waiting.set(limit, null);
    void this.#take(limit, id, wanted - limit.tokens);
  }

  /** Gives back tokens for which there is no job. */
  giveBack(limit: HeldLimit): void {
    if (limit.id !== null) void this.#return(limit.id, limit.dropTokens());
  }

  /** Gives tokens back. Never rejects: if that fails, they stay taken. */
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

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#waiting.values()) cancel?.();
  }

  async #take(limit: HeldLimit, limitId: number, wanted: number): Promise<void> {
    const { clock, database, logger } = this.#parts;
    const { bucket } = limit;
    if (bucket === null) return;
    let waitMs: number;
    // Lapsed tokens are returned before the request, because it may get them again: the next token of a slow rate may
    // be due in hours.
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
      waitMs = count > 0 ? 0 : nextMs + Math.random() * Math.min(JITTER_MS, bucket.lapseMs);
    } catch (error) {
      logger.debug({ error: messageOf(error) }, "tokens of a rate could not be taken");
      waitMs = FAILED_MS;
    }
    if (this.#isClosed || !this.#waiting.has(limit)) return;
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
