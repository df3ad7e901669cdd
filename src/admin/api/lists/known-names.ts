// How many jobs each task and queue has, for a list that is answered either way: where all jobs could
// not be counted in time, on a slow disk or a busy machine, names and holders are shown without numbers.
import { now } from "../../../base/clock.ts";
import { WorkerError } from "../../../base/errors.ts";
import { capped } from "../../../domain/value.ts";
import type { CountedNames } from "../../../queue/lists/counted-names.ts";
import { NameTallies } from "../../../queue/stats/name-tallies.ts";
import type { Admin } from "../../context/admin.ts";

export interface KnownNames extends CountedNames {
  /** RFC 3339. */
  readonly asOf: string;
}

export async function knownNames({ feed }: Pick<Admin, "feed">): Promise<KnownNames> {
  try {
    return (await feed.known()).names;
  } catch (error) {
    if (!(error instanceof WorkerError) || error.code !== "database_timeout") throw error;
    return nothingKnown();
  }
}

function nothingKnown(): KnownNames {
  const asOf = new Date(now()).toISOString();
  const value = () => capped(0, "sample", asOf);
  return { basis: "sample", asOf, tallies: new NameTallies(), value, held: () => 0 };
}
