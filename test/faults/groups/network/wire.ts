// Adds jobs during a fault of the network between workers and the database, and then checks that the workers run jobs
// again. The workers of this library poll only once an hour, so they need notifications to find new jobs in time.

import type { JobToAdd } from "../../../../src/domain/job-spec.ts";
import type { Random } from "../../../support/random-calls.ts";
import type { TcpProxy } from "../../../support/tcp-proxy.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Load } from "../../field/load.ts";
import type { Member } from "../../field/member.ts";
import type { Stand } from "../../field/stand.ts";

export const NEVER_MS = 3_600_000;

const PER_SECOND = 20;
const DISPATCHED_MS = 100;
const PROBES = 5;
/** The longest time from the end of a fault until all jobs are done. */
const DONE_MS = 45_000;

export class Wire {
  readonly stand: Stand;
  readonly proxy: TcpProxy;
  readonly #stock: readonly Member[];
  #load: Load | null = null;
  #probes = 0;

  constructor(stand: Stand, proxy: TcpProxy, stock: readonly Member[]) {
    this.stand = stand;
    this.proxy = proxy;
    this.#stock = stock;
  }

  /** The names of the connections that a worker keeps open in the mode of this stand. */
  get kinds(): string[] {
    const all = ["worker listen", "worker heartbeat", "worker connection"];
    return this.stand.mode.fastLane === false ? all : [...all, "worker fast lane"];
  }

  /**
   * While `work` runs, adds jobs without the proxy. Then waits until all jobs are done, and rejects if this takes
   * longer than DONE_MS.
   */
  async underLoad(what: string, work: () => Promise<void>): Promise<void> {
    const { stand } = this;
    this.#load = stand.load(PER_SECOND, { make });
    stand.log.fault();
    try {
      await work();
    } finally {
      stand.log.fault();
      await this.#load.stop();
    }
    await stand
      .until(`all jobs are done after ${what}`, () => this.#isDone(), DONE_MS)
      .catch(async (error: Error) => {
        throw new Error(`${error.message}; left: ${JSON.stringify(await stand.sql(LEFT))}`);
      });
  }

  /**
   * Adds a few jobs, one after another. Each job must start within 10 s, so the workers must receive notifications
   * again. Graphile workers are suspended, because they could run these jobs.
   */
  async prove(what: string): Promise<void> {
    const { stand } = this;
    for (const one of this.#stock) one.signal("SIGSTOP");
    const utils = await stand.utils;
    const times: number[] = [];
    for (let n = 0; n < PROBES; n++) {
      const name = `probe-${this.#probes++}`;
      const job = await utils.addJob("single", { n: name, ms: 0, failures: 0, children: 0 });
      const at = machineTime();
      stand.log.write({ e: "added", n: name, job: job.id });
      const run = () => stand.runs().find((one) => one.n === name);
      await stand.until(`a new job has started after ${what}`, () => run() !== undefined, 10_000);
      times.push(Math.max(0, (run()?.from ?? 0) - at));
    }
    for (const one of this.#stock) one.signal("SIGCONT");
    const median = times.sort((a, b) => a - b)[Math.trunc(PROBES / 2)] ?? 0;
    stand.figure(`dispatch after ${what}`, median, { most: DISPATCHED_MS });
  }

  async #isDone(): Promise<boolean> {
    return (await this.stand.sql("select from worker._private_jobs limit 1")).length === 0;
  }
}

const LEFT = `select j.id::text, j.attempts, j.locked_by, now() - j.locked_at as locked, j.last_error,
  now() - j.run_at as due, q.locked_by as queue_locked_by, w.id as lease
  from worker._private_jobs j left join worker._private_job_queues q on q.id = j.job_queue_id
  left join worker._private_workers w on w.id = j.locked_by order by j.id limit 5`;

function make(n: string, producer: string, dice: Random): JobToAdd {
  const job = { identifier: "single", payload: { n, ms: dice(4) * 15, failures: 0, children: 0 } };
  return dice(3) > 0 ? job : { ...job, spec: { queueName: `${producer}-q${dice(3)}` } };
}
