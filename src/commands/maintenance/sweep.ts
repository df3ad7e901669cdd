// Declares the action `sweep`, which recovers the jobs of workers that are not responding. sweep-stale-workers.ts
// implements it.
import { countText, numberText } from "../../domain/words.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { duration, flag, optional } from "../declare/field.ts";
import { maintenanceAction } from "./maintenance-action.ts";
import { sweepStaleWorkers } from "./sweep-stale-workers.ts";

export const sweepCommand = defineCommand({
  name: "sweep",
  aliases: ["sweep-stale-workers"],
  summary: "Recover the jobs of workers that are not responding",
  title: "Sweep workers that are not responding",
  verb: "Sweep",
  consequence:
    "Workers that are not responding are removed, and their jobs can run again after the delay. The same applies to a worker without heartbeats, such as a Graphile worker, whose newest lock is older than the threshold, even if the worker still runs.",
  weight: "heavy",
  danger: "destroys",
  http: maintenanceAction("sweep-stale-workers"),
  positionals: [],
  fields: {
    sweep_threshold_secs: optional(
      duration([
        "No heartbeat for",
        "seconds without a heartbeat after which a worker counts as not responding",
      ]),
      { default: "300", option: "threshold", optionAliases: ["sweep-threshold"] },
    ),
    recovery_delay_secs: optional(
      duration(["Recovery delay", "seconds before recovered jobs can run again"]),
      { default: "30", option: "delay", optionAliases: ["recovery-delay"] },
    ),
    dry_run: optional(flag(["Dry run", "only show what would be recovered"]), { default: "false" }),
  },
  dialogFields: ["sweep_threshold_secs", "recovery_delay_secs"],
  dialog: "sweep",
  examples: ["worker sweep --dry-run", "worker sweep --threshold 10m --yes"],
  answer: {
    dry_run: "boolean",
    stale_workers: "string[]",
    unknown_workers: "string[]",
    spared_workers: "string[]",
    unswept_workers: "string[]",
    refused_jobs: "string[]",
    locked_jobs: "integer",
    recoverable_jobs: "integer",
    recovered_jobs: "integer",
  },
  isPreview: (input) => input.dry_run === true,
  run: (db, input) =>
    sweepStaleWorkers(db, {
      sweepThresholdMs: inMs(input.sweep_threshold_secs),
      recoveryDelayMs: inMs(input.recovery_delay_secs),
      dryRun: input.dry_run,
    }),
  sentence: (result) => {
    const { staleWorkers, unknownWorkers, sparedWorkers, dryRun } = result;
    const all = staleWorkers.length + unknownWorkers.length;
    const workers = countText(all, "worker");
    // Workers without heartbeats may be busy rather than stale, so they are counted separately.
    const unknown = unknownWorkers.length;
    const withoutHeartbeats = unknown === 0 ? "" : ` (${unknown} without heartbeats)`;
    const spared = sparedWorkers.length;
    const rest = spared === 0 ? "" : `; ${spared} skipped because of a longer threshold`;
    if (dryRun) {
      return `Would recover ${countText(result.recoverableJobs, "job")} of ${workers}${withoutHeartbeats}${rest}`;
    }
    const left = result.unsweptWorkers.length;
    const swept = left === 0 ? workers : `${numberText(all - left)} of ${workers}`;
    const refused = result.refusedJobs.length;
    const [first] = result.refusedJobs;
    const example = refused > 1 ? `, such as ${first}` : ` ${first}`;
    const stays =
      refused > 0
        ? `; PostgreSQL refuses to unlock ${refused > 1 ? countText(refused, "job") : "job"}${example}`
        : "";
    return `Swept ${swept}${withoutHeartbeats}; ${countText(result.recoveredJobs, "job")} recovered${stays}${rest}`;
  },
  isPartial: ({ unsweptWorkers, refusedJobs }) => unsweptWorkers.length + refusedJobs.length > 0,
  workerIds: ({ staleWorkers, unknownWorkers }) => [...staleWorkers, ...unknownWorkers],
  members: (result) =>
    jsonOf({
      dry_run: result.dryRun,
      stale_workers: result.staleWorkers,
      unknown_workers: result.unknownWorkers,
      spared_workers: result.sparedWorkers,
      unswept_workers: result.unsweptWorkers,
      refused_jobs: result.refusedJobs,
      locked_jobs: result.lockedJobs,
      recoverable_jobs: result.recoverableJobs,
      recovered_jobs: result.recoveredJobs,
    }),
});

/** Fields are in seconds, options of the library in milliseconds. */
function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
