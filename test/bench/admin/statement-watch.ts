// Finds the longest statement that the admins run on a database, by reading pg_stat_activity every 20 ms.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export interface StatementWatch {
  /** The process id of the backend that reads pg_stat_activity. */
  readonly backend: number;
  /** Returns the longest statement seen since the last reset; its `ms` is 0 if none was seen. */
  longest(): { readonly ms: number; readonly text: string };
  reset(): void;
  /** Returns the number of statements that run now and match the pattern. */
  active(like: RegExp): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts to watch the statements on a database. Two kinds of statements are left out: those that match `ignored`, and
 * all statements of connections whose application_name begins with `bench`.
 */
export async function watchStatements(url: string, ignored: RegExp): Promise<StatementWatch> {
  const client = new pg.Client({ connectionString: url, application_name: "bench watch" });
  await client.connect();
  const { rows: own } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  let longest = { ms: 0, text: "" };
  let isOver = false;
  const look = async () => {
    const { rows } = await client.query<{ ms: number; query: string }>(
      `select extract(epoch from clock_timestamp() - query_start)::float8 * 1000 as ms, query
       from pg_stat_activity
       where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
       and backend_type = 'client backend' and application_name not like 'bench%'`,
    );
    return rows.filter(({ query }) => !ignored.test(query));
  };
  const loop = async () => {
    while (!isOver) {
      for (const { ms, query } of await look()) {
        if (ms > longest.ms) longest = { ms, text: query.replaceAll(/\s+/g, " ").trim() };
      }
      await pause(20);
    }
  };
  const running = loop();
  return {
    backend: own[0]?.pid ?? 0,
    longest: () => longest,
    reset: () => {
      longest = { ms: 0, text: "" };
    },
    active: async (like) => (await look()).filter(({ query }) => like.test(query)).length,
    async stop() {
      isOver = true;
      await running;
      await client.end();
    },
  };
}
