// The limits of the demo's worker, as a shop would have them: for a video encoder, a mail provider, and imports.
import type { LimitOptions } from "../../domain/limits/limit.ts";

export const sampleLimits: readonly LimitOptions[] = [
  { name: "encoder", task: "transcode_video", concurrency: 1 },
  { name: "mail", task: "send_email", rate: { limit: 30, perMs: 60_000, burst: 5 } },
  { name: "imports", queue: "imports", concurrency: 2 },
];
