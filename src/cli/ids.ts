// The job ids that complete, fail and reschedule take, and the sentence that says how many of them
// the database accepted.
import type { Argv } from "yargs";
import type { Job } from "../domain/job.ts";
import type { GlobalArguments } from "./connection.ts";

export interface IdsArguments extends GlobalArguments {
  ids: string[];
}

/** Ids stay text: they may lie beyond 2^53. */
export function withIds(yargs: Argv<GlobalArguments>): Argv<IdsArguments> {
  return yargs.positional("ids", {
    type: "string",
    array: true,
    demandOption: true,
    describe: "Job ids",
  });
}

/** `Completed 2 of 3 jobs; the rest were locked or gone`. */
export function actedSentence(done: string, jobs: readonly Job[], ids: readonly string[]): string {
  const asked = new Set(ids).size;
  const rest = jobs.length < asked ? "; the rest were locked or gone" : "";
  return `${done} ${jobs.length} of ${asked} ${asked === 1 ? "job" : "jobs"}${rest}`;
}
