// Limits and checks of values in the heartbeat table. The table is an optional extension: Graphile Worker's own schema
// has none. Without it everything must work, and no error may abort a transaction of the caller.
import * as v from "valibot";
import { boundedText } from "../../domain/job-spec.ts";

/** The maximum bytes of a report. The table rejects longer reports; in tables without that check they are not read. */
export const MAX_REPORT_BYTES = 262_144;
/** The bytes of a report that are reserved for what heartbeats and sweeps add to it. */
export const ROOM_FOR_MARKS = 256;

/** Checks a worker's id, as in `locked_by`. The limit is this library's; the schema has none. */
export const workerId = v.pipe(
  boundedText(1, 1_024),
  v.check((id) => id === "" || id.trim() !== "", "must not be blank"),
);

/** The time in milliseconds after which a worker without a heartbeat counts as stale (as in graphile_worker_rs). */
export const STALE_AFTER_MS = 300_000;

const YEAR_MS = 31_536_000_000;

/** Checks a number of milliseconds up to a year; fractions are allowed. The message also fits an option in seconds. */
export const upToAYear = v.pipe(
  v.number("must be a number"),
  v.check((value) => value >= 0 && value <= YEAR_MS, "must not be negative, and at most a year"),
);
