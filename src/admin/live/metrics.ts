// Numbers for Prometheus: requests by route, jobs by state, and the process. prom-client is loaded
// when a server starts, not when this file is imported.
import type { Registry } from "prom-client";
import type { JobCounts } from "../../queue/read/count-jobs.ts";

export interface Metrics {
  /** `route` is the row's path, never what the client sent: the number of series is bounded. */
  observe(method: string, route: string, status: number, durationMs: number): void;
  /** What became of credentials that somebody has sent. */
  countLogin(result: "accepted" | "wrong" | "throttled"): void;
  /** The exposition; `unknown`: the database is there but could not count in time. */
  expose(counts: JobCounts | "away" | "unknown", viewers: number): Promise<string>;
  readonly contentType: string;
}

const methods = new Set(["GET", "HEAD", "POST"]);

// What is measured of the process is measured once, however many servers it runs or has run.
let ofProcess: Registry | undefined;

export async function createMetrics(): Promise<Metrics> {
  const { default: prometheus } = await import("prom-client");
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = prometheus;
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  const processMetrics = ofProcess;
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: "worker_admin_http_request_duration_seconds",
    help: "Time from a request's headers to its answer, by route",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10],
    registers,
  });
  const logins = new Counter({
    name: "worker_admin_logins_total",
    help: "Requests with credentials, by what became of them",
    labelNames: ["result"] as const,
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
    help: "1 when the database could be reached for this scrape",
    registers,
  });
  const streams = new Gauge({
    name: "worker_admin_event_streams",
    help: "Event streams open now",
    registers,
  });

  return {
    observe(method, route, status, durationMs) {
      const labels = { method: methods.has(method) ? method : "other", route, status };
      requests.observe(labels, durationMs / 1_000);
    },
    countLogin: (result) => logins.inc({ result }),
    async expose(counts, viewers) {
      up.set(counts === "away" ? 0 : 1);
      streams.set(viewers);
      // Old counts would look like news.
      jobs.reset();
      if (typeof counts === "object") {
        const { ready, scheduled, locked, failed } = counts;
        for (const [state, n] of Object.entries({ ready, scheduled, locked, failed })) {
          jobs.set({ state }, n);
        }
      }
      return `${await processMetrics.metrics()}\n${await registry.metrics()}`;
    },
    contentType: registry.contentType,
  };
}
