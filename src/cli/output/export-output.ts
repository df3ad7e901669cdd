// The destination of an export: a file or standard output, with backpressure.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { InputError, messageOf } from "../../base/errors.ts";
import { printable } from "./printable.ts";

/** Disposing of it closes the file, and resolves when everything is written to it. Standard output stays open. */
export interface ExportOutput extends AsyncDisposable {
  /** Resolves when there is room for more, or when `signal` has aborted. */
  write(piece: string | Uint8Array, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the destination. `file`: `-` is standard output, where control characters are escaped on a terminal. `appends`:
 * whether the file keeps its contents, default false. If it cannot be opened or written, InputError is thrown.
 */
export async function exportOutput(file: string, appends = false): Promise<ExportOutput> {
  if (file === "-") return standardOutput();
  const out = createWriteStream(file, { flags: appends ? "a" : "w" });
  const closed = new Promise<void>((resolve) => out.once("close", resolve));
  let failure: InputError | null = null;
  out.on("error", (error) => {
    const message = `cannot be written: ${messageOf(error)}`;
    failure ??= new InputError([{ path: "output", message }]);
  });
  // An error is thrown once: below after the opening, by the next write, or by the disposal.
  const check = () => {
    const thrown = failure;
    failure = null;
    if (thrown !== null) throw thrown;
  };
  await Promise.race([once(out, "open").catch(() => {}), closed]);
  check();
  return {
    async write(piece, signal) {
      check();
      if (!out.write(piece)) await Promise.race([waitForDrain(out, signal), closed]);
      check();
    },
    async [Symbol.asyncDispose]() {
      out.end();
      await closed;
      check();
    },
  };
}

// watchOutput() in print.ts handles errors of standard output: it ends the process.
function standardOutput(): ExportOutput {
  const { stdout } = process;
  return {
    async write(piece, signal) {
      const shown = stdout.isTTY ? harmless(Buffer.from(piece).toString()) : piece;
      if (!stdout.write(shown)) await waitForDrain(stdout, signal);
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function waitForDrain(out: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  await once(out, "drain", { signal }).catch(() => {});
}

const harmless = (text: string) => text.split(/\r?\n/).map(printable).join("\n");
