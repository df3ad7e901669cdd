// GET /metrics: the metrics for Prometheus, also while the database does not answer.
import { WorkerError } from "../../../base/errors.ts";
import type { Operation } from "../../context/admin.ts";

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async ({ config, feed, metrics }) => {
    const known = await feed
      .known()
      .catch((error: unknown) =>
        error instanceof WorkerError && error.code === "database_unreachable" ? "away" : "unknown",
      );
    const names =
      typeof known === "object" ? await feed.largest(known, config.limits.metricsNames) : null;
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose({ known, names, feed, pool: config.pool }),
    };
  },
};
