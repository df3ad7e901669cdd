// A test stand: one mode of workers (modes.ts) that is tested during faults. A stand has its own database, log,
// members (workers in processes of their own) and loads (producers that add jobs).
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { Client, type ServerConfig } from "../../../src/database/connection/client.ts";
import { serverSettings } from "../../../src/database/connection/server/server-settings.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../../src/utils/worker-utils.ts";
import type { RecoveryOptions } from "../../../src/worker/options/recovery-options.ts";
import type { WorkerOptions } from "../../../src/worker/options/worker-options.ts";
import type { ProcessEvent } from "../../support/event-process.ts";
import { type Random, random } from "../../support/random-calls.ts";
import { machineTime, RunLog } from "../../worker/run-log.ts";
import { type Run, runsOf } from "../../worker/runs.ts";
import { type Load, type LoadPlan, startLoad } from "./load.ts";
import type { Bound } from "./measure.ts";
import { type Member, type MemberChanges, startMember } from "./member.ts";
import { type Mode, slug } from "./modes.ts";
import { type Expectation, verdict } from "./verdict.ts";

export interface StandParts {
  readonly mode: Mode;
  /** The URL of the stand's database, for the stand's own connections and its loads. */
  readonly url: string;
  /** The URL of the same database for the members, perhaps through a proxy. */
  readonly memberUrl: string;
  /** The directory of the stand's logs. */
  readonly directory: string;
  readonly seed: number;
  readonly recovery: RecoveryOptions | false | undefined;
  readonly options: Omit<Partial<WorkerOptions>, "tasks">;
  figure(what: string, value: number, bound: Bound): void;
  problem(sentence: string): void;
  spawned(child: ChildProcess): void;
}

const MAX_DRAIN_MS = 120_000;

export class Stand {
  readonly mode: Mode;
  readonly url: string;
  readonly log: RunLog;
  readonly dice: Random;
  /** All members that were started, including killed members. */
  readonly members: Member[] = [];
  leasesLost = 0;
  readonly #parts: StandParts;
  readonly #loads: Load[] = [];
  readonly #pool: pg.Pool;
  #utils: Promise<WorkerUtils> | null = null;
  #hired = 0;

  constructor(parts: StandParts) {
    this.#parts = parts;
    this.mode = parts.mode;
    this.url = parts.url;
    this.log = new RunLog(join(parts.directory, `${slug(parts.mode)}.runs`));
    this.dice = random(parts.seed);
    const server = serverSettings(parts.url, {});
    const limits = { max: 2, idleTimeoutMillis: 500, connectionTimeoutMillis: 5_000 };
    const config: pg.PoolConfig & ServerConfig = { Client, server, ...limits };
    this.#pool = new pg.Pool(config);
    this.#pool.on("error", () => {});
  }

  /** Utilities on the stand's own pool. Code that adds jobs with these utilities has to record the jobs in `log`. */
  get utils(): Promise<WorkerUtils> {
    this.#utils ??= makeWorkerUtils({ pool: this.#pool });
    return this.#utils;
  }

  get living(): Member[] {
    return this.members.filter(({ exit }) => exit === null);
  }

  /** Runs a statement. The queue's schema is `worker`. */
  async sql<R extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<R[]> {
    return (await this.#pool.query<R>(text, [...values])).rows;
  }

  /**
   * Starts `count` members and returns them. In the mode `beside stock`, a first call without `changes.stock` also
   * starts a Graphile worker, which is not returned.
   */
  async hire(count = 1, changes: MemberChanges = {}): Promise<Member[]> {
    const needsStock = this.mode.stock && this.members.length === 0 && changes.stock !== true;
    const all = Array.from({ length: count }, () => this.#hireOne(changes));
    if (needsStock) all.push(this.#hireOne({ stock: true }));
    return (await Promise.all(all)).filter((one) => changes.stock || !one.isStock);
  }

  /** Stops all members except Graphile workers: idle members would take CPU time from the next stand. */
  async rest(): Promise<void> {
    const own = this.living.filter(({ isStock }) => !isStock);
    await Promise.all(own.map((member) => member.stop()));
  }

  /** Kills a member and logs its death. Returns the moment of the kill. */
  async kill(member: Member): Promise<number> {
    // The time is read before the kill: after the kill, the member's jobs may already run elsewhere.
    const t = machineTime();
    member.signal("SIGKILL");
    await member.exited;
    this.log.write({ e: "dead", by: member.by, t });
    return t;
  }

  load(perSecond: number, plan: LoadPlan = {}): Load {
    const { seed } = this.#parts;
    const name = `${slug(this.mode)}-${this.#loads.length}-`;
    const dice = (index: number) => random(seed + 1 + index);
    const load = startLoad(perSecond, plan, { url: this.url, log: this.log, dice, name });
    this.#loads.push(load);
    return load;
  }

  /** Returns all runs of jobs so far, or those of the member `by`. */
  runs(by?: string): Run[] {
    const all = runsOf(this.log.read());
    return by === undefined ? all : all.filter((run) => run.by === by);
  }

  /** Waits until a job has started after `t`. Returns the moment of the start. Rejects after `limitMs`. */
  async startAfter(t: number, limitMs = 30_000): Promise<number> {
    const first = () => this.runs().find(({ from }) => from > t);
    await this.until("a job starts", () => first() !== undefined, limitMs);
    return first()?.from ?? 0;
  }

  /** Polls until `isSo` returns true. A rejection of `isSo` counts as false. Rejects after `limitMs`. */
  async until(
    what: string,
    isSo: () => boolean | Promise<boolean>,
    limitMs = MAX_DRAIN_MS,
  ): Promise<void> {
    const end = machineTime() + limitMs;
    while (!(await Promise.resolve(isSo()).catch(() => false))) {
      if (machineTime() > end)
        throw new Error(`timed out after ${limitMs / 1_000} s of waiting until ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  figure(what: string, value: number, bound: Bound = {}): void {
    this.#parts.figure(what, value, bound);
  }

  problem(sentence: string): void {
    this.#parts.problem(sentence);
  }

  /** Ends the loads and the members, and reports the problems that verdict() finds. */
  async end(expected: Expectation = {}): Promise<void> {
    try {
      await Promise.all(this.#loads.map((load) => load.stop()));
      for (const one of await verdict(this, expected)) this.problem(one);
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    if (this.#pool.ended) return;
    await this.#pool.end();
    this.log.close();
  }

  /** Records a lost lease as a fault: without CPU time, a member loses its lease even if no fault is injected. */
  #leaseLost(by: string): void {
    this.leasesLost++;
    this.log.fault(by);
    this.figure("leases lost", this.leasesLost, { unit: "" });
  }

  async #hireOne(changes: MemberChanges): Promise<Member> {
    const { directory, memberUrl, recovery, options, spawned } = this.#parts;
    const { url = memberUrl, stock: isStock = false, killAt, ...rest } = changes;
    const by = `${isStock ? "stock" : slug(this.mode)}${this.#hired++}`;
    const { fastLane } = this.mode;
    const all = { concurrency: 5, fastLane, recovery, ...options, ...changes.options };
    const duty = {
      ...{ by, log: this.log.path, connectionString: url, options: all },
      ...(killAt === undefined ? {} : { killAt }),
    };
    const plan = { ...rest, duty, isStock, logPath: join(directory, `${by}.log`) };
    const onEvent = ({ event }: ProcessEvent) => {
      if (event === "leaseLost") this.#leaseLost(by);
    };
    const member = await startMember(plan, { spawned, onEvent });
    this.members.push(member);
    return member;
  }
}
