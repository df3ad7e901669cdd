// Where an export goes: a file, or the standard output, at the speed at which it is taken.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { InputError, messageOf } from "../../base/errors.ts";
import { printable } from "./printable.ts";

/** Disposing of it resolves when all of it was given to the system. */
export interface ExportOutput extends AsyncDisposable {
  /** Resolves when there is room for more, or `signal` has aborted. */
  write(piece: string | Uint8Array, signal: AbortSignal): Promise<void>;
}

/**
 * `file`: `-` is the standard output; what a terminal is shown is harmless there. `goesOn`: behind what
 * the file has; default false. Throws InputError when it cannot be written.
 */
export async function exportOutput(file: string, goesOn = false): Promise<ExportOutput> {
  if (file === "-") return standardOutput();
  const out = createWriteStream(file, { flags: goesOn ? "a" : "w" });
  const closed = new Promise<void>((resolve) => out.once("close", resolve));
  let failure: InputError | null = null;
  out.on("error", (error) => {
    const message = `cannot be written: ${messageOf(error)}`;
    failure ??= new InputError([{ path: "output", message }]);
  });
  // Told once: to whoever writes, else to whoever closes.
  const check = () => {
    const told = failure;
    failure = null;
    if (told !== null) throw told;
  };
  await Promise.race([once(out, "open").catch(() => {}), closed]);
  check();
  return {
    async write(piece, signal) {
      check();
      if (!out.write(piece)) await Promise.race([drained(out, signal), closed]);
      check();
    },
    async [Symbol.asyncDispose]() {
      out.end();
      await closed;
      check();
    },
  };
}

// Its errors are told by watchOutput(), which ends the process.
function standardOutput(): ExportOutput {
  const { stdout } = process;
  return {
    async write(piece, signal) {
      const shown = stdout.isTTY ? harmless(Buffer.from(piece).toString()) : piece;
      if (!stdout.write(shown)) await drained(stdout, signal);
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function drained(out: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  await once(out, "drain", { signal }).catch(() => {});
}

const harmless = (text: string) => text.split(/\r?\n/).map(printable).join("\n");
