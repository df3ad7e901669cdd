// Numbers for Prometheus: requests by route, jobs by state, and the process. prom-client is loaded
// when a server starts, not when this file is imported.
import type { JobCounts } from "../queue/count-jobs.ts";

export interface Metrics {
  /** `route` is the row's path, never what the client sent: the number of series is bounded. */
  observe(method: string, route: string, status: number, duration_ms: number): void;
  /** The exposition; `counts` is null when the database does not answer. */
  expose(counts: JobCounts | null, viewers: number): Promise<string>;
  readonly contentType: string;
}

const methods = new Set(["GET", "HEAD", "POST"]);

export async function createMetrics(): Promise<Metrics> {
  const { collectDefaultMetrics, Gauge, Histogram, Registry } = (await import("prom-client"))
    .default;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "worker_admin_http_request_duration_seconds",
    help: "Time from a request's headers to its answer, by route",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10],
    registers,
  });
  const jobs = new Gauge({
    name: "worker_jobs",
    help: "Jobs by state",
    labelNames: ["state"] as const,
    registers,
  });
  const up = new Gauge({
    name: "worker_database_up",
    help: "1 when the database answered this scrape",
    registers,
  });
  const streams = new Gauge({
    name: "worker_admin_event_streams",
    help: "Event streams open now",
    registers,
  });

  return {
    observe(method, route, status, duration_ms) {
      const labels = { method: methods.has(method) ? method : "other", route, status };
      requests.observe(labels, duration_ms / 1_000);
    },
    expose(counts, viewers) {
      up.set(counts === null ? 0 : 1);
      streams.set(viewers);
      // Old counts would look like news.
      jobs.reset();
      if (counts !== null) {
        const { ready, scheduled, locked, failed } = counts;
        for (const [state, n] of Object.entries({ ready, scheduled, locked, failed })) {
          jobs.set({ state }, n);
        }
      }
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
