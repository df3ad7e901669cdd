// GET /metrics: the Prometheus exposition. It answers also when the database does not.
import { WorkerError } from "../../base/errors.ts";
import type { Operation } from "../context/admin.ts";

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async ({ countJobs, metrics, overview }) => {
    const counts = await countJobs().catch((error: unknown) =>
      error instanceof WorkerError && error.code === "database_unreachable" ? "away" : "unknown",
    );
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose(counts, overview.viewers),
    };
  },
};
