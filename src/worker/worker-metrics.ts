// A worker's metrics as Prometheus text. Each worker has a registry of its own, so that the metrics of several workers
// in one process do not collide. Durations are measured only after the first scrape has begun.
import type { Registry } from "prom-client";
import type { SlotCount } from "./execute/slots.ts";
import type { TalliedTask, TaskTally } from "./execute/task-tally.ts";
import { BOUNDS, Durations } from "./execute/task-tally.ts";

export interface MetricsSource {
  readonly tasks: ReadonlyMap<string, Pick<TalliedTask<never>, "tally">>;
  readonly concurrency: SlotCount;
  sessions(): { readonly all: readonly SessionCounts[] };
  /** Null without heartbeats. */
  heartbeatAgeMs(): number | null;
  ignoringSignal(): number;
}

interface SessionCounts {
  readonly running: readonly unknown[];
  /** The number of jobs in the local queues. */
  readonly waiting: number;
}

/** The maximum number of values of the label `task`. Further tasks share the value OTHERS. */
const MAX_TASKS = 200;
const OTHERS = "(others)";

export class WorkerMetrics {
  readonly #source: MetricsSource;
  readonly #waits = new Durations();
  #registry: Promise<Registry> | null = null;

  constructor(source: MetricsSource) {
    this.#source = source;
  }

  async text(): Promise<string> {
    this.#registry ??= this.#begin();
    return (await this.#registry).metrics();
  }

  /** Called at the first scrape. */
  async #begin(): Promise<Registry> {
    for (const { tally } of this.#source.tasks.values()) {
      tally.timing ??= { runs: new Durations(), waits: this.#waits };
    }
    const { default: prometheus } = await import("prom-client");
    const { Counter, Gauge, Registry } = prometheus;
    const registry = new Registry();
    const registers = [registry];
    const { concurrency, sessions, heartbeatAgeMs, ignoringSignal } = this.#source;
    const sum = (of: (one: SessionCounts) => number) => () =>
      sessions().all.reduce((total, one) => total + of(one), 0);
    const byTask = () => this.#byTask();
    new Counter({
      name: "worker_jobs_total",
      help: "Jobs that this worker has ended, by task and result",
      labelNames: ["task", "result"] as const,
      registers,
      collect() {
        this.reset();
        for (const [task, tallies] of byTask()) {
          for (const result of ["done", "failed", "skipped"] as const) {
            const total = tallies.reduce((sum, tally) => sum + tally[result], 0);
            this.inc({ task, result }, total);
          }
        }
      },
    });
    const gauge = (name: string, help: string, value: () => number | null) =>
      new Gauge({
        ...{ name, help, registers },
        collect() {
          const now = value();
          if (now === null) this.remove();
          else this.set(now);
        },
      });
    gauge("worker_slots", "The most jobs that this worker runs at once", () => concurrency.value);
    gauge(
      "worker_running_jobs",
      "Jobs that run in this worker now",
      sum(({ running }) => running.length),
    );
    gauge(
      "worker_local_queue_jobs",
      "Jobs that this worker has fetched and that wait for a slot",
      sum(({ waiting }) => waiting),
    );
    const ignoring =
      "Jobs whose code still runs although their signal has aborted and the grace is over";
    gauge("worker_jobs_ignoring_signal", ignoring, ignoringSignal);
    gauge(
      "worker_heartbeat_age_seconds",
      "Seconds since the last successful heartbeat of this worker",
      () => {
        const ageMs = heartbeatAgeMs();
        return ageMs === null ? null : ageMs / 1_000;
      },
    );
    register(registry, {
      name: "worker_job_duration_seconds",
      help: "From a job's start to its end, by task",
      series: () =>
        [...byTask()].map(([task, tallies]) => ({
          labels: { task },
          durations: tallies.flatMap(({ timing }) => timing?.runs ?? []),
        })),
    });
    register(registry, {
      name: "worker_fetch_latency_seconds",
      help: "From the moment at which a job was due, or was added if later, to its fetch by this worker",
      series: () => [{ labels: {}, durations: [this.#waits] }],
    });
    return registry;
  }

  /** Returns the tallies by the value of the label `task`. */
  #byTask(): ReadonlyMap<string, readonly TaskTally[]> {
    const names = [...this.#source.tasks.keys()];
    const own = new Set(names.length > MAX_TASKS ? names.slice(0, MAX_TASKS - 1) : names);
    const entries = [...this.#source.tasks];
    const grouped = Map.groupBy(entries, ([name]) => (own.has(name) ? name : OTHERS));
    return new Map([...grouped].map(([label, all]) => [label, all.map(([, { tally }]) => tally)]));
  }
}

interface HistogramParts {
  readonly name: string;
  readonly help: string;
  series(): readonly { readonly labels: object; readonly durations: readonly Durations[] }[];
}

// For each observation, prom-client's own histogram costs more than a short job. The registry prints what a metric's
// get() returns, so an object with get() replaces the histogram.
function register(registry: Registry, { name, help, series }: HistogramParts): void {
  const get = async () => ({
    ...{ name, help, type: "histogram", aggregator: "sum" },
    values: series().flatMap(({ labels, durations }) => bucketsOf(name, labels, durations)),
  });
  registry.registerMetric({ name, get } as unknown as Parameters<Registry["registerMetric"]>[0]);
}

function bucketsOf(name: string, labels: object, durations: readonly Durations[]) {
  let count = 0;
  const buckets = [...BOUNDS, "+Inf"].map((le, index) => {
    for (const { counts } of durations) count += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  const sum = durations.reduce((total, { sumSeconds }) => total + sumSeconds, 0);
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
