// Runs the queue's statements on a Database: a pool or client, and the schema of the queue. The client may be inside a
// caller's transaction. This file opens and closes no connection.
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import { types } from "pg";
import { explainDatabaseError } from "./errors/database-errors.ts";
import type { SchemaName } from "./schema-name.ts";

/** The method of pg's Pool, PoolClient and Client that runs statements. */
export interface Queryable {
  /** Runs one statement. */
  query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>>;
}

/** A Queryable whose query() runs each statement in a transaction of its own. */
export interface Transactional extends Queryable {
  /**
   * `first`: statements that have no parameters and return no rows. They are sent together with the statement of
   * `config`, and run before that statement.
   */
  query<R extends QueryResultRow>(config: QueryConfig, ...first: string[]): Promise<QueryResult<R>>;
  transaction<T>(work: (client: Queryable) => Promise<T>): Promise<T>;
}

/** The argument of `utils.with()`: pg's Pool, PoolClient or Client, or an adapter for another driver. */
export interface StatementClient {
  /**
   * Runs one statement, `{ text, values }`. Resolves to an object with the statement's `rows`, one object for each row.
   */
  query(statement: QueryConfig): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A pool or client, and the schema of the queue. */
export interface Database {
  /** The pool or client that runs the statements. */
  readonly client: Queryable;
  /** The schema of the queue. */
  readonly schema: SchemaName;
  /** Whether repeated statements are prepared. Must be false behind a transaction pooler. Default false. */
  readonly preparedStatements?: boolean | undefined;
  /**
   * Whether all statements on the client are part of one transaction of this library, which must be repeated as a
   * whole after a conflict. Default false.
   */
  readonly isTransaction?: boolean | undefined;
  /**
   * How long each statement that adds jobs on a pool waits for an answer, in milliseconds. After this time, the
   * connection of the statement counts as lost. Default: until the connection ends.
   */
  readonly addTimeoutMs?: number | undefined;
}

/** A statement whose text depends only on the schema. */
export type Statement = (schema: string) => string;

/** Returns the statement with a cache of its text for each schema, for long statements that run often. */
export function builtOnce(statement: Statement): Statement {
  const texts = new Map<string, string>();
  return (schema) => {
    let text = texts.get(schema);
    if (text === undefined) {
      text = statement(schema);
      texts.set(schema, text);
    }
    return text;
  };
}

/** Like builtOnce(), for statements whose text also depends on a form: a JSON value, such as a set of flags. */
export function builtPerForm<F>(make: (form: F) => Statement): (form: F) => Statement {
  const statements = new Map<string, Statement>();
  return (form) => {
    const key = JSON.stringify(form);
    let statement = statements.get(key);
    if (statement === undefined) {
      statement = builtOnce(make(form));
      statements.set(key, statement);
    }
    return statement;
  };
}

const { builtins } = types;
const numbers: readonly number[] = [builtins.INT2, builtins.INT4, builtins.FLOAT8, builtins.FLOAT4];

/**
 * Parses result columns, independently of the parsers that the application has set in pg. Values other than small
 * integers, floats and booleans stay PostgreSQL's text, so that nothing is rounded or parsed too early.
 */
const wireTypes = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (numbers.includes(oid)) return Number;
    if (oid === builtins.BOOL) return (text) => text === "t";
    return (text) => text;
  },
} as NonNullable<QueryConfig["types"]>;

/**
 * Parses PostgreSQL's array text: `{1,2}` becomes `["1", "2"]`, null becomes `[]`. For ids only, which need no quoting.
 */
export function parseIdArray(text: string | null | undefined): string[] {
  return text == null || text === "{}" ? [] : text.slice(1, -1).split(",");
}

/** Returns PostgreSQL's text of a bigint[]. If pg made the text, it would needlessly quote and escape each id. */
export function idArray(ids: readonly string[]): string {
  return `{${ids.join(",")}}`;
}

export interface QueryOptions {
  /**
   * Whether to prepare the statement, if the Database allows it (`preparedStatements`). Each connection then parses the
   * statement once, and often plans it only a few times. Default false.
   */
  readonly isRepeated?: boolean;
}

/** Runs one statement and returns its rows. Throws WorkerError with the driver's error as its cause. */
export async function query<R extends QueryResultRow>(
  db: Database,
  statement: Statement,
  values: unknown[] = [],
  { isRepeated = false }: QueryOptions = {},
): Promise<R[]> {
  const text = statement(db.schema.quoted);
  const named = isRepeated && db.preparedStatements === true ? { name: nameOf(text) } : null;
  try {
    const result = await db.client.query<R>({ ...named, text, values, types: wireTypes });
    const { rows } = result;
    // pg's results refer to each other, so an old result keeps all later results in memory until the next full garbage
    // collection. In a busy worker, the rows of these results would need much memory, so no result keeps its rows.
    result.rows = [];
    return rows;
  } catch (error) {
    throw explainDatabaseError(error, db.schema.name, { values, text });
  }
}

// The names of prepared statements, by the statements' texts, for the whole process: statements for several schemas may
// share a connection, so different texts must have different names.
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `worker_repeated_${names.size}`;
    names.set(text, name);
  }
  return name;
}
