// The environment of a group of fault tests: PostgreSQL servers, test stands (stand.ts), a seed, problems and figures
// (measured values).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RecoveryOptions } from "../../../src/worker/options/recovery-options.ts";
import type { WorkerOptions } from "../../../src/worker/options/worker-options.ts";
import { type Random, random } from "../../support/random-calls.ts";
import type { Bound, Figure } from "./measure.ts";
import { MODES, type Mode, type ModeSlug, slug } from "./modes.ts";
import type { Need } from "./needs.ts";
import { type Server, type ServerOptions, startServer } from "./server.ts";
import { Stand } from "./stand.ts";

export interface FaultGroup {
  readonly name: string;
  /** A description, for `--list`. */
  readonly title: string;
  readonly limitMinutes: number;
  readonly needs: readonly Need[];
  run(field: Field): Promise<void>;
}

export interface FieldOptions {
  readonly seed: number;
  /** The modes to test; empty: all. */
  readonly modes: readonly ModeSlug[];
  /** Whether this is a run with few repetitions, as in `npm run test:all`. */
  readonly brief: boolean;
  /** The directory of logs and servers. */
  readonly directory: string;
  say(line: string): void;
}

export interface StandsOptions {
  /** The modes that may get a stand. Default: all. */
  readonly modes?: readonly Mode["name"][];
  /**
   * Returns the URL for a stand, its loads (producers of jobs) and its members (worker processes). Default: the URL of
   * the stand's database.
   */
  readonly everybodyUrl?: (url: string) => string;
  /** Returns a URL for the members only, such as the URL of a proxy. Default: the stand's URL. */
  readonly url?: (url: string, mode: Mode) => string | Promise<string>;
  /** The option `recovery` of the members. Default: BRIEF_RECOVERY in a brief run, not set in a full run. */
  readonly recovery?: RecoveryOptions | false;
  readonly options?: Omit<Partial<WorkerOptions>, "tasks">;
  /** Extensions of the schema. Default: none. */
  readonly extensions?: readonly string[];
  /** The suffix of the databases' names, and the subdirectory of the logs. Default: empty. */
  readonly name?: string;
}

/** Shortens the wait until the heartbeat rows of killed members are deleted. */
const BRIEF_RECOVERY = { resilientThresholdMs: 10_000 };

export class Field {
  readonly seed: number;
  readonly dice: Random;
  readonly brief: boolean;
  readonly directory: string;
  readonly figures: Figure[] = [];
  readonly problems: string[] = [];
  readonly #options: FieldOptions;
  readonly #cleanups: (() => unknown)[] = [];
  #servers = 0;

  constructor(options: FieldOptions) {
    this.#options = options;
    this.seed = options.seed;
    this.brief = options.brief;
    this.directory = options.directory;
    this.dice = random(options.seed);
  }

  /** Returns `brief` in a brief run, `count` in a full run. */
  times(count: number, brief: number): number {
    return this.brief ? brief : count;
  }

  say(line: string): void {
    this.#options.say(line);
  }

  async server(options: ServerOptions = {}): Promise<Server> {
    const server = await startServer(join(this.directory, `pg${this.#servers++}`), options);
    this.defer(() => server.stop());
    return server;
  }

  /** Returns a stand for each requested mode, with its own database. */
  async stands(server: Server, options: StandsOptions = {}): Promise<Stand[]> {
    const { url: memberUrl = (url) => url, name = "" } = options;
    const { everybodyUrl = (url) => url, options: changes = {} } = options;
    const { recovery = this.brief ? BRIEF_RECOVERY : undefined } = options;
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true });
    const wanted = MODES.filter(
      (mode) =>
        (options.modes?.includes(mode.name) ?? true) &&
        (this.#options.modes.length === 0 || this.#options.modes.includes(slug(mode))),
    );
    const stands: Stand[] = [];
    for (const [index, mode] of wanted.entries()) {
      const url = everybodyUrl(
        await server.createDatabase(`${slug(mode)}${name}`, options.extensions),
      );
      const stand = new Stand({
        ...{ mode, url, recovery, options: changes, directory },
        memberUrl: await memberUrl(url, mode),
        seed: this.seed + 1_000 * (index + 1),
        figure: (what, value, bound) => this.figure(what, mode.name, value, bound),
        problem: (sentence) => this.problem(mode.name, sentence),
        spawned: (child) => this.defer(() => child.kill("SIGKILL")),
      });
      this.defer(() => stand.close());
      stands.push(stand);
    }
    return stands;
  }

  /** Runs `work` for all stands at once. An error becomes a problem of its stand, and the other stands continue. */
  async each(stands: readonly Stand[], work: (stand: Stand) => unknown): Promise<void> {
    const one = async (stand: Stand) => work(stand);
    await Promise.all(
      stands.map((stand) =>
        one(stand).catch((error: unknown) => {
          stand.problem(error instanceof Error ? (error.stack ?? error.message) : String(error));
        }),
      ),
    );
  }

  /** Waits for a given time. Use this only if there is no condition to wait for. */
  async outage(ms: number): Promise<void> {
    await sleep(ms);
  }

  figure(what: string, mode: Mode["name"] | null, value: number, bound: Bound = {}): void {
    this.figures.push({ what, mode, value, bound });
  }

  problem(mode: Mode["name"] | null, sentence: string): void {
    this.problems.push(`${mode ?? "all"}: ${sentence}`);
  }

  /** Adds a cleanup for close(), which runs the last added cleanup first. */
  defer(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.reverse()) {
      try {
        await cleanup();
      } catch (error) {
        this.say(`cleanup failed: ${String(error)}`);
      }
    }
  }
}
