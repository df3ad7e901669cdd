// Judges a trial (trial.ts), or a test of faults, by its log and by the rows that are left in the database. A Leniency
// excuses some violations, most of them only if the log contains a fault, or the death of a process, that may have
// caused the violation.
import type { Entry } from "./run-log.ts";
import { faultsOf, freedAfter, type Run, runsOf } from "./runs.ts";
import type { JobLeft } from "./worker-queue.ts";

export interface Leniency {
  /** Workers were killed, so their jobs run again. */
  readonly killed?: boolean;
  /**
   * Connections of fast lanes were cut. Their running jobs run again, and the attempts that were cut off do not count.
   */
  readonly cutFastLanes?: boolean;
  /** Workers lost their lease, so other workers may have run the same jobs at the same time. */
  readonly leaseLost?: boolean;
  /** Whether several jobs of this queue may run at once, in any order. Default: false. */
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
  // If a process freezes right before it calls a task, the call may come after another worker has begun a later
  // attempt.
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
  // If a worker is killed before it writes the success of a job's last attempt, the row remains.
  const excused = new Set(
    left.filter((job) => killed && job.attempts >= job.max_attempts).flatMap(namesIn),
  );
  // Only the newest payload of a key has to run: the payload of the last add in the log. A failed add that may have
  // been committed (`maybe`) counts, too.
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
      problems.push(
        `${name} has succeeded and ${batch ? "is still in the batch" : "still has a row"}`,
      );
    }
  }
  return problems;
}

function namesIn({ payload }: JobLeft): string[] {
  return [...payload.matchAll(/"n":"([^"]+)"/g)].map(([, n = ""]) => n);
}

/**
 * Reports jobs with more than one written success. If an attempt was cut off, or its process died, its success may not
 * have been written.
 */
function repeats(runs: readonly Run[], hasDied: Excuse, wasCutOff: Excuse): string[] {
  // Several jobs can have the same name: if an attempt that does not count is repeated, it adds its child jobs again.
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

/** Reports jobs of a named queue whose first attempts did not start in the order of the adds. */
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
        : [`queue ${queue}: ${n} started before ${before.n}, which was added earlier`];
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
      else problems.push(`${name} started attempt ${attempt} after attempt ${before.attempt}`);
    }
    const limit = most.get(attempts[0]?.n ?? "") ?? DEFAULT_ATTEMPTS;
    if (counted > limit)
      problems.push(`${name} was tried ${counted} times; the maximum is ${limit}`);
  }
  return problems;
}

const DEFAULT_ATTEMPTS = 25;

const limits = (added: readonly Added[]) =>
  new Map(added.map(({ n, max }) => [n, max ?? DEFAULT_ATTEMPTS]));

/**
 * Reports jobs that have killed too many processes. One process more than the maximum of attempts is allowed: an
 * attempt that kills its process in a fast lane does not count, and then only the safe mode runs the job.
 */
function deaths(log: readonly Entry[], added: readonly Added[]): string[] {
  const most = limits(added);
  const caused = log.flatMap((entry) => (entry.e === "dead" && entry.n ? [entry.n] : []));
  return [...Map.groupBy(caused, (n) => n)].flatMap(([n, { length }]) => {
    const limit = (most.get(n) ?? DEFAULT_ATTEMPTS) + 1;
    return length > limit ? [`${n} has killed ${length} processes; the maximum is ${limit}`] : [];
  });
}

function stuck(runs: readonly Run[], withinMs: number): string[] {
  return freedAfter(runs)
    .filter(({ ms }) => ms > withinMs)
    .map(({ run, ms }) => `${run.n} was stuck for ${Math.round(ms)} ms after ${run.by} had died`);
}
