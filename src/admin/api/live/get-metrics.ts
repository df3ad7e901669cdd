// GET /metrics: the metrics for Prometheus, even while the database does not respond.
import { WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { readAcknowledgement } from "../../../insight/controls/acknowledgement.ts";
import { listPauses } from "../../../insight/controls/list-pauses.ts";
import type { Operation } from "../../context/admin.ts";
import type { PauseFacts } from "../../feed/exposed.ts";

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async ({ config, databases, feed, metrics, insight }) => {
    const snapshot = await feed
      .snapshot()
      .catch((error: unknown) =>
        error instanceof WorkerError && error.code === "database_unreachable" ? "away" : "unknown",
      );
    const names =
      typeof snapshot === "object"
        ? await feed.largest(snapshot, config.limits.metricsNames)
        : null;
    const limits =
      typeof snapshot === "object"
        ? await orNull(async () => (await insight.limits(async () => snapshot.names)).uses)
        : null;
    const pauses =
      typeof snapshot === "object" ? await orNull(() => pauseFacts(databases.feed)) : null;
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose({ snapshot, names, pauses, limits, feed, pool: config.pool }),
    };
  },
};

async function pauseFacts(db: Database): Promise<PauseFacts> {
  const [list, { waiting }] = await Promise.all([listPauses(db), readAcknowledgement(db)]);
  return { list, waiting };
}

/** null: a statement failed. The other metrics are shown without it. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof WorkerError) return null;
    throw error;
  }
}
