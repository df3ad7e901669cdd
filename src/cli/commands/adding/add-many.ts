// worker add-many: adds one job for each line of a file, all of them or none.
import { open, stat } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { InputError, messageOf } from "../../../base/errors.ts";
import type { JobToAdd } from "../../../domain/job-spec.ts";
import { countText } from "../../../domain/words.ts";
import type { CopyResult } from "../../../queue/add/copy-jobs.ts";
import { required, text } from "../../arguments/values.ts";
import { trailOf, typedBy } from "../../operations/typed-by.ts";
import { print, printJson, printProgress } from "../../output/print.ts";
import { type CommandConnection, withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import { StoppedError, stoppable } from "../../shell/signals.ts";

export const addManyCommand = defineCommand({
  name: "add-many",
  describe: "Add one job for each line of a JSON Lines file, all of them or none",
  positionals: {
    file: required(text("JSON Lines file; - reads standard input", { form: "path" })),
  },
  notes: `\
A line is {"task": "mail", "payload": {…}}. It can also have queue, run_at (a time, "+10m" or "in 2h"),
priority, max_attempts, key, key_mode, retry, deadline, unique, debounce and flags. Payloads are kept
byte for byte. If a line is invalid, it is reported with its number, and nothing is added. The file can
have any number of lines. Jobs with keys are added more slowly: a job may already have the key.`,
  run: async ({ file, ...args }) => {
    const copied = await withConnection(args, (connection) =>
      stoppable((signal) => addLines(connection, file, signal)),
    );
    if (args.json) printJson(JSON.stringify(copied));
    else print(sentenceOf(copied));
    return undefined;
  },
});

const PIECE_BYTES = 64 * 1024;

/**
 * The line numbers of the latest jobs are kept, at most this many, because an error names a job by its place in the
 * list of jobs. copyKeyedJobs() checks fewer jobs at once, so the line of a rejected job is still known.
 */
const KNOWN_LINES = 4_096;

function sentenceOf({ added, replaced }: CopyResult): string {
  const done = `Added ${countText(added, "job")}`;
  if (replaced === 0) return done;
  const lines = countText(replaced, "line");
  return `${done}; ${lines} updated or kept a job of the same key`;
}

async function addLines(
  connection: CommandConnection,
  file: string,
  signal: AbortSignal,
): Promise<CopyResult> {
  const { copyKeyedJobs } = await import("../../../queue/add/copy-jobs.ts");
  const { databaseTime } = await import("../../../queue/cron/database-time.ts");
  const { assertTakesWrites } = await import("../../../database/inspect/read-only-server.ts");
  const { inLines, jobOfLine, lineBlocks } = await import("./job-lines.ts");
  const { database, pool } = connection;
  await assertTakesWrites(database);
  const nowMs = await databaseTime(database);
  const lines = new Float64Array(KNOWN_LINES);
  const progress = await progressOf(file);
  let count = 0;
  const jobs = async function* (): AsyncGenerator<JobToAdd> {
    for await (const block of lineBlocks(chunksOf(file, signal, progress.read))) {
      if (signal.aborted) throw stoppedError(signal);
      progress.show(count);
      for (const [at, line] of block.lines.entries()) {
        if (line.trim() === "") continue;
        lines[count % KNOWN_LINES] = block.first + at;
        count += 1;
        yield jobOfLine(block.first + at, line, nowMs);
      }
    }
  };
  try {
    // All lines are added in one transaction. The time limit of `database` is too short for the transaction of a large
    // file. `pool` has no such limit.
    const copied = await copyKeyedJobs({ ...database, client: pool }, jobs());
    await trailOf(connection).record(entryOf(file, copied));
    return copied;
  } catch (error) {
    throw inLines(error, (job) => lines[job % KNOWN_LINES] ?? 0);
  } finally {
    progress.end();
  }
}

const stoppedError = (signal: AbortSignal) =>
  new StoppedError(signal, "stopped: nothing was added");

async function* chunksOf(
  file: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    // Standard input may pause for long. The signal ends the reading without waiting for more input.
    for await (const chunk of file === "-"
      ? addAbortSignal(signal, process.stdin)
      : piecesOf(file)) {
      onBytes(chunk.length);
      yield chunk;
    }
  } catch (error) {
    if (signal.aborted) throw stoppedError(signal);
    throw new InputError([{ path: "<file>", message: `cannot be read: ${messageOf(error)}` }]);
  }
}

/**
 * Yields pieces of the file. Each piece is valid until the next is requested, because all use one buffer. A new buffer
 * for each piece, as in a stream, would make the read much slower.
 */
async function* piecesOf(file: string): AsyncGenerator<Uint8Array> {
  await using handle = await open(file);
  const memory = Buffer.allocUnsafe(PIECE_BYTES);
  for (;;) {
    const { bytesRead } = await handle.read(memory, 0, PIECE_BYTES, null);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
  }
}

async function progressOf(file: string) {
  const facts = file === "-" ? null : await stat(file).catch(() => null);
  const size = facts?.isFile() === true ? facts.size : 0;
  let bytes = 0;
  return {
    read: (more: number) => {
      bytes += more;
    },
    show: (count: number) => {
      const part = size === 0 ? "" : ` (${Math.floor((bytes / size) * 100)} % of the file)`;
      printProgress(`${countText(count, "job")} read${part}`);
    },
    end: () => printProgress(null),
  };
}

function entryOf(file: string, copied: CopyResult) {
  const count = copied.added + copied.replaced;
  return {
    ...typedBy(),
    action: "add-many",
    query: null,
    ids: null,
    key: null,
    workers: null,
    operationId: null,
    changes: { file: file === "-" ? "standard input" : file },
    before: null,
    after: null,
    requested: count,
    done: count,
    message: sentenceOf(copied),
  };
}
