// The admin's access to the database: one Database for each purpose, with a time limit for its statements.
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
  /** READ ONLY, 1 s: statistics of the whole queue. */
  readonly feed: Database;
  /** 8 s: writes. A wait for a lock lasts at most 4 s. */
  readonly writes: Database;
  /** Like `writes`, but cancelled when the request ends: for a change that has no use without the request's answer. */
  readonly briefWrites: Database;
  /** 30 s: heavy commands, such as cleanup, sweep and unlock. */
  readonly maintenance: Database;
}

/** Returns the databases of a request. The end of the request cancels its reads and `briefWrites`. */
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
      // The time limit of a request ends when its answer begins. A statement of a download may end later.
      downloads: database(downloads, { signal: scope.signal, leftMs: () => Infinity }),
      feed: database(feed, scope),
      writes: database(writes, { ...scope, ...unlimited }),
      briefWrites: database(writes, scope),
    }),
  };
}

/** Writes are finished, even if the client has disconnected or the request's time limit is over. */
const unlimited: RequestScope = { signal: new AbortController().signal, leftMs: () => Infinity };

/** Returns a client whose calls reject as soon as the request has ended, even while a statement runs. */
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

/** The codes of errors without an answer of PostgreSQL: nothing was sent, or the answer was not awaited. */
const withoutAnswer = new Set<ErrorCode>(["busy", "aborted", "timeout"]);

/** Returns the beginning of the SQL, for the log. The SQL contains no values, because values are parameters. */
function headOf({ text }: QueryConfig): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 100);
}

interface WatchOptions {
  readonly scope: RequestScope | undefined;
  readonly isQuickRead: boolean;
}

/**
 * Returns a function that wraps clients. The loss of the database is logged once for all wrapped clients, and so is its
 * return.
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
      // While the server cannot be reached, all connections may be in use, because they wait for the server.
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
        // The statements inside `work` are observed one by one. So only an error outside `work`, such as a failed
        // commit, is observed here.
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
