// Measures the cost of some work: the CPU time of this process and of PostgreSQL, WAL, and this process's peak memory.
import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import type { Sample } from "./duty.ts";
import { postgresCpu_s } from "./postgres-cpu.ts";

export class Meter {
  readonly #client: pg.Client;
  readonly #postmaster: number;
  #lsn = "0/0";
  #node = process.cpuUsage();
  #postgres_s = 0;
  #startedAt = 0;

  constructor(client: pg.Client, postmaster: number) {
    this.#client = client;
    this.#postmaster = postmaster;
  }

  async begin(): Promise<void> {
    this.#lsn = await this.#currentLsn();
    this.#postgres_s = postgresCpu_s(this.#postmaster);
    this.#node = process.cpuUsage();
    this.#startedAt = performance.now();
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /**
   * Returns the costs since begin(): CPU time and WAL per job, and the average number of cores in use. `jobs`: the
   * number of jobs. Also returns the peak memory of this process since its start.
   */
  async end(jobs: number): Promise<Sample> {
    const elapsedMs = this.elapsedMs;
    // The peak is read first, so it does not include the memory that end() itself uses. The unit of maxRSS is 1,024
    // bytes.
    const rss_mb = (process.resourceUsage().maxRSS * 1024) / 1e6;
    const { user, system } = process.cpuUsage(this.#node);
    // In this time the backends of clients that have just disconnected should end. The CPU time of a backend that ends
    // while postgresCpu_s() reads could be missed.
    await setTimeout(200);
    const postgresUs = (postgresCpu_s(this.#postmaster) - this.#postgres_s) * 1e6;
    const { rows } = await this.#client.query<{ bytes: string }>(
      "select pg_wal_lsn_diff(pg_current_wal_lsn(), $1) as bytes",
      [this.#lsn],
    );
    const each = (value: number) => value / Math.max(jobs, 1);
    return {
      nodeUs: each(user + system),
      pgUs: each(postgresUs),
      cpuUs: each(user + system + postgresUs),
      cores: (user + system + postgresUs) / 1_000 / elapsedMs,
      pg_cores: postgresUs / 1_000 / elapsedMs,
      wal: each(Number(rows[0]?.bytes)),
      rss_mb,
    };
  }

  async #currentLsn(): Promise<string> {
    const { rows } = await this.#client.query<{ lsn: string }>(
      "select pg_current_wal_lsn() as lsn",
    );
    return rows[0]?.lsn ?? "0/0";
  }
}
