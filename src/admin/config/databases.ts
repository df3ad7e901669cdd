// The ways in which the admin uses the database, each statement bounded, and the watch that logs once that
// PostgreSQL is away, and once that it is back.
import type { Pool, QueryConfig, QueryResultRow } from "pg";
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
  /** READ ONLY, 2 s. */
  readonly reads: Database;
  /** READ ONLY, 0.5 s, plain plans: the steps of a walk, each a statement of about 0.1 s. */
  readonly lists: Database;
  /** READ ONLY, 0.25 s: what is better left than waited for. */
  readonly quickReads: Database;
  /** READ ONLY, 20 s: a value so large that unpacking it takes seconds, in pieces. */
  readonly downloads: Database;
  /** READ ONLY, 1 s: what is read of all jobs, for many at once. */
  readonly feed: Database;
  /** 8 s, behind locks 4 s; for a request no longer than that may wait. */
  readonly writes: Database;
  /** Cleanup, sweep, unlock: 30 s. */
  readonly maintenance: Database;
}

/** The same for one request: what it reads ends with it. What it writes has begun and is finished. */
export type DatabasesOf = (scope: RequestScope) => AdminDatabases;

export interface DatabaseOptions {
  readonly pool: Pool;
  readonly schema: SchemaName;
  readonly logger: Logger;
  /** Told of each statement that took too long and was stopped. */
  readonly onDegraded?: (
    cause: "statement_timeout",
    fields: { readonly statement: string },
  ) => void;
  /** How long a statement waits for a connection, milliseconds. */
  readonly lineMs: number;
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
  const { pool, schema, lineMs } = options;
  const watch = createWatch(options);
  const database = (bounds: Bounds, scope?: RequestScope): Database => {
    const bounded = boundedQueryable(pool, { ...bounds, lineMs }, scope);
    const client = watch(bounded, { scope, isQuickRead: bounds === quickReads });
    return { schema, client: scope === undefined ? client : untilGone(client, scope.signal) };
  };
  const shared = {
    reads: database(reads),
    lists: database(lists),
    quickReads: database(quickReads),
    downloads: database(downloads),
    feed: database(feed),
    writes: database(writes),
    maintenance: database(maintenance),
  };
  return {
    ...shared,
    of: (scope) => ({
      ...shared,
      reads: database(reads, scope),
      lists: database(lists, scope),
      quickReads: database(quickReads, scope),
      // An answer that streams may begin before its first statement has ended.
      downloads: database(downloads, { signal: scope.signal, leftMs: () => Infinity }),
      feed: database(feed, scope),
      writes: database(writes, { ...unhurried, ...patienceOf(scope) }),
    }),
  };
}

/** What is written is finished, also when its client has left. */
const unhurried: RequestScope = { signal: new AbortController().signal, leftMs: () => Infinity };

const patienceOf = ({ patienceMs }: RequestScope) =>
  patienceMs === undefined ? {} : { patienceMs };

/** A client that has gone does not wait until its statement has been stopped. */
function untilGone(client: Transactional, signal: AbortSignal): Transactional {
  const inTime = async <T>(run: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const { promise: gone, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([run(), gone]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };
  return {
    query: <R extends QueryResultRow>(config: QueryConfig) => inTime(() => client.query<R>(config)),
    transaction: (work) => inTime(() => client.transaction(work)),
  };
}

/** These say nothing of the server: it was not asked, or its answer was not waited for. */
const unasked = new Set<ErrorCode>(["busy", "aborted", "timeout"]);

/** Which statement it was. Values are parameters: there are none in it. */
function headOf({ text }: QueryConfig): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 100);
}

interface Watched {
  readonly scope: RequestScope | undefined;
  /** That it was too short is an answer. */
  readonly isQuickRead: boolean;
}

/** Reports the change between away and back, whichever statement meets it first. */
function createWatch({
  schema,
  logger,
  onDegraded,
}: DatabaseOptions): (client: Transactional, watched: Watched) => Transactional {
  let away: WorkerError | null = null;
  const back = () => {
    if (away !== null) logger.info({}, "the database is back");
    away = null;
  };
  const noted = async <T>(
    run: () => Promise<T>,
    config: QueryConfig,
    { scope, isQuickRead }: Watched,
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
      } else if (!unasked.has(code)) back();
      // What was stopped because its client has left took no longer than it might.
      const isLate = code === "database_timeout" && scope?.signal.aborted !== true;
      if (isLate && !isQuickRead) onDegraded?.("statement_timeout", { statement: headOf(config) });
      // All connections are busy with a server that does not answer.
      throw code === "busy" ? (away ?? explained) : explained;
    }
  };
  return (client, watched) => {
    const watching = ({ query }: Queryable): Queryable => ({
      query: <R extends QueryResultRow>(config: QueryConfig) =>
        noted(() => query<R>(config), config, watched),
    });
    return {
      ...watching(client),
      transaction: async (work) => {
        // Its statements have been noted, and what else `work` throws says nothing of the server.
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
          return noted(() => Promise.reject(error), { text: "commit" }, watched);
        });
      },
    };
  };
}
