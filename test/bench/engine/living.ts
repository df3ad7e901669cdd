// The duties (duty.ts) that add jobs while an engine runs.
import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import type { Duty, Sample } from "./duty.ts";
import type { Engine } from "./engines/engine.ts";
import type { Meter } from "./meter.ts";
import { percentile } from "./statistics.ts";

const POLL_MS = 2_000;

/**
 * `totalMs`: the time from the start of the add until the handler runs; `limitMs` if the handler does not run in time.
 */
async function timed(
  client: pg.Client,
  seen: Seen,
  priority: number,
  limitMs: number,
): Promise<{ totalMs: number; addMs: number }> {
  const startedAt = performance.now();
  const ran = new Promise<number>((resolve) => {
    seen.resolve = () => resolve(performance.now() - startedAt);
  });
  await client.query({
    name: "add",
    text: "select worker.add_job('bench', '{}', priority => $1)",
    values: [priority],
  });
  const addMs = performance.now() - startedAt;
  const totalMs = await Promise.race([ran, setTimeout(limitMs, limitMs, { ref: false })]);
  return { totalMs, addMs };
}

interface Seen {
  count: number;
  resolve: () => void;
}

async function started(engine: Engine, duty: Duty, pollIntervalMs: number) {
  const seen: Seen = { count: 0, resolve: () => {} };
  const handler = () => {
    seen.count++;
    seen.resolve();
  };
  const { url } = duty;
  const running = await engine.start({ url, concurrency: 24, pollIntervalMs, handler });
  return { seen, running };
}

export async function latency(engine: Engine, duty: Duty, _: Meter, client: pg.Client) {
  const { seen, running } = await started(engine, duty, POLL_MS);
  await setTimeout(1_000);
  const totals: number[] = [];
  const adds: number[] = [];
  const nets: number[] = [];
  for (let place = -30; place < duty.jobs; place++) {
    const { totalMs, addMs } = await timed(client, seen, 0, duty.limitMs);
    if (place >= 0) {
      totals.push(totalMs);
      adds.push(addMs);
      nets.push(totalMs - addMs);
    }
    await setTimeout(20 * (0.5 + Math.random()));
  }
  await running.stop();
  return {
    p50_ms: percentile(totals, 0.5),
    p99_ms: percentile(totals, 0.99),
    addMs: percentile(adds, 0.5),
    net50_ms: percentile(nets, 0.5),
    net99_ms: percentile(nets, 0.99),
  };
}

/** Measures idle CPU use, latency and speed while the table has many scheduled jobs. */
export async function scheduled(engine: Engine, duty: Duty, meter: Meter, client: pg.Client) {
  const { seen, running } = await started(engine, duty, POLL_MS);
  await setTimeout(4_000);
  await meter.begin();
  await setTimeout(Math.min(10_000, duty.limitMs));
  const { cores = 0 } = await meter.end(1);
  const sample: Sample = { idle_cores: cores };
  const latencies: number[] = [];
  for (let place = 0; place < 15; place++) {
    latencies.push((await timed(client, seen, 0, duty.limitMs)).totalMs);
    await setTimeout(300);
  }
  sample["start50_ms"] = percentile(latencies, 0.5);
  for (const priority of [0, 10]) {
    sample[`drain${priority}_jps`] = await due(duty, seen, client, priority);
    await client.query("delete from worker._private_jobs where payload->>'due' is not null");
    await setTimeout(500);
  }
  await running.stop();
  return sample;
}

/** Returns how many due jobs run per second. */
async function due(duty: Duty, seen: Seen, client: pg.Client, priority: number): Promise<number> {
  seen.count = 0;
  const finished = new Promise<void>((resolve) => {
    seen.resolve = () => {
      if (seen.count === duty.jobs) resolve();
    };
  });
  await client.query(
    `select count(*) from worker.add_jobs(array(
      select row('bench', '{"due": 1}', null, now(), null, null, $1, null)::worker.job_spec
      from generate_series(1, $2::int)))`,
    [priority, duty.jobs],
  );
  const startedAt = performance.now();
  await Promise.race([finished, setTimeout(duty.limitMs, undefined, { ref: false })]);
  return (seen.count / (performance.now() - startedAt)) * 1_000;
}

/**
 * Returns the bytes of WAL for the fetch and the settling of a job in a named queue of its own. Each queue runs one job
 * before the measurement, because the first change of a page after a checkpoint writes the whole page to the WAL.
 */
export async function idle(engine: Engine, duty: Duty, meter: Meter, client: pg.Client) {
  const addOne = (place: number) =>
    client.query("select worker.add_job('bench', '{}', queue_name => $1)", [`queue ${place}`]);
  await runEach(engine, duty, addOne);
  await meter.begin();
  for (let place = 0; place < duty.jobs; place++) await addOne(place);
  const { wal: addWal = 0 } = await meter.end(duty.jobs);
  await client.query("delete from worker._private_jobs");
  const wal = await runEach(engine, duty, addOne, meter);
  return { fetchWal: wal - addWal };
}

/** Returns the bytes of WAL per job, including the bytes of the add; 0 without a meter. */
async function runEach(
  engine: Engine,
  duty: Duty,
  addOne: (place: number) => Promise<unknown>,
  meter?: Meter,
): Promise<number> {
  const { seen, running } = await started(engine, duty, POLL_MS);
  await setTimeout(3_000);
  await meter?.begin();
  for (let place = 0; place < duty.jobs; place++) {
    const ran = new Promise<void>((resolve) => {
      seen.resolve = resolve;
    });
    await addOne(place);
    await Promise.race([ran, setTimeout(duty.limitMs, undefined, { ref: false })]);
    await setTimeout(30);
  }
  const sample = await meter?.end(duty.jobs);
  await running.stop();
  return sample?.["wal"] ?? 0;
}

/** Simulates two days in `limitMs`, each with a quiet night and a busy noon, and measures the process's memory. */
export async function soak(engine: Engine, duty: Duty, meter: Meter, client: pg.Client) {
  const { seen, running } = await started(engine, duty, POLL_MS);
  await meter.begin();
  const points: { at_min: number; rss_mb: number }[] = [];
  const tickMs = 1_000;
  while (meter.elapsedMs < duty.limitMs) {
    const noon = Math.sin((2 * Math.PI * meter.elapsedMs) / duty.limitMs) ** 4;
    await client.query(
      `select count(*) from worker.add_jobs(array(
        select row('bench', '{}', null, now(), null, null, null, null)::worker.job_spec
        from generate_series(1, $1::int)))`,
      [Math.ceil(20_000 * noon)],
    );
    const rss_mb = process.memoryUsage.rss() / 1e6;
    points.push({ at_min: meter.elapsedMs / 60_000, rss_mb });
    if (points.length % 20 === 0)
      console.error(`soak: ${rss_mb.toFixed(0)} MB, ${seen.count} jobs`);
    await setTimeout(tickMs);
  }
  await running.stop();
  // After a noon the heap keeps memory, even without a leak. So the memory after the two noons is compared.
  const part = (from: number, to: number) =>
    percentile(
      points.slice(points.length * from, points.length * to).map(({ rss_mb }) => rss_mb),
      0.5,
    );
  return {
    jobs: seen.count,
    early_mb: part(0.4, 0.5),
    late_mb: part(0.9, 1),
    growth: part(0.9, 1) / part(0.4, 0.5),
  };
}
