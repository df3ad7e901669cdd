// worker watch: shows the queue live in the terminal until q, Ctrl-C or a signal. The `notes` of the command describe
// the output without a terminal and with --json.
import { once } from "node:events";
import { wait } from "../../../base/clock.ts";
import { InputError, WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { span } from "../../arguments/values.ts";
import { liveScreen } from "../../output/live-screen.ts";
import { print, printFailureJson, printJson } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import { stoppable } from "../../shell/signals.ts";
import type { ScreenData } from "./watch-screen.ts";

const MIN_MS = 500;

export const watchCommand = defineCommand({
  name: "watch",
  describe: "Show the queue live: jobs by condition, incidents, the busiest tasks",
  options: { interval: { ...span("Refresh interval"), fallback: "2s" } },
  notes:
    "Without a terminal the command shows one screen and ends. With --json the command writes a line at each interval until a signal stops it, with counts as in GET api/counts and incidents as in GET api/incidents.",
  run: async ({ interval = 2_000, ...args }) => {
    if (interval < MIN_MS) {
      throw new InputError([{ path: "interval", message: "must be at least 500ms" }]);
    }
    await withConnection(args, ({ database }) =>
      stoppable(async (signal) => {
        const read = await reader(database);
        if (args.json) return jsonLines(read, interval, signal);
        if (!process.stdout.isTTY) {
          for (const line of await textOf(await read())) print(line);
          return undefined;
        }
        return onTerminal(read, interval, signal);
      }),
    );
    return undefined;
  },
});

type ScreenReader = () => Promise<ScreenData>;

/**
 * Returns a function that reads the data of a screen. Each call reads a new snapshot. After a slow read of the
 * incidents, calls return the same incidents for some time (database/cached.ts).
 */
async function reader(database: Database): Promise<ScreenReader> {
  const { createSampler } = await import("../../../insight/snapshot/sampler.ts");
  const { createInsight } = await import("../../../insight/insight.ts");
  const { readNames } = await import("../../../insight/stats/queue-rows.ts");
  const sampler = createSampler(database);
  const insight = createInsight(database);
  return async () => {
    const snapshot = await sampler.pulse();
    const incidents = await insight.incidents().catch((error: unknown) => {
      if (error instanceof WorkerError && error.code === "database_timeout") return null;
      throw error;
    });
    const ids = [...snapshot.names.tallies.tasks.keys()].slice(0, MAX_NAMES);
    const taskNames = await readNames(database, "task", ids);
    return { snapshot, incidents, taskNames, schema: database.schema.name };
  };
}

const MAX_NAMES = 1_000;

async function textOf(shown: ScreenData, rows = 200, columns = 400): Promise<string[]> {
  const { screenOf } = await import("./watch-screen.ts");
  return screenOf(shown, rows, columns);
}

async function onTerminal(
  read: ScreenReader,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  await using screen = liveScreen(signal);
  const ended = once(screen.ended, "abort").then(() => null);
  while (!screen.ended.aborted) {
    try {
      // In raw mode, Ctrl-C is a key and sends no signal to this process. At q or Ctrl-C, the screen aborts
      // `screen.ended`. Because of this race, the command ends even while read() waits for the server.
      const shown = await Promise.race([read(), ended]);
      if (shown === null) return;
      screen.show(await textOf(shown, screen.rows, screen.columns));
    } catch (error) {
      // The server may only be restarting, so the last screen stays.
      if (!(error instanceof WorkerError)) throw error;
      screen.showStatus(error.message);
    }
    await wait(intervalMs, screen.ended);
  }
}

async function jsonLines(
  read: ScreenReader,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { countsJson } = await import("../../../insight/json/counts-json.ts");
  const { incidentsJson } = await import("../../../insight/json/insight-json.ts");
  let hasRead = false;
  do {
    try {
      const { snapshot, incidents } = await read();
      const json = incidents === null ? null : incidentsJson(incidents);
      printJson(`{"counts":${countsJson(snapshot)},"incidents":${JSON.stringify(json)}}`);
      hasRead = true;
    } catch (error) {
      // If the first reading fails, the command fails. After a WorkerError of a later reading, the command continues,
      // because the server may only be restarting.
      if (!hasRead || !(error instanceof WorkerError)) throw error;
      printFailureJson({ error: error.message, code: error.code });
    }
  } while (await wait(intervalMs, signal));
}
