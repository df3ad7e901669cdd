// The destination of an export: a file or standard output, with backpressure.
import { once } from "node:events";
import { open } from "node:fs/promises";
import { InputError, messageOf } from "../../base/errors.ts";
import { printable } from "./printable.ts";

/** The destination. Its disposal closes a file, but not standard output. */
export interface ExportOutput extends AsyncDisposable {
  /**
   * Writes a piece of the export. Throws InputError if the file cannot be written; the file then keeps only whole
   * pieces, if possible. For standard output, resolves when there is room for another piece, or when `signal` aborts.
   */
  write(piece: string | Uint8Array, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the file, or standard output if `file` is `-`. `appends`: whether the file keeps its contents. Throws
 * InputError if the file cannot be opened.
 */
export async function exportOutput(file: string, appends = false): Promise<ExportOutput> {
  if (file === "-") return standardOutput();
  const out = await open(file, appends ? "a" : "w").catch(refuse);
  let { size } = await out.stat();
  return {
    async write(piece) {
      try {
        await out.appendFile(piece);
      } catch (error) {
        // truncate() fails for a pipe or a device.
        await out.truncate(size).catch(() => {});
        refuse(error);
      }
      size += Buffer.byteLength(piece);
    },
    async [Symbol.asyncDispose]() {
      await out.close().catch(refuse);
    },
  };
}

function refuse(error: unknown): never {
  const message = `cannot be written: ${messageOf(error)}`;
  throw new InputError([{ path: "output", message }]);
}

// After an error of standard output, watchOutput() in print.ts ends the process.
function standardOutput(): ExportOutput {
  const { stdout } = process;
  return {
    async write(piece, signal) {
      const shown = stdout.isTTY ? harmless(Buffer.from(piece).toString()) : piece;
      if (!stdout.write(shown)) await once(stdout, "drain", { signal }).catch(() => {});
    },
    async [Symbol.asyncDispose]() {},
  };
}

const harmless = (text: string) => text.split(/\r?\n/).map(printable).join("\n");
