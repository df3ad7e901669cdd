// A pool whose end is the end of its connections: pg's own resolves while sockets are still open,
// and a server that stops at that moment would be reported as the test's uncaught exception.
import pg from "pg";

export interface TestPool extends AsyncDisposable {
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export function testPool(url: string, max = 4): TestPool {
  const ended: Promise<unknown>[] = [];
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    ended.push(new Promise((resolve) => client.once("end", resolve)));
  });
  const close = async () => {
    await pool.end();
    await Promise.all(ended);
  };
  return { pool, close, [Symbol.asyncDispose]: close };
}
