// worker sweep: frees the jobs of workers that stopped sending heartbeats.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface SweepArguments extends GlobalArguments {
  threshold: number | undefined;
  delay: number | undefined;
  dryRun: boolean;
}

export const sweepCommand: Command<SweepArguments> = {
  command: "sweep",
  describe: "Free the jobs of dead workers",
  builder: (yargs) =>
    yargs.options({
      threshold: { type: "number", requiresArg: true, describe: "Seconds without a heartbeat" },
      delay: { type: "number", requiresArg: true, describe: "Seconds before freed jobs run again" },
      "dry-run": { type: "boolean", default: false, describe: "Only say what it would do" },
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print } = await import("./output.ts");
    const swept = await withUtils(args, (utils) =>
      utils.sweepStaleWorkers({
        sweepThreshold_s: args.threshold,
        recoveryDelay_s: args.delay,
        dryRun: args.dryRun,
      }),
    );
    if (args.json) return print(JSON.stringify(swept));
    const would = args.dryRun ? "Would free" : "Freed";
    print(`${would} ${swept.recoveredJobs} jobs`);
    print(`Stale workers: ${swept.staleWorkers.join(", ") || "none"}`);
    print(`Locks without a worker: ${swept.orphanWorkers.join(", ") || "none"}`);
  },
};
