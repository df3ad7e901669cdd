// GET /metrics: the metrics for Prometheus, even while the database does not respond.
import { WorkerError } from "../../../base/errors.ts";
import type { Operation } from "../../context/admin.ts";

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async ({ config, feed, metrics }) => {
    const snapshot = await feed
      .snapshot()
      .catch((error: unknown) =>
        error instanceof WorkerError && error.code === "database_unreachable" ? "away" : "unknown",
      );
    const names =
      typeof snapshot === "object"
        ? await feed.largest(snapshot, config.limits.metricsNames)
        : null;
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose({ snapshot, names, feed, pool: config.pool }),
    };
  },
};
