// The settings of a worker's own connections: for the session, or, behind a transaction pooler, for each
// transaction.
import { BEGIN } from "../../database/connection/bounded-statement.ts";

// A fetch is a few index probes. One that takes this long is stuck, and a server that is cut off says
// nothing at all: the connection is given up then, so that a dead one is found within seconds.
const STATEMENT_TIMEOUT_MS = 6_500;

// Somebody's open transaction may have locked the row of a job that has ended, by adding one with its
// key, say. That is no reason to give the connection up, and with it all that others could do.
const LOCK_TIMEOUT_MS = 3_000;

// A process that is frozen in the middle of a transaction gives its rows back after this long. With
// a lease that is not left to PostgreSQL, which cannot tell it from one that a handler blocks: others
// end the transaction when the heartbeat stops (queue/workers/session-lock.ts). Should there be none
// who do, PostgreSQL does it in the end.
const FROZEN_MS = 10_000;
export const FROZEN_LEASED_MS = 300_000;

// A fetch's plan must walk its index in order whatever the statistics say: a bitmap or a
// sequential scan would read every ready job to take a few. Such a connection runs nothing else.
const SETTINGS = [
  "enable_bitmapscan = off",
  "enable_seqscan = off",
  "jit = off",
  "plan_cache_mode = force_generic_plan",
  "extra_float_digits = 1",
  `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${FROZEN_MS}`,
];
// Statements outside of begin() are transactions, too: the role's or the database's level is not for them.
// And a connection that waits for jobs is not one that was forgotten.
const OF_SESSIONS = [
  "default_transaction_isolation = 'read committed'",
  "idle_session_timeout = 0",
];
export const FOR_THE_SESSION = [...SETTINGS, ...OF_SESSIONS].map((one) => `set ${one}`).join("; ");

/** For a scan of all jobs, which a lost connection makes necessary, and fetches with a long way. */
const PATIENT_STATEMENT_TIMEOUT_MS = 60_000;
export const PATIENTLY = `set local statement_timeout = ${PATIENT_STATEMENT_TIMEOUT_MS}`;
export const BEGIN_WITH_SETTINGS = [BEGIN, ...SETTINGS.map((one) => `set local ${one}`)].join("; ");
