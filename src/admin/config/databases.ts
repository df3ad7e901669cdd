// The admin's access to the database: one Database for each purpose, with a time limit for its statements. One line is
// logged when PostgreSQL can no longer be reached, and one when PostgreSQL answers again.
import type { Pool, QueryConfig, QueryResultRow } from "pg";
import { monotonic } from "../../base/clock.ts";
import { type ErrorCode, messageOf, type WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import {
  type Bounds,
  boundedQueryable,
  type RequestScope,
} from "../../database/connection/pool.ts";
import type { Database, Queryable, Transactional } from "../../database/database.ts";
import { explainDatabaseError } from "../../database/errors/database-errors.ts";
import type { SchemaName } from "../../database/schema-name.ts";

export interface AdminDatabases {
  /** READ ONLY, 2 s: the usual reads of requests. */
  readonly reads: Database;
  /** READ ONLY, 0.5 s: the steps of a walk through a table. */
  readonly lists: Database;
  /** READ ONLY, 0.25 s: reads for which a timeout is an expected result. */
  readonly quickReads: Database;
  /** READ ONLY, 20 s: large values, read in pieces. PostgreSQL may need seconds to decompress such a value. */
  readonly downloads: Database;
  /** READ ONLY, 1 s: statistics of the whole queue, such as counts and metrics. */
  readonly feed: Database;
  /** 8 s: writes. A wait for a lock lasts at most 4 s, or `waitLeftMs()` of the request if that is shorter. */
  readonly writes: Database;
  /** Like `writes`, but cancelled when the request ends: for a change that only the request's own answer needs. */
  readonly briefWrites: Database;
  /** 30 s: heavy commands, such as cleanup, sweep and unlock. */
  readonly maintenance: Database;
}

/**
 * Returns the databases of a request. The end of the request cancels its reads and `briefWrites`, but not `writes` and
 * `maintenance`.
 */
export type DatabasesOf = (scope: RequestScope) => AdminDatabases;

export interface DatabaseOptions {
  readonly pool: Pool;
  readonly schema: SchemaName;
  readonly logger: Logger;
  /** Called for each statement that was cancelled for taking too long, except those of `quickReads`. */
  readonly onDegraded?: (
    cause: "statement_timeout",
    fields: { readonly statement: string },
  ) => void;
  /** How long a statement waits for a connection at most, in milliseconds. */
  readonly connectionWaitMs: number;
}

const readOnly = { lockTimeoutMs: 1_000, readOnly: true } as const;
const reads: Bounds = { statementTimeoutMs: 2_000, ...readOnly };
const lists: Bounds = { statementTimeoutMs: 500, lockTimeoutMs: 400, readOnly: true };
const quickReads: Bounds = { statementTimeoutMs: 250, lockTimeoutMs: 100, readOnly: true };
const downloads: Bounds = { statementTimeoutMs: 20_000, lockTimeoutMs: 1_000, readOnly: true };
const feed: Bounds = { statementTimeoutMs: 1_000, lockTimeoutMs: 100, readOnly: true };
const writes: Bounds = { statementTimeoutMs: 8_000, lockTimeoutMs: 4_000, readOnly: false };
const maintenance: Bounds = {
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 10_000,
  readOnly: false,
};

export function adminDatabases(options: DatabaseOptions): AdminDatabases & { of: DatabasesOf } {
  const { pool, schema, connectionWaitMs } = options;
  const watch = createWatch(options);
  const database = (bounds: Bounds, scope?: RequestScope): Database => {
    const bounded = boundedQueryable(pool, { ...bounds, connectionWaitMs }, scope);
    const client = watch(bounded, { scope, isQuickRead: bounds === quickReads });
    return { schema, client: scope === undefined ? client : within(client, scope) };
  };
  const shared = {
    reads: database(reads),
    lists: database(lists),
    quickReads: database(quickReads),
    downloads: database(downloads),
    feed: database(feed),
    writes: database(writes),
    briefWrites: database(writes),
    maintenance: database(maintenance),
  };
  return {
    ...shared,
    of: (scope) => ({
      ...shared,
      reads: database(reads, scope),
      lists: database(lists, scope),
      quickReads: database(quickReads, scope),
      // A request has a time limit until its answer begins. This limit does not apply to the statements of a download,
      // because the first statement may begin before the answer and end after the answer has begun.
      downloads: database(downloads, { signal: scope.signal, leftMs: () => Infinity }),
      feed: database(feed, scope),
      writes: database(writes, { ...scope, ...unlimited }),
      briefWrites: database(writes, scope),
    }),
  };
}

/**
 * The scope of writes: the request's time limit does not apply, and they are finished even if the client disconnects.
 */
const unlimited: RequestScope = { signal: new AbortController().signal, leftMs: () => Infinity };

/**
 * Returns a client whose calls reject as soon as the request has ended, without waiting until the running statement is
 * cancelled.
 */
function within(client: Transactional, scope: RequestScope): Transactional {
  const { signal } = scope;
  const inTime = async <T>(run: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const begunMs = monotonic();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([run(), aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      scope.waited?.(monotonic() - begunMs);
    }
  };
  return {
    query: <R extends QueryResultRow>(config: QueryConfig) => inTime(() => client.query<R>(config)),
    transaction: (work) => inTime(() => client.transaction(work)),
  };
}

/** Errors with these codes do not show that the server responds: nothing was sent, or the response was not awaited. */
const withoutAnswer = new Set<ErrorCode>(["busy", "aborted", "timeout"]);

/** Returns the beginning of a statement's SQL, for the log. The SQL contains no values, because they are parameters. */
function headOf({ text }: QueryConfig): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 100);
}

interface WatchOptions {
  readonly scope: RequestScope | undefined;
  readonly isQuickRead: boolean;
}

/**
 * Returns a function that wraps clients. The wrapped clients share a state, so that the loss of the database and its
 * return are each logged once. Errors of statements become WorkerErrors.
 */
function createWatch({
  schema,
  logger,
  onDegraded,
}: DatabaseOptions): (client: Transactional, watched: WatchOptions) => Transactional {
  let away: WorkerError | null = null;
  const back = () => {
    if (away !== null) logger.info({}, "the database is back");
    away = null;
  };
  const observed = async <T>(
    run: () => Promise<T>,
    config: QueryConfig,
    { scope, isQuickRead }: WatchOptions,
  ): Promise<T> => {
    try {
      const result = await run();
      back();
      return result;
    } catch (error) {
      const explained = explainDatabaseError(error, schema.name, {
        text: config.text,
        values: config.values ?? [],
      });
      const { code, message } = explained;
      if (code === "database_unreachable") {
        if (away === null) logger.error({ code, error: messageOf(error) }, message);
        away = explained;
      } else if (!withoutAnswer.has(code)) back();
      // A statement that was cancelled because its request has ended does not count as too slow.
      const isLate = code === "database_timeout" && scope?.signal.aborted !== true;
      if (isLate && !isQuickRead) onDegraded?.("statement_timeout", { statement: headOf(config) });
      // While the server cannot be reached, all connections may be in use, because they wait for the server. So the
      // error of the unreachable server is thrown instead of `busy`.
      throw code === "busy" ? (away ?? explained) : explained;
    }
  };
  return (client, watched) => {
    const watching = ({ query }: Queryable): Queryable => ({
      query: <R extends QueryResultRow>(config: QueryConfig) =>
        observed(() => query<R>(config), config, watched),
    });
    return {
      ...watching(client),
      transaction: async (work) => {
        // The statements inside `work` are observed one by one, and other errors of `work` do not come from the server.
        // So only an error outside `work`, such as a failed commit, is observed here.
        let ofWork: { readonly error: unknown } | null = null;
        const run = () =>
          client.transaction((inside) =>
            work(watching(inside)).catch((error: unknown) => {
              ofWork = { error };
              throw error;
            }),
          );
        return run().catch((error: unknown) => {
          if (ofWork !== null) throw error;
          return observed(() => Promise.reject(error), { text: "commit" }, watched);
        });
      },
    };
  };
}
