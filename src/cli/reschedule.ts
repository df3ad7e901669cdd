// worker reschedule: a new time, priority or attempt budget for unlocked jobs.
import type { Command } from "./command.ts";
import { actedSentence, type IdsArguments, withIds } from "./ids.ts";

interface RescheduleArguments extends IdsArguments {
  runAt: string | undefined;
  priority: number | undefined;
  attempts: number | undefined;
  maxAttempts: number | undefined;
}

export const rescheduleCommand: Command<RescheduleArguments> = {
  command: "reschedule <ids..>",
  describe: "Change when and how often unlocked jobs run",
  builder: (yargs) =>
    withIds(yargs).options({
      "run-at": { type: "string", requiresArg: true, describe: 'RFC 3339 time, or "now"' },
      priority: { type: "number", requiresArg: true, describe: "Lower runs earlier" },
      attempts: { type: "number", requiresArg: true, describe: "Attempts used so far" },
      "max-attempts": { type: "number", requiresArg: true, describe: "Attempts before it fails" },
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { printActed } = await import("./output.ts");
    const jobs = await withUtils(args, (utils) =>
      utils.rescheduleJobs(args.ids, {
        runAt: args.runAt,
        priority: args.priority,
        attempts: args.attempts,
        maxAttempts: args.maxAttempts,
      }),
    );
    printActed(actedSentence("Rescheduled", jobs, args.ids), jobs, args.json);
  },
};
