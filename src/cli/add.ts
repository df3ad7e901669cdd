// worker add: one job, payload byte for byte as typed.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface AddArguments extends GlobalArguments {
  identifier: string;
  payload: string | undefined;
  queue: string | undefined;
  runAt: string | undefined;
  priority: number | undefined;
  maxAttempts: number | undefined;
  key: string | undefined;
  keyMode: "replace" | "preserve_run_at" | "unsafe_dedupe" | undefined;
  flag: string[] | undefined;
}

export const addCommand: Command<AddArguments> = {
  command: "add <identifier> [payload]",
  describe: "Add a job",
  builder: (yargs) =>
    yargs
      .positional("identifier", { type: "string", demandOption: true, describe: "Task identifier" })
      .positional("payload", { type: "string", describe: "JSON text; - reads standard input" })
      .options({
        queue: { type: "string", requiresArg: true, describe: "Named queue: one at a time" },
        "run-at": { type: "string", requiresArg: true, describe: "Not before (RFC 3339)" },
        priority: { type: "number", requiresArg: true, describe: "Lower runs earlier" },
        "max-attempts": { type: "number", requiresArg: true, describe: "Attempts before it fails" },
        key: { type: "string", requiresArg: true, describe: "Job key" },
        "key-mode": {
          choices: ["replace", "preserve_run_at", "unsafe_dedupe"] as const,
          describe: "What happens to an unlocked job with the same key",
        },
        flag: { type: "string", array: true, requiresArg: true, describe: "Flag (repeatable)" },
      }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { rawJson } = await import("../domain/payload.ts");
    const { printActed } = await import("./output.ts");
    // yargs turns a lone dash into an empty text.
    const isDash = args.payload === "" && process.argv.includes("-");
    const text = isDash ? await standardInput() : args.payload;
    const payload = text === undefined ? undefined : rawJson(text);
    const job = await withUtils(args, (utils) =>
      utils.addJob(args.identifier, payload, {
        queueName: args.queue,
        runAt: args.runAt,
        priority: args.priority,
        maxAttempts: args.maxAttempts,
        jobKey: args.key,
        jobKeyMode: args.keyMode,
        flags: args.flag,
      }),
    );
    printActed(`Added job ${job.id} (${job.state})`, [job], args.json);
  },
};

// As much as the admin takes in one body.
const LONGEST_INPUT_BYTES = 1024 * 1024;

async function standardInput(): Promise<string> {
  const { InputError } = await import("../base/errors.ts");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > LONGEST_INPUT_BYTES) throw new InputError("the payload is longer than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
