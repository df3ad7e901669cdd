// Finds the runs of jobs in a log, the runs that faults may have affected, and how long recoveries took.
import type { Entry } from "./run-log.ts";

export interface Run {
  readonly n: string;
  readonly job: string;
  readonly by: string;
  readonly attempt: number;
  readonly from: number;
  to: number;
  ok: boolean;
  /** Whether the worker's process died during the run. */
  died: boolean;
}

/** Returns the runs in the order of their starts. `to` of a run that has not ended is infinite. */
export function runsOf(log: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  const open = new Map<string, Run>();
  for (const entry of log) {
    if (entry.e === "start") {
      const { n, job, by, attempt, t } = entry;
      const to = Number.POSITIVE_INFINITY;
      const run = { n, job, by, attempt, from: t, to, ok: false, died: false };
      runs.push(run);
      open.set(entry.run, run);
    } else if (entry.e === "end") {
      const run = open.get(entry.run);
      if (run === undefined)
        throw new Error(`the log has the end of run ${entry.run} before its start`);
      run.to = entry.t;
      run.ok = entry.ok;
      open.delete(entry.run);
    } else if (entry.e === "dead") {
      for (const [key, run] of open) {
        if (run.by !== entry.by) continue;
        run.to = Math.max(run.from, entry.t);
        run.died = true;
        open.delete(key);
      }
    }
  }
  return runs.sort((a, b) => a.from - b.from);
}

/** The longest time between a fault and a run that the fault affects. */
const REACH_MS = 60_000;

/** The longest time from the end of a freeze until the fault's entry in the log. */
const WAKING_MS = 100;

/**
 * Returns functions that check a run. `died`: the process died after the run's start. `wokeUp`: the run started while
 * the process woke up from a freeze. `wasTouched`: a fault may have affected the run.
 */
export function faultsOf(log: readonly Entry[]) {
  const faults = log.filter((entry) => entry.e === "fault");
  const deaths = log.filter((entry) => entry.e === "dead");
  return {
    died: ({ by, from }: Run) => deaths.some((one) => one.by === by && one.t >= from),
    wokeUp: ({ by, from }: Run) =>
      faults.some((one) => one.by === by && one.t >= from && one.t < from + WAKING_MS),
    wasTouched: ({ by, from, to }: Run) =>
      faults.some(
        (one) =>
          (one.by === undefined || one.by === by) &&
          one.t > from - REACH_MS &&
          one.t < to + REACH_MS,
      ),
  };
}

/**
 * Returns each run whose process died and whose job started again. `ms`: the time from the death to the job's next
 * start, divided by the number of recoveries in this time. There are several recoveries if workers died before they
 * started the job.
 */
export function freedAfter(runs: readonly Run[]): { readonly run: Run; readonly ms: number }[] {
  const ofJob = Map.groupBy(runs, ({ job, n }) => `${job} ${n}`);
  return [...ofJob.values()].flatMap((attempts) =>
    attempts.flatMap((run, index) => {
      const next = attempts[index + 1];
      if (!run.died || next === undefined) return [];
      const times = Math.max(1, next.attempt - run.attempt);
      return [{ run, ms: (next.from - run.to) / times }];
    }),
  );
}
