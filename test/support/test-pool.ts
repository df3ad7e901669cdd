// A pool with a close() that waits until all connections are closed. pg's own end() resolves while sockets are still
// open. If the server stopped at that moment, the error of such a socket could end the test.
import pg from "pg";

export interface TestPool extends AsyncDisposable {
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export function testPool(url: string | pg.PoolConfig, max = 4): TestPool {
  const ended: Promise<unknown>[] = [];
  const config = typeof url === "string" ? { connectionString: url } : url;
  const pool = new pg.Pool({ max, ...config });
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

let roles = 0;

/**
 * Creates a new login role and a pool for it. `grants` returns SQL that grants the role its privileges. close() drops
 * the role. `owner`: a superuser's pool for the database of `url`.
 */
export async function rolePool(
  url: string,
  owner: pg.Pool,
  grants: (role: string) => string,
): Promise<TestPool> {
  const role = `worker_test_${process.pid}_${++roles}`;
  await owner.query(`create role ${role} login; ${grants(role)}`);
  const asRole = new URL(url);
  asRole.searchParams.set("user", role);
  const { pool, close } = testPool(asRole.href);
  const dropped = async () => {
    await close();
    await owner.query(`drop owned by ${role} cascade; drop role ${role}`);
  };
  return { pool, close: dropped, [Symbol.asyncDispose]: dropped };
}
