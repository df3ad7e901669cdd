/** Describes the jobs and queues that workers have locked. */
import { ago, Times } from "../controls/age";
import { countedValue, exactValue } from "../controls/value";
import { ListedWorker, RunningJob, readListedWorker, Value } from "../generated/records";
import { ServerData } from "../kit/server-data";
import { JsonReader } from "../lib/json-reader";
import { countText } from "../lib/number";
import { encode } from "../lib/percent";
import { Model } from "../model/model";

export class HolderOf {
  holder: ListedWorker = ListedWorker.empty();
  worker: string = "";

  constructor(readonly data: ServerData) {}

  request(m: Model, worker: string, isQuiet: bool = false): void {
    if (worker !== this.worker) this.data.reset();
    this.worker = worker;
    this.data.request(m, "api/workers/" + encode(worker), isQuiet);
  }

  onAnswer(m: Model, body: string): void {
    const r = new JsonReader(body);
    const holder = readListedWorker(r);
    if (!this.data.finish(m, r)) return;
    this.holder = holder;
  }

  /** Whether the data of this worker have arrived. */
  has(worker: string): bool {
    return this.data.ready && this.worker === worker;
  }

  /** The effect of an unlock: `releases 1 job and 3 queues`; empty until the worker's data arrive. */
  get released(): string {
    return this.data.ready ? "releases " + holdings([this.holder]) : "";
  }
}

/**
 * Returns the number of jobs that a worker runs. For a worker that is not alive, returns the number of jobs that the
 * worker has locked, if the server has read this number.
 */
export function jobCount(worker: ListedWorker): Value {
  const isKnown = worker.state !== "alive" && worker.lockedJobs !== i64.MIN_VALUE;
  return isKnown ? exactValue(worker.lockedJobs) : worker.running;
}

/**
 * Returns the worker's longest-running jobs. If jobCount() is 0, returns none: the jobs in the worker's last report may
 * have been recovered.
 */
export function currentJobs(worker: ListedWorker): RunningJob[] {
  return jobCount(worker).value > 0 ? worker.current : [];
}

export function holdsAny(worker: ListedWorker): bool {
  return jobCount(worker).value > 0 || worker.lockedQueues > 0;
}

/** Returns what the workers have locked together: `1 job and 3 queues`. */
export function holdings(workers: ListedWorker[]): string {
  const jobs = Value.empty();
  let queues: i64 = 0;
  jobs.precision = "exact";
  for (let i = 0; i < workers.length; i++) {
    const running = jobCount(workers[i]);
    jobs.value += running.value;
    if (running.precision !== "exact") jobs.precision = running.precision;
    queues += workers[i].lockedQueues;
  }
  return `${countedValue(jobs, "job", "jobs")} and ${countText(queues, "queue", "queues")}`;
}

/** Returns a text for the dialog: what the unlock releases, and a warning if any of the workers are alive. */
export function unlockPreview(workers: ListedWorker[], times: Times): string {
  let alive = 0;
  for (let i = 0; i < workers.length; i++) if (workers[i].state === "alive") alive++;
  const isSingle = workers.length === 1;
  const subject = isSingle ? workers[0].workerId : countText(workers.length, "worker", "workers");
  const effect = `Unlocking ${subject} releases ${holdings(workers)}.`;
  if (alive > 0) {
    const still = isSingle ? "It is alive" : `${alive} of them ${alive === 1 ? "is" : "are"} alive`;
    return `${effect} ${still}: ${alive === 1 ? "its" : "their"} running jobs would run twice.`;
  }
  if (!isSingle) return effect;
  const beatAt = workers[0].lastHeartbeatAt;
  const last = isNaN(beatAt)
    ? "It sends no heartbeats"
    : `Its last heartbeat was ${ago(beatAt, times)}`;
  return `${effect} ${last}.`;
}
