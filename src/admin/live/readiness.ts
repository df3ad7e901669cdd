// Checks whether the database can be used. The result is cached for a second, so frequent probes cause at most one
// check a second.
import { monotonic } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { isReadOnlyServer } from "../../database/inspect/read-only-server.ts";
import { assertUsableSchema } from "../../database/schema/schema-state.ts";

/** The state of the database. */
export interface DatabaseState {
  /** Whether the server is a standby, or refuses writes; false if this could not be read. */
  readonly isReadOnlyServer: boolean;
  /** The error because of which the queue cannot be read, usually a WorkerError; null if the queue can be read. */
  readonly problem: unknown;
}

export interface Readiness {
  /** Returns the state, up to a second old. Never rejects. */
  check(): Promise<DatabaseState>;
  /** Discards the cached state. Called after a change of the schema. */
  invalidate(): void;
}

const CACHE_MS = 1_000;

/**
 * The codes of problems that are not logged here. Outages and slow statements are logged elsewhere; the other problems
 * are temporary.
 */
const notLogged = new Set<unknown>([
  "database_unreachable",
  "database_timeout",
  "database_busy",
  "busy",
  "aborted",
]);

export function createReadiness(db: Database, logger: Logger): Readiness {
  /** The message of the problem that was logged last; null if the queue could be read since, or if none was logged. */
  let logged: string | null = null;
  const logChange = ({ problem }: DatabaseState) => {
    if (problem === null) {
      if (logged !== null) logger.info({}, "the queue can be read again");
      logged = null;
      return;
    }
    const code = problem instanceof WorkerError ? problem.code : "internal_error";
    const error = messageOf(problem);
    if (notLogged.has(code) || logged === error) return;
    logged = error;
    const stack = code === "internal_error" && problem instanceof Error ? problem.stack : undefined;
    logger.error(
      { code, error, ...(stack === undefined ? {} : { stack }) },
      "the queue cannot be read",
    );
  };
  let last: { readonly state: Promise<DatabaseState>; until: number } | null = null;
  return {
    check: () => {
      if (last !== null && monotonic() < last.until) return last.state;
      // A check in progress is shared by all callers.
      const check = { state: readState(db), until: Number.POSITIVE_INFINITY };
      void check.state.then((state) => {
        logChange(state);
        check.until = monotonic() + CACHE_MS;
      });
      last = check;
      return check.state;
    },
    invalidate: () => {
      last = null;
    },
  };
}

async function readState(db: Database): Promise<DatabaseState> {
  let isReadOnly = false;
  try {
    isReadOnly = await isReadOnlyServer(db);
    await assertUsableSchema(db);
    return { isReadOnlyServer: isReadOnly, problem: null };
  } catch (problem) {
    return { isReadOnlyServer: isReadOnly, problem };
  }
}
