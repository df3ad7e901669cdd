// What a session has of one limit: permits, tokens and the limit's back-off. The start of a job needs no query.
//
//   permits   how many jobs may run at once. They are leased from the database (permit-leases.ts).
//   tokens    how many jobs may start. They are taken from the database and used within a short time (token-leases.ts).
//   back-off  until its end, no job may start
import type { Clock } from "../../base/clock.ts";
import { type TokenBucket, tokenBucket } from "../../domain/limits/token-bucket.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";
import { Lapse } from "./lapse.ts";

interface LeasedTokens {
  count: number;
  readonly bucket: TokenBucket;
  /** When the tokens were taken, by the database's clock. */
  readonly takenAt: string;
  readonly untilMs: number;
}

const MAX_LAPSED = 100;

export class HeldLimit {
  /** The id of the limit; null for the option `concurrency` of a task, whose permits are not leased. */
  readonly id: number | null;
  readonly #clock: Clock;
  /** The most jobs that may run at once; null: any number. */
  concurrency: number | null = null;
  bucket: TokenBucket | null = null;
  /** The revision of the definition. */
  revision = 0;
  running = 0;
  /** The number of permits. During an exchange (permit-leases.ts), unused permits do not count. */
  permits = 0;
  /** How many permits the session may keep. As jobs end, the session returns the permits beyond this number. */
  share = 0;
  /** Whether the session has fewer permits after the last exchange than it wanted. */
  isShort = false;
  /** The oldest tokens are first. Reading `tokens` removes used tokens, and moves lapsed tokens to #lapsed. */
  #tokens: readonly LeasedTokens[] = [];
  #lapsed: readonly LeasedTokens[] = [];
  readonly #lapse: Lapse;
  #backsOffUntilMs = 0;

  constructor(id: number | null, clock: Clock) {
    this.id = id;
    this.#clock = clock;
    this.#lapse = new Lapse(clock);
  }

  /** Applies the definition and the back-off of the limit. */
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

  /** The milliseconds until the back-off ends; 0 if there is none. */
  get backsOffMs(): number {
    return Math.max(0, this.#backsOffUntilMs - this.#clock.monotonic());
  }

  /** The number of unused tokens that have not lapsed. */
  get tokens(): number {
    if (this.#tokens.length === 0) return 0;
    const nowMs = this.#clock.monotonic();
    const unused = this.#tokens.filter(({ count }) => count > 0);
    const lapsed = unused.filter(({ untilMs }) => nowMs >= untilMs);
    if (lapsed.length > 0) this.#lapsed = [...this.#lapsed, ...lapsed].slice(-MAX_LAPSED);
    this.#tokens = lapsed.length > 0 ? unused.filter((one) => !lapsed.includes(one)) : unused;
    return this.#tokens.reduce((sum, { count }) => sum + count, 0);
  }

  /** The number of unused permits within the share; Infinity if the limit has no concurrency. */
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
   * Whether jobs may be fetched. A fetch is allowed even while all permits are in use, so that the next job starts as
   * soon as a running job ends.
   */
  get letsFetch(): boolean {
    if (this.backsOffMs > 0) return false;
    if (this.bucket !== null && this.tokens === 0) return false;
    const usable = Math.min(this.permits, this.share);
    return this.concurrency === null || (usable > 0 && this.running <= usable);
  }

  /** How many jobs this session may soon run at once under the limit. */
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

  /** Adds taken tokens. `sentAtMs`: when the tokens were requested, by the monotonic clock. */
  addTokens(count: number, takenAt: string, sentAtMs: number): void {
    const { bucket } = this;
    if (bucket === null || count === 0) return;
    const untilMs = this.#lapse.untilMs(sentAtMs, bucket.lapseMs);
    this.#tokens = [...this.#tokens, { count, bucket, takenAt, untilMs }];
  }

  /** Removes and returns all unused tokens, including lapsed ones. */
  dropTokens(): readonly LeasedTokens[] {
    const left = this.tokens > 0 ? this.#tokens : [];
    this.#tokens = [];
    return [...left, ...this.dropLapsed()];
  }

  /** Removes and returns the tokens that have lapsed unused. */
  dropLapsed(): readonly LeasedTokens[] {
    const lapsed = this.tokens >= 0 ? this.#lapsed : [];
    this.#lapsed = [];
    return lapsed;
  }
}
