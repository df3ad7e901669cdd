// GET /metrics: the Prometheus exposition. It answers also when the database does not.
import { countJobs } from "../../queue/count-jobs.ts";
import type { Operation } from "../admin.ts";

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async ({ databases, metrics, overview }) => {
    const counts = await countJobs(databases.reads).catch(() => null);
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose(counts, overview.viewers),
    };
  },
};
