// Judges a trial (trial.ts), or a test of faults, by its log and by the rows that are left in the database. The rules:
//   - no acknowledged job is lost, and no job that has succeeded still has a row
//   - no job succeeds twice, and no two runs of a job overlap
//   - jobs of one named queue run one at a time and in order
//   - no job has more attempts than allowed, and attempts count upwards
//   - no job kills more processes than its maximum of attempts plus one
//   - a job whose process died starts again in time, if `freedWithinMs` is given
//   - nothing is locked when all workers have stopped
//   - the newest payload that was added with a key is not lost
// A Leniency excuses some violations, most of them only if the log contains the death of a process, or a fault, that
// may have caused the violation.
import type { Entry } from "./run-log.ts";
import { faultsOf, freedAfter, type Run, runsOf } from "./runs.ts";
import type { JobLeft } from "./worker-queue.ts";

export interface Leniency {
  /** Workers were killed, so their jobs run again. */
  readonly killed?: boolean;
  /**
   * Connections of fast lanes were cut, which unlocked jobs that were still running. These jobs run again, and their
   * attempts that were cut off do not count.
   */
  readonly cutFastLanes?: boolean;
  /**
   * Workers were frozen or disconnected for longer than their lease, so other workers may have run the same jobs at the
   * same time.
   */
  readonly leaseLost?: boolean;
  /** Whether several jobs of this queue may run at once, in any order. Default: false for every queue. */
  readonly isParallel?: (queue: string) => boolean;
  /** The time within which a job whose process died must start again, in milliseconds. Default: not checked. */
  readonly freedWithinMs?: number;
}

type Added = Extract<Entry, { e: "added" }>;
type Excuse = (run: Run) => boolean;

/** Returns every violation as a sentence. */
export function judge(
  log: readonly Entry[],
  left: readonly JobLeft[],
  lockedQueues: readonly string[],
  leniency: Leniency = {},
): string[] {
  const { killed = false, cutFastLanes = false, leaseLost = false, freedWithinMs } = leniency;
  const { isParallel = () => false } = leniency;
  const added = log.filter((entry) => entry.e === "added");
  const inOrder = added.filter(({ queue }) => queue === undefined || !isParallel(queue));
  const runs = runsOf(log);
  const { died, wasTouched, wokeUp } = faultsOf(log);
  const hasDied: Excuse = (run) => killed && died(run);
  const mayOverlap: Excuse = (run) => (cutFastLanes || leaseLost) && wasTouched(run);
  const mayRepeat: Excuse = (run) => hasDied(run) || mayOverlap(run);
  const isUncounted: Excuse = (run) => cutFastLanes && mayRepeat(run);
  // A process may freeze between the check of its lease and the call of a job's handler. When the process wakes up, it
  // calls the handler, although another worker may have begun a later attempt of the job.
  const isLate: Excuse = (run) => leaseLost && wokeUp(run);
  return [
    ...lostOnes(added, runs, log, left, leniency),
    ...repeats(runs, hasDied, mayOverlap),
    ...overlaps(runs, inOrder, mayOverlap),
    ...disorder(runs, inOrder),
    ...attempts(runs, added, isUncounted, isLate),
    ...deaths(log, added),
    ...(freedWithinMs === undefined ? [] : stuck(runs, freedWithinMs)),
    ...left
      .filter(({ locked_by }) => locked_by !== null)
      .map(({ id, locked_by }) => `job ${id} is still locked by ${locked_by}`),
    ...lockedQueues.map((queue) => `the queue ${queue} is still locked`),
  ];
}

function lostOnes(
  added: readonly Added[],
  runs: readonly Run[],
  log: readonly Entry[],
  left: readonly JobLeft[],
  { killed = false }: Leniency,
): string[] {
  const succeeded = new Set(runs.filter(({ ok }) => ok).map(({ n }) => n));
  for (const entry of log) if (entry.e === "item") succeeded.add(entry.n);
  const waiting = new Set(left.flatMap(namesIn));
  // If a worker is killed after a job's last attempt succeeded, but before the result was written, the row remains: the
  // job has no attempts left.
  const excused = new Set(
    left.filter((job) => killed && job.attempts >= job.max_attempts).flatMap(namesIn),
  );
  // Only the newest payload of a key has to run. Adds of one key are made one after another, so the last add in the log
  // has the newest payload. An add that failed, but may have been committed (`maybe`), counts, too, because it may have
  // replaced the payload of the add before it.
  const newest = new Map(
    log.flatMap((entry) =>
      entry.e === "added" || (entry.e === "maybe" && entry.key !== undefined)
        ? [[entry.key ?? entry.n, entry.n]]
        : [],
    ),
  );
  const problems: string[] = [];
  for (const { n, key, job, batch } of added) {
    if (newest.get(key ?? n) !== n) continue;
    const name = `${n} (job ${job}${key === undefined ? "" : `, the newest of key ${key}`})`;
    if (!succeeded.has(n) && !waiting.has(n)) problems.push(`${name} is lost`);
    if (succeeded.has(n) && waiting.has(n) && !excused.has(n)) {
      problems.push(`${name} has succeeded and is still ${batch ? "in the batch" : "there"}`);
    }
  }
  return problems;
}

function namesIn({ payload }: JobLeft): string[] {
  return [...payload.matchAll(/"n":"([^"]+)"/g)].map(([, n = ""]) => n);
}

/**
 * Reports jobs with more than one written success. A success does not count as written if its run may have been cut
 * off, or if its process died and the job has succeeded again later.
 */
function repeats(runs: readonly Run[], hasDied: Excuse, wasCutOff: Excuse): string[] {
  // Several jobs can have the same name: an attempt that does not count is repeated, and adds its child jobs again
  // under the same names.
  const successes = Map.groupBy(
    runs.filter(({ ok }) => ok),
    ({ n, job }) => `${n} (job ${job})`,
  );
  return [...successes].flatMap(([name, all]) => {
    const inOrder = all.toSorted((a, b) => a.to - b.to);
    const written = inOrder.filter(
      (run) => !wasCutOff(run) && (run === inOrder.at(-1) || !hasDied(run)),
    );
    return written.length <= 1
      ? []
      : [`${name} has succeeded ${all.length} times, by ${inOrder.map(({ by }) => by).join()}`];
  });
}

function overlaps(runs: readonly Run[], added: readonly Added[], mayOverlap: Excuse): string[] {
  const queueOf = new Map(added.map(({ job, queue }) => [job, queue]));
  const groups = Map.groupBy(runs, ({ job }) => `job ${job}`);
  for (const run of runs) {
    const queue = queueOf.get(run.job);
    if (queue === undefined) continue;
    const name = `queue ${queue}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [run]);
    else group.push(run);
  }
  return [...groups].flatMap(([name, group]) => {
    let before: Run | undefined;
    return group.flatMap((run) => {
      const other = before;
      if (other === undefined || run.to > other.to) before = run;
      if (other === undefined || other.to <= run.from || mayOverlap(other)) return [];
      return [
        `${name}: ${other.n} (${other.by}, ${other.from}–${other.to}) and ${run.n} ` +
          `(${run.by}, from ${run.from}) overlap`,
      ];
    });
  });
}

/**
 * Reports jobs of a named queue whose first attempts did not start in the order of the adds. This order is required,
 * because the jobs of a queue have equal priorities and are added one after another.
 */
function disorder(runs: readonly Run[], added: readonly Added[]): string[] {
  const firstStart = new Map<string, number>();
  for (const { n, from } of runs) {
    firstStart.set(n, Math.min(from, firstStart.get(n) ?? Number.POSITIVE_INFINITY));
  }
  const queues = Map.groupBy(
    added.filter(({ queue, key }) => queue !== undefined && key === undefined),
    ({ queue }) => queue,
  );
  return [...queues].flatMap(([queue, members]) =>
    members.flatMap(({ n }, index) => {
      const before = members[index - 1];
      if (before === undefined) return [];
      const [a, b] = [firstStart.get(before.n), firstStart.get(n)];
      return a === undefined || b === undefined || a <= b
        ? []
        : [`queue ${queue}: ${n} started before ${before.n}`];
    }),
  );
}

function attempts(
  runs: readonly Run[],
  added: readonly Added[],
  isUncounted: Excuse,
  isLate: Excuse,
): string[] {
  const most = limits(added);
  const problems: string[] = [];
  for (const [name, attempts] of Map.groupBy(runs, ({ job, n }) => `${n} (job ${job})`)) {
    let counted = attempts.length;
    const inOrder = attempts.filter(
      (run, index) => !(isLate(run) && run.attempt < (attempts[index - 1]?.attempt ?? 0)),
    );
    for (const [index, { attempt }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before === undefined || attempt > before.attempt) continue;
      if (attempt === before.attempt && isUncounted(before)) counted--;
      else problems.push(`${name} counts attempt ${attempt} after attempt ${before.attempt}`);
    }
    const limit = most.get(attempts[0]?.n ?? "") ?? DEFAULT_ATTEMPTS;
    if (counted > limit) problems.push(`${name} was tried ${counted} times of ${limit}`);
  }
  return problems;
}

const DEFAULT_ATTEMPTS = 25;

const limits = (added: readonly Added[]) =>
  new Map(added.map(({ n, max }) => [n, max ?? DEFAULT_ATTEMPTS]));

/**
 * Reports jobs that have killed too many processes. A job may kill one process more than its maximum of attempts: an
 * attempt that kills its process in a fast lane does not count. The fast lanes then leave the job to the safe mode.
 */
function deaths(log: readonly Entry[], added: readonly Added[]): string[] {
  const most = limits(added);
  const caused = log.flatMap((entry) => (entry.e === "dead" && entry.n ? [entry.n] : []));
  return [...Map.groupBy(caused, (n) => n)].flatMap(([n, { length }]) => {
    const limit = (most.get(n) ?? DEFAULT_ATTEMPTS) + 1;
    return length > limit ? [`${n} has killed ${length} processes, of at most ${limit}`] : [];
  });
}

function stuck(runs: readonly Run[], withinMs: number): string[] {
  return freedAfter(runs)
    .filter(({ ms }) => ms > withinMs)
    .map(({ run, ms }) => `${run.n} was stuck for ${Math.round(ms)} ms after ${run.by} had died`);
}
