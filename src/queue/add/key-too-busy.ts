// The error of an add whose keys were locked during each attempt.
import { WorkerError } from "../../base/errors.ts";

/** Returns the error. `key`: the key; null if there are several. */
export function keyTooBusy(key: string | null, cause?: unknown): WorkerError {
  const jobs =
    key === null ? "jobs of these keys were" : `the job with key ${JSON.stringify(key)} was`;
  return new WorkerError(
    "database_busy",
    `${jobs} locked by workers during each attempt; try again`,
    { cause },
  );
}
