// GET /healthz and /readyz: for probes, open to everybody, without details.
import { Refusal } from "../../http/refusal.ts";
import { json } from "../../http/response.ts";
import type { Operation } from "../context/admin.ts";
import { record } from "../wire/json-schema.ts";

export const health: Operation = {
  summary: "200 while the process can serve",
  answer: record({ status: "string" }),
  run: () => json({ status: "ok" }),
};

export const ready: Operation = {
  summary: "200 when the database answers and the schema is usable, else 503",
  answer: record({ status: "string" }),
  run: async ({ checkReady }) => {
    try {
      await checkReady();
    } catch {
      // The cause is in the log: whoever asks here need not have logged in.
      throw new Refusal(503, "not_ready", "not ready", { headers: { "retry-after": "2" } });
    }
    return json({ status: "ready" });
  },
};
