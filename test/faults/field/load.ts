// Producers that add jobs during a fault, and log which adds were acknowledged and which were rejected. After a
// rejected add, the job may exist or not, and the producer continues with the next job, which has another name.
import { setTimeout as sleep } from "node:timers/promises";
import type { JobToAdd } from "../../../src/domain/job-spec.ts";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import type { Random } from "../../support/random-calls.ts";
import type { RunLog } from "../../worker/run-log.ts";
import { addOne, type Behavior, randomJob, record } from "../../worker/workload.ts";

export interface LoadPlan {
  /** The number of producers, each with its own queues and keys. Default 2. */
  readonly producers?: number;
  /** The URL with which the producers add jobs. Default: the URL of the stand (stand.ts). */
  readonly url?: string;
  /** Makes a job. Default: randomJob(). `n` is the job's name in its payload. */
  readonly make?: (n: string, producer: string, dice: Random) => JobToAdd;
}

export interface Load {
  readonly acknowledged: number;
  readonly rejected: number;
  /** The number of rejected adds for each error code; `none`: errors without a code. */
  readonly codes: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface LoadParts {
  readonly url: string;
  readonly log: RunLog;
  readonly dice: (index: number) => Random;
  readonly name: string;
}

/** An add without an answer within this time counts as rejected. */
const ANSWER_LIMIT_MS = 30_000;

export function startLoad(perSecond: number, plan: LoadPlan, parts: LoadParts): Load {
  const { producers = 2, make = randomJob } = plan;
  const over = new AbortController();
  const count = { acknowledged: 0, rejected: 0 };
  const codes = new Map<string, number>();
  const one = async (index: number) => {
    const [producer, dice] = [`${parts.name}${index}`, parts.dice(index)];
    const connectionString = plan.url ?? parts.url;
    const utils = await makeWorkerUtils({ connectionString });
    const intervalMs = (1_000 * producers) / perSecond;
    let next = performance.now();
    for (let made = 0; !over.signal.aborted; made++) {
      const job = make(`${producer}-${made}`, producer, dice);
      try {
        const adding = addOne(job, utils);
        record(await withLimit(adding, () => rejected(job, parts.log)), parts.log);
        count.acknowledged++;
      } catch (error) {
        const { code = "none" } = error as { code?: string };
        codes.set(code, (codes.get(code) ?? 0) + 1);
        count.rejected++;
        rejected(job, parts.log);
      }
      // Adds that were due during an outage are skipped.
      next = Math.max(next + intervalMs, performance.now());
      const pauseMs = Math.max(0, next - performance.now());
      await sleep(pauseMs, undefined, { signal: over.signal }).catch(() => {});
    }
    await utils.end();
  };
  const running = Promise.all(Array.from({ length: producers }, (_, index) => one(index)));
  running.catch(() => {}); // stop() rejects with the error.
  return {
    get acknowledged() {
      return count.acknowledged;
    },
    get rejected() {
      return count.rejected;
    },
    codes,
    async stop() {
      over.abort();
      await running;
    },
  };
}

/**
 * Settles as `work` does. If `work` takes longer than ANSWER_LIMIT_MS, rejects, and calls `onLate` after the end of
 * `work`.
 */
async function withLimit<T>(work: Promise<T>, onLate: () => void): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    work.then(onLate, onLate);
    late.reject(new Error("no answer"));
  }, ANSWER_LIMIT_MS);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

function rejected({ payload, spec }: JobToAdd, log: RunLog): void {
  const names = (Array.isArray(payload) ? payload : [payload]) as Behavior[];
  const key = spec?.jobKey;
  for (const { n } of names) log.write({ e: "maybe", n, ...(key === undefined ? {} : { key }) });
}
