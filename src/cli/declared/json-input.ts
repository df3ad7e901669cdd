// Reads JSON from an argument, standard input or a file. If the text comes from standard input or a file, a byte order
// mark at its start and a newline at its end are removed. Nothing else in the text is changed.
import { createReadStream } from "node:fs";
import { InputError, messageOf } from "../../base/errors.ts";
import { UsageError } from "../arguments/refusals.ts";

// The same as the admin's default limit for the body of a request.
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * Returns the JSON text; undefined if neither `typed` nor `file` is given. `typed`: the text, or `-` for standard
 * input. `file`: a path, or `-` for standard input. `command` and `key`: the names of the command and of the argument,
 * for errors. Throws UsageError if both `typed` and `file` are given, and InputError if the text cannot be read.
 */
export async function jsonInput(
  typed: unknown,
  file: unknown,
  command: string,
  key: string,
): Promise<string | undefined> {
  if (typed !== undefined && file !== undefined) {
    throw new UsageError(`use either <${key}> or --${key}-file`, command);
  }
  if (typeof file === "string" && file !== "-") return readAll(createReadStream(file), key);
  if (typed === "-" || file === "-") return readAll(process.stdin, key);
  return typed as string | undefined;
}

async function readAll(stream: NodeJS.ReadableStream, key: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) throw new Error("it is longer than 1 MiB");
    }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch (error) {
    const message = `cannot be read: ${messageOf(error)}`;
    throw new InputError([{ path: key, message }]);
  }
}
