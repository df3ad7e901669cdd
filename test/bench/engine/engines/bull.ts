// The engine of the benchmark that runs BullMQ on PostgreSQL, and a function that adds jobs and sets BullMQ's global
// concurrency. The package is not a dependency of this project: BullMQ is measured only after
// `npm install --no-save bullmq@6`.
import pg from "pg";
import { type Engine, NotBuilt } from "./engine.ts";

/** The part of the package that is used here. */
interface Bull {
  setDefaultBackendFactory(factory: unknown): void;
  readonly createPostgresBackend: unknown;
  runMigrations(pool: pg.Pool): Promise<unknown>;
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    setGlobalConcurrency(concurrency: number): Promise<unknown>;
    addBulk(jobs: readonly object[]): Promise<unknown>;
    obliterate(options: object): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly Worker: new (
    name: string,
    handler: (job: { readonly data: unknown }) => unknown,
    options: object,
  ) => { close(): Promise<void>; on(event: string, listener: (error: Error) => void): void };
}

/** The type is `string` instead of a literal, so that the compiler does not look for the package. */
const PACKAGE: string = "bullmq";

async function load(): Promise<Bull> {
  try {
    const bull = (await import(PACKAGE)) as Bull;
    bull.setDefaultBackendFactory(bull.createPostgresBackend);
    return bull;
  } catch {
    throw new NotBuilt("bullmq is not installed: npm install --no-save bullmq@6");
  }
}

/** Returns a pool with the settings that BullMQ documents for an application's own pool. */
function poolOf(url: string): pg.Pool {
  const options = "-c search_path=bullmq,public";
  const pool = new pg.Pool({ connectionString: url, max: 25, options });
  pool.on("error", () => {});
  return pool;
}

export function bull(): Engine {
  return {
    async start({ url, concurrency, handler }) {
      const { Worker } = await load();
      const connection = poolOf(url);
      const worker = new Worker("bench", ({ data }) => handler(data), { connection, concurrency });
      worker.on("error", (error) => console.error(String(error).slice(0, 300)));
      return {
        async stop() {
          await worker.close();
          await connection.end();
        },
      };
    },
    adder: () => Promise.reject(new NotBuilt("not measured")),
  };
}

/** Replaces all jobs by `jobs` new ones. `concurrency`: how many of them may run at once, in all processes together. */
export async function seedBull(url: string, jobs: number, concurrency: number): Promise<void> {
  const { Queue, runMigrations } = await load();
  const connection = poolOf(url);
  await runMigrations(connection);
  const queue = new Queue("bench", { connection });
  await queue.obliterate({ force: true });
  await queue.setGlobalConcurrency(concurrency);
  for (let at = 0; at < jobs; at += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, jobs - at) }, (_, index) => ({
      ...{ name: "bench", data: { id: at + index, queue: 0 } },
      opts: { removeOnComplete: true },
    }));
    await queue.addBulk(batch);
  }
  await queue.close();
  await connection.end();
}
