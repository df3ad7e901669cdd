// Judges a run from its log and from what is left in the database:
//   - nothing that was acknowledged is lost, nothing that succeeded is still there
//   - no job overlaps itself; what is in one named queue runs one at a time and in order
//   - no job is tried more often than it may be, and its attempts count upwards
//   - nothing is locked when all workers have stopped
//   - the newest payload of a key wins
import type { Entry } from "./run-log.ts";
import type { JobLeft } from "./worker-queue.ts";

export interface Leniency {
  /** Workers were killed: what they ran runs again. */
  readonly killed?: boolean;
  /**
   * Connections of fast lanes were cut: what they held is free although it still runs, and its
   * attempt was never counted.
   */
  readonly cutFastLanes?: boolean;
}

type Added = Extract<Entry, { e: "added" }>;

interface Run {
  readonly n: string;
  readonly job: string;
  readonly by: string;
  readonly attempt: number;
  readonly from: number;
  to: number;
  ok: boolean;
}

/** Every rule that was broken, as sentences. */
export function judge(
  log: readonly Entry[],
  left: readonly JobLeft[],
  lockedQueues: readonly string[],
  leniency: Leniency = {},
): string[] {
  const added = log.filter((entry) => entry.e === "added");
  const runs = runsOf(log);
  return [
    ...lostOnes(added, runs, log, left, leniency),
    ...repeats(runs, leniency),
    ...(leniency.cutFastLanes ? [] : overlaps(runs, added)),
    ...disorder(runs, added),
    ...(leniency.cutFastLanes ? [] : attempts(runs, added)),
    ...left
      .filter(({ locked_by }) => locked_by !== null)
      .map(({ id, locked_by }) => `job ${id} is still locked by ${locked_by}`),
    ...lockedQueues.map((queue) => `the queue ${queue} is still locked`),
  ];
}

function runsOf(log: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  const open = new Map<string, Run>();
  for (const entry of log) {
    if (entry.e === "start") {
      const { n, job, by, attempt, t } = entry;
      const run = { n, job, by, attempt, from: t, to: Number.POSITIVE_INFINITY, ok: false };
      runs.push(run);
      open.set(entry.run, run);
    } else if (entry.e === "end") {
      const run = open.get(entry.run);
      if (run === undefined) throw new Error(`the log ends the run ${entry.run} before it starts`);
      run.to = entry.t;
      run.ok = entry.ok;
      open.delete(entry.run);
    } else if (entry.e === "dead") {
      for (const [key, run] of open) {
        if (run.by !== entry.by) continue;
        run.to = entry.t;
        open.delete(key);
      }
    }
  }
  return runs;
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
  // Killed after the success of its last attempt and before that was written: nobody may try again.
  const excused = new Set(
    left.filter((job) => killed && job.attempts >= job.max_attempts).flatMap(namesIn),
  );
  // Of a key only the newest payload has to run: adds of one key are made one after another.
  const newest = new Map(added.map(({ n, key }) => [key ?? n, n]));
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

function repeats(runs: readonly Run[], { killed, cutFastLanes }: Leniency): string[] {
  if (killed || cutFastLanes) return [];
  const times = new Map<string, number>();
  for (const { n, ok } of runs) if (ok) times.set(n, (times.get(n) ?? 0) + 1);
  return [...times]
    .filter(([, count]) => count > 1)
    .map(([n, count]) => `${n} has succeeded ${count} times`);
}

function overlaps(runs: readonly Run[], added: readonly Added[]): string[] {
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
    const inOrder = [...group].sort((a, b) => a.from - b.from);
    return inOrder.flatMap((run, index) => {
      const before = inOrder[index - 1];
      if (before === undefined || before.to <= run.from) return [];
      return [
        `${name}: ${before.n} (${before.by}, ${before.from}–${before.to}) and ${run.n} ` +
          `(${run.by}, from ${run.from}) overlap`,
      ];
    });
  });
}

/** Queued jobs have one priority and are added one after another: first starts keep that order. */
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

function attempts(runs: readonly Run[], added: readonly Added[]): string[] {
  const limit = new Map(added.map(({ n, max }) => [n, max ?? 25]));
  const problems: string[] = [];
  for (const [name, tries] of Map.groupBy(runs, ({ job, n }) => `${n} (job ${job})`)) {
    const most = limit.get(tries[0]?.n ?? "") ?? 25;
    if (tries.length > most) problems.push(`${name} was tried ${tries.length} times of ${most}`);
    for (const [index, { attempt }] of tries.entries()) {
      const before = tries[index - 1];
      if (before !== undefined && attempt <= before.attempt) {
        problems.push(`${name} counts attempt ${attempt} after attempt ${before.attempt}`);
      }
    }
  }
  return problems;
}
