// What a session holds of one limit, and how many jobs may start under it now. The start of a job needs no query.
//
//   permits   how many jobs may run at once: a task's own option `concurrency`, or leased (permit-leases.ts)
//   tokens    how many jobs may start: leased for a moment (token-leases.ts)
//   back-off  no job may start before its end
import type { Clock } from "../../base/clock.ts";
import { type TokenBucket, tokenBucket } from "../../domain/limits/token-bucket.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";
import { Lapse } from "./lapse.ts";

interface LeasedTokens {
  count: number;
  readonly bucket: TokenBucket;
  /** The time at which the tokens were taken, by the database's clock, as text. */
  readonly takenAt: string;
  readonly untilMs: number;
}

const MAX_LAPSED = 100;

export class HeldLimit {
  /** The id of the limit; null: the option `concurrency` of a task, which needs no lease. */
  readonly id: number | null;
  readonly #clock: Clock;
  /** The most jobs that may run at once under the limit; null: any number. */
  concurrency: number | null = null;
  bucket: TokenBucket | null = null;
  /** The revision of the definition. */
  revision = 0;
  running = 0;
  /** The number of permits. While an exchange is under way, only those that running jobs use. */
  permits = 0;
  /** The number of permits to keep as jobs end. If it is less than `permits`, the others must be returned. */
  share = 0;
  /** Whether the session wants more permits than it has. Then it fetches few jobs ahead: other workers may run them. */
  isShort = false;
  /** Tokens, the oldest first. */
  #tokens: readonly LeasedTokens[] = [];
  /** Tokens that have lapsed unused. */
  #lapsed: readonly LeasedTokens[] = [];
  readonly #lapse: Lapse;
  #backsOffUntilMs = 0;

  constructor(id: number | null, clock: Clock) {
    this.id = id;
    this.#clock = clock;
    this.#lapse = new Lapse(clock);
  }

  /** Applies the present definition and the present back-off of the limit. */
  define({ definition, backOff, revision }: StoredLimit): void {
    const { concurrency, rate } = definition;
    this.revision = revision;
    this.concurrency = concurrency;
    if (concurrency !== null) this.share = Math.min(this.share, concurrency);
    this.bucket = rate === null ? null : tokenBucket(rate);
    this.#backsOffUntilMs = backOff === null ? 0 : this.#clock.monotonic() + backOff.leftMs;
  }

  defineOwn(concurrency: number): void {
    this.concurrency = concurrency;
    this.permits = concurrency;
    this.share = concurrency;
  }

  /** The milliseconds until the back-off ends; 0: the limit does not back off. */
  get backsOffMs(): number {
    return Math.max(0, this.#backsOffUntilMs - this.#clock.monotonic());
  }

  /** The number of tokens that have not lapsed. */
  get tokens(): number {
    if (this.#tokens.length === 0) return 0;
    const nowMs = this.#clock.monotonic();
    const unused = this.#tokens.filter(({ count }) => count > 0);
    const lapsed = unused.filter(({ untilMs }) => nowMs >= untilMs);
    if (lapsed.length > 0) this.#lapsed = [...this.#lapsed, ...lapsed].slice(-MAX_LAPSED);
    this.#tokens = lapsed.length > 0 ? unused.filter((one) => !lapsed.includes(one)) : unused;
    return this.#tokens.reduce((sum, { count }) => sum + count, 0);
  }

  /** The number of unused permits within the share. Infinity: the limit does not bound how many jobs run at once. */
  get freePermits(): number {
    if (this.concurrency === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(this.permits, this.share) - this.running);
  }

  /** How many jobs may start now. */
  get startable(): number {
    if (this.#backsOffUntilMs > 0 && this.backsOffMs > 0) return 0;
    return this.bucket === null ? this.freePermits : Math.min(this.freePermits, this.tokens);
  }

  /**
   * Whether jobs may be fetched. While all permits are in use, jobs are fetched ahead, so that the next one starts as
   * soon as one ends. No jobs are fetched during a back-off, without a token of the rate, without permits, or while
   * more jobs run than the session may keep permits.
   */
  get letsFetch(): boolean {
    if (this.backsOffMs > 0) return false;
    if (this.bucket !== null && this.tokens === 0) return false;
    const usable = Math.min(this.permits, this.share);
    return this.concurrency === null || (usable > 0 && this.running <= usable);
  }

  /** How many jobs may soon run at once under this limit. With too few permits: their number, at least 1. */
  get attainable(): number {
    const { bucket, concurrency, isShort } = this;
    if (this.backsOffMs > 0) return this.running;
    const byRate = bucket === null ? Number.POSITIVE_INFINITY : this.running + bucket.capacity;
    if (concurrency === null) return byRate;
    return Math.min(byRate, isShort ? Math.max(1, this.permits) : concurrency);
  }

  jobBegan(): void {
    this.running++;
    const [oldest] = this.#tokens;
    if (oldest !== undefined) oldest.count--;
  }

  jobEnded(): void {
    this.running--;
  }

  /** Adds tokens that the database has given. `sentAtMs`: when they were requested. lapse.ts limits their use. */
  addTokens(count: number, takenAt: string, sentAtMs: number): void {
    const { bucket } = this;
    if (bucket === null || count === 0) return;
    const untilMs = this.#lapse.untilMs(sentAtMs, bucket.lapseMs);
    this.#tokens = [...this.#tokens, { count, bucket, takenAt, untilMs }];
  }

  /** Removes and returns all unused tokens, also those that have lapsed. */
  dropTokens(): readonly LeasedTokens[] {
    const left = this.tokens > 0 ? this.#tokens : [];
    this.#tokens = [];
    return [...left, ...this.dropLapsed()];
  }

  /** Removes and returns the tokens that have lapsed unused. Those of a slow rate can still be given back. */
  dropLapsed(): readonly LeasedTokens[] {
    const lapsed = this.tokens >= 0 ? this.#lapsed : [];
    this.#lapsed = [];
    return lapsed;
  }
}
