// The error of an add whose keys were never free.
import { WorkerError } from "../../base/errors.ts";

/** Workers took the key's job in the middle of each of our tries. `key`: null where there are several. */
export function keyTooBusy(key: string | null, cause?: unknown): WorkerError {
  const jobs =
    key === null ? "jobs of these keys were" : `the job with key ${JSON.stringify(key)} was`;
  return new WorkerError(
    "database_busy",
    `${jobs} taken by workers each time we tried; try again`,
    { cause },
  );
}
