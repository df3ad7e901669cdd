// GET /api/events: `overview` events with the JSON of /api/overview whenever it has changed, and
// `problem` events with an Error while it cannot be read.
import type { Operation } from "../context/admin.ts";

export const watchEvents: Operation = {
  summary: "Server-sent events: overview (as GET /api/overview) and problem (an Error)",
  answer: "text/event-stream",
  run: ({ overview }, request) => overview.watch(request),
};
