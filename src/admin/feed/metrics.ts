// The metrics for Prometheus: requests by route, logins, failures, the certificate, the state of the queue, the feed,
// and the process. prom-client is loaded when an admin is created, and not when this file is imported.
import type { Registry } from "prom-client";
import type { Certificate } from "../../http/listen/certificate.ts";
import type { MetricsInput } from "./metrics-input.ts";
import { namesText } from "./names-text.ts";
import { createQueueGauges } from "./queue-gauges.ts";

export interface Metrics {
  /**
   * Records a request and its duration. `route` is the path in the route table, or `unmatched`. It is not the path of
   * the request, so that the number of series is bounded.
   */
  observe(method: string, route: string, status: number, durationMs: number): void;
  /** Counts a login or a refused login. `result` must have few values, because each value is a series. */
  login(result: string): void;
  /** Counts a 503 response, a failed read of the feed, or a statement that timed out. `cause` must have few values. */
  degraded(cause: string): void;
  expose(input: MetricsInput): Promise<string>;
  readonly contentType: string;
}

const methods = new Set(["GET", "HEAD", "POST"]);

// The metrics of the process, shared by all admins in it.
let processRegistry: Registry | undefined;

export async function createMetrics(certificate: Certificate | null): Promise<Metrics> {
  const { default: prometheus } = await import("prom-client");
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = prometheus;
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  const processMetrics = processRegistry;
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
    help: "Logins by result",
    labelNames: ["result"] as const,
    registers,
  });
  const degraded = new Counter({
    name: "worker_admin_degraded_total",
    help: "Responses 503, failed reads of the feed, and statements that timed out, by cause",
    labelNames: ["cause"] as const,
    registers,
  });
  if (certificate !== null) {
    new Gauge({
      name: "worker_admin_certificate_expiry_timestamp_seconds",
      help: "When the certificate expires, seconds since 1970; only with TLS",
      registers,
      collect() {
        this.set(certificate.expiresAt.getTime() / 1_000);
      },
    });
  }
  const setQueueGauges = createQueueGauges(Gauge, registry);
  /**
   * Resolves when the latest scrape no longer needs the gauges. All scrapes share the gauges, so the next scrape sets
   * them only after this promise has resolved.
   */
  let turn: Promise<unknown> = Promise.resolve();

  return {
    observe(method, route, status, durationMs) {
      const labels = { method: methods.has(method) ? method : "other", route, status };
      requests.observe(labels, durationMs / 1_000);
    },
    login: (result) => logins.inc({ result }),
    degraded: (cause) => degraded.inc({ cause }),
    async expose(input) {
      const own = turn.then(() => {
        setQueueGauges(input);
        return registry.metrics();
      });
      turn = own.catch(() => {});
      const { snapshot, names } = input;
      const jobsByName =
        typeof snapshot === "object" && names !== null ? namesText(names, snapshot) : "";
      return `${await processMetrics.metrics()}\n${await own}\n${jobsByName}`;
    },
    contentType: registry.contentType,
  };
}
