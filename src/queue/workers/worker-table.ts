// Limits of the heartbeat table `_private_workers`, and checks of options about workers. A schema that only Graphile
// Worker has migrated lacks the table. In such a schema, a statement that names the table fails and aborts the
// caller's transaction.
import * as v from "valibot";
import { boundedText } from "../../domain/job-spec.ts";

/** The maximum size of a report (`metadata`), in bytes. The table rejects longer reports. */
export const MAX_REPORT_BYTES = 262_144;
/** The bytes of a report that are reserved for `steady_since_ms`, `recovered_at` and `recovered_jobs`. */
export const ROOM_FOR_MARKS = 256;

/** Checks a worker's id, as in `locked_by`. This library's limit is 1,024 characters; the column has none. */
export const workerId = v.pipe(
  boundedText(1, 1_024),
  v.check((id) => id === "" || id.trim() !== "", "must not be blank"),
);

/** The default threshold of the manual sweep, in milliseconds; the same as in graphile_worker_rs. */
export const STALE_AFTER_MS = 300_000;

const YEAR_MS = 31_536_000_000;

/** Checks a number of milliseconds up to a year; fractions are allowed. */
export const upToAYear = v.pipe(
  v.number("must be a number"),
  v.check((value) => value >= 0 && value <= YEAR_MS, "must not be negative, and at most a year"),
);
