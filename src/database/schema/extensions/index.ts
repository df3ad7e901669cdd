// The list of extensions; extension.ts describes what an extension is. A new extension is a new entry of this list and
// an SQL file. A new version of an extension is another SQL file at the end of the entry's `steps`.
import controls from "./controls.sql";
import { type Extension, extension } from "./extension.ts";
import limits from "./limits.sql";
import operations from "./operations.sql";
import operations2 from "./operations-2.sql";
import operations3 from "./operations-3.sql";
import operations4 from "./operations-4.sql";
import schedules from "./schedules.sql";
import workers from "./workers.sql";
import workers2 from "./workers-2.sql";
import workers3 from "./workers-3.sql";

export const extensions: readonly Extension[] = [
  extension({
    name: "workers",
    provides: "worker heartbeats",
    added: "always",
    steps: [workers, workers2, workers3],
  }),
  extension({
    name: "operations",
    provides: "operations by query, undo and the audit trail",
    added: "on request",
    steps: [operations, operations2, operations3, operations4],
  }),
  extension({
    name: "controls",
    provides: "pauses and cancels",
    added: "on request",
    steps: [controls],
  }),
  extension({
    name: "schedules",
    provides: "schedules: cron entries that can be changed while workers run",
    added: "on request",
    steps: [schedules],
  }),
  extension({
    name: "limits",
    provides: "limits of concurrency and rate, throttles and back-offs",
    added: "on request",
    needs: ["workers", "controls"],
    steps: [limits],
  }),
];
