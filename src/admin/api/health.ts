// GET /healthz and /readyz, for probes. They need no login, so their answers contain only states, codes and job ids.
import { WorkerError } from "../../base/errors.ts";
import { Refusal } from "../../http/refusal.ts";
import { json, jsonText } from "../../http/response.ts";
import type { Operation } from "../context/admin.ts";
import { record, withDescription, withOptional } from "../wire/json-schema.ts";

const READ_ONLY = "read_only_server is true on a standby, or when PostgreSQL refuses writes";

const MAX_IDS = 100;
const IGNORING =
  "only with a worker in this process: the ids of its jobs whose code still runs although their signal has aborted and the abort grace is over; at most 100";

export const health: Operation = {
  summary: "200 while the process answers requests",
  answer: withOptional(record({ status: "string" }), {
    jobs_ignoring_signal: withDescription("integer[]", IGNORING),
  }),
  run: ({ config: { jobsIgnoringSignal: ignoring } }) => {
    if (ignoring === undefined) return json({ status: "ok" });
    return jsonText(`{"status":"ok","jobs_ignoring_signal":[${ignoring().slice(0, MAX_IDS)}]}`);
  },
};

export const ready: Operation = {
  summary: "200 when the database answers and the schema is usable, else 503",
  answer: { ...record({ status: "string" }), description: READ_ONLY },
  run: async ({ readiness }) => {
    const { isReadOnlyServer, problem } = await readiness.check();
    if (problem !== null) throw notReady(problem);
    return json({ status: "ready", ...(isReadOnlyServer ? { read_only_server: true } : {}) });
  },
};

/** Returns a refusal with status 503. It contains only the code of the cause, because the route needs no login. */
function notReady(error: unknown): Refusal {
  const reason = error instanceof WorkerError ? error.code : "internal_error";
  return new Refusal(503, "not_ready", "not ready", {
    headers: { "retry-after": "2" },
    members: { reason },
  });
}
