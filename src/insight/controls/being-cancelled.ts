// Reads the requests to cancel running jobs, and makes the text with which lists and explanations of jobs show them.
import type { Database } from "../../database/database.ts";
import { hasControls } from "../../database/schema/extensions/has-extension.ts";
import { type Cancellation, readCancelRequests } from "../../queue/cancel/cancellations.ts";

/** Returns the requests to cancel these jobs, by job id. The map is empty if hasControls() returns false. */
export async function readCancellations(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Cancellation>> {
  if (ids.length === 0 || !(await hasControls(db))) return new Map();
  const { found } = await readCancelRequests(db, ids);
  return new Map(found.map((one) => [one.id, one]));
}

/** Returns a text such as `being cancelled: deploy, by ana`. A reason or user that the request lacks is left out. */
export function beingCancelled({ reason, by }: Cancellation): string {
  const why = reason === null ? "" : `: ${reason}`;
  const user = by === null ? "" : `${reason === null ? "" : ","} by ${by}`;
  return `being cancelled${why}${user}`;
}
