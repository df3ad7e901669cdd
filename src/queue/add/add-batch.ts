// Adds a batch of jobs, keys among them. No insert can change a row twice, so a batch in which a key occurs
// more than once is added in rounds, each with one job of every key: a later job finds the row of the earlier one.
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { databaseNowUs, timeText } from "../sql/moments.ts";
import { addKeyedJobs } from "./add-keyed-jobs.ts";

/**
 * Adds the jobs in the order given and returns one for each, in the same order, as it was right after its turn.
 * The rounds are one transaction, or part of the transaction of the client in `db`.
 */
export async function addBatch(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const rounds = roundsOf(specs);
  if (rounds.length === 1) {
    return knownOutcome(db, "the add of all of them", (known) => addKeyedJobs(known, specs));
  }
  const add = async (inside: Database) => {
    const timed = withTimes(specs, Number(await databaseNowUs(inside)));
    const added: Job[] = [];
    for (const places of rounds) {
      const jobs = await addKeyedJobs(
        inside,
        places.map((place) => timed[place] as ResolvedJob),
      );
      for (const [index, place] of places.entries()) added[place] = jobs[index] as Job;
    }
    return added;
  };
  return inTransaction(db, add, { withinMs: db.addsWithinMs });
}

/** The places in the batch, round by round. Jobs without a key are all in the first. */
function roundsOf(specs: readonly ResolvedJob[]): readonly (readonly number[])[] {
  const occurrences = new Map<string, number>();
  const rounds: number[][] = [[]];
  for (const [place, { jobKey }] of specs.entries()) {
    const round = jobKey === null ? 0 : (occurrences.get(jobKey) ?? 0);
    if (jobKey !== null) occurrences.set(jobKey, round + 1);
    rounds[round] ??= [];
    rounds[round].push(place);
  }
  return rounds;
}

/** Jobs without a time get the times that one statement would give them, a microsecond apart. */
const withTimes = (specs: readonly ResolvedJob[], us: number): readonly ResolvedJob[] =>
  specs.map((spec, place) =>
    spec.runAt === null ? { ...spec, runAt: timeText(us - (specs.length - 1 - place)) } : spec,
  );
