// The destination of an export: a file or standard output, with backpressure.
import { once } from "node:events";
import { open } from "node:fs/promises";
import { InputError, messageOf } from "../../base/errors.ts";
import { printable } from "./printable.ts";

/** The disposal closes the file. Standard output stays open. */
export interface ExportOutput extends AsyncDisposable {
  /**
   * Resolves when a file has the whole piece; for standard output, when there is room for more, or when `signal` has
   * aborted. Throws InputError if a file cannot be written. The file then ends after the piece before, so that the
   * export can be continued.
   */
  write(piece: string | Uint8Array, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the destination. If `file` is `-`, it is standard output, and control characters are escaped on a terminal.
 * `appends`: whether the file keeps its contents, default false. Throws InputError if the file cannot be opened.
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
        // Perhaps a part of the piece was written. A pipe or a device cannot be cut.
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

// watchOutput() in print.ts handles errors of standard output: it ends the process.
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
