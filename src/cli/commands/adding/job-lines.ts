// Parses JSON Lines into jobs, with the field names of the HTTP API, of the library or of Graphile Worker.
import { isUtf8 } from "node:buffer";
import { InputError, type Problem } from "../../../base/errors.ts";
import { jsonMembers } from "../../../base/json-members.ts";
import type { JobSpec, JobToAdd } from "../../../domain/job-spec.ts";
import { RawJson } from "../../../domain/payload.ts";
import { InvalidValue } from "../../arguments/refusals.ts";
import { moment, momentText } from "../../arguments/times.ts";

const MAX_LINE_LENGTH = 16 * 1024 * 1024;
const BUFFER_BYTES = 128 * 1024;

const NEWLINE = 10;

/** Lines that were read together, including blank lines. */
export interface LineBlock {
  /** The number of the first line. */
  readonly first: number;
  readonly lines: readonly string[];
}

/** Yields the lines of a stream in blocks. Throws InputError for a line that is too long or not UTF-8. */
export async function* lineBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LineBlock> {
  let buffer: Buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let length = 0;
  let first = 1;
  for await (const chunk of chunks) {
    if (length + chunk.length > buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (length + chunk.length));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.set(chunk, length);
    length += chunk.length;
    const end = buffer.subarray(0, length).lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const lines = textOf(buffer.subarray(0, end - 1), first).split("\n");
      buffer.copyWithin(0, end, length);
      length -= end;
      yield { first, lines };
      first += lines.length;
    }
    if (length > MAX_LINE_LENGTH) throw atLine(first, "is longer than 16 MiB");
  }
  yield { first, lines: [textOf(buffer.subarray(0, length), first)] };
}

/** Decodes lines. Throws InputError for invalid UTF-8, which Node would replace. */
function textOf(bytes: Buffer, first: number): string {
  if (isUtf8(bytes))
    return first === 1 ? bytes.toString().replace(/^\uFEFF/, "") : bytes.toString();
  let number = first;
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    if (!isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
    number += 1;
  }
  throw atLine(number, "is not UTF-8");
}

/** Returns an error that names the line and, if it is given, the field. */
export function atLine(number: number, message: string, field = ""): InputError {
  const path = field === "" ? `line ${number}` : `line ${number}, ${field}`;
  return new InputError([{ path, message }]);
}

type Field = "identifier" | "payload" | keyof JobSpec;

const fields: Readonly<Record<string, Field>> = {
  identifier: "identifier",
  task: "identifier",
  task_identifier: "identifier",
  taskIdentifier: "identifier",
  payload: "payload",
  queue: "queueName",
  queue_name: "queueName",
  queueName: "queueName",
  run_at: "runAt",
  runAt: "runAt",
  max_attempts: "maxAttempts",
  maxAttempts: "maxAttempts",
  key: "jobKey",
  job_key: "jobKey",
  jobKey: "jobKey",
  job_key_mode: "jobKeyMode",
  key_mode: "jobKeyMode",
  jobKeyMode: "jobKeyMode",
  priority: "priority",
  flags: "flags",
  retry: "retry",
  deadline: "deadline",
  unique: "unique",
  debounce: "debounce",
};

/** Fields of the HTTP API that are members of `unique` and `debounce` in the library. */
const parts: Readonly<Record<string, readonly ["unique" | "debounce", string]>> = {
  unique_by: ["unique", "by"],
  unique_while: ["unique", "while"],
  unique_period_secs: ["unique", "periodMs"],
  debounce_secs: ["debounce", "waitMs"],
  debounce_max_secs: ["debounce", "maxWaitMs"],
};

function setPart(
  spec: Record<string, unknown>,
  [option, name]: readonly [string, string],
  value: unknown,
): void {
  const dashed = typeof value === "string" ? value.replaceAll("-", "_") : value;
  const inLibrary = typeof value === "number" ? Math.round(value * 1_000) : dashed;
  spec[option] = { ...Object(spec[option]), [name]: inLibrary };
}

/** Returns the job of one line. `nowMs`: the time by the database's clock. Throws InputError. */
export function jobOfLine(number: number, line: string, nowMs: number): JobToAdd {
  const spec: Record<string, unknown> = {};
  let identifier: unknown;
  let payload: unknown;
  for (const [name, text] of membersOf(number, line)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (field === undefined && part === undefined)
      throw atLine(number, `unknown field "${name.slice(0, 64)}"`);
    if (field === "payload") {
      // The line has already been checked to be UTF-8 and JSON.
      payload = new RawJson(text);
      continue;
    }
    const value: unknown = JSON.parse(text);
    if (value === null) continue;
    if (field === "identifier") identifier = value;
    else if (part !== undefined) setPart(spec, part, value);
    else if (field !== undefined) spec[field] = valueIn(field, value, { number, name, nowMs });
  }
  // copyKeyedJobs() refuses an identifier that is not a string.
  const job = { identifier: identifier as string, payload };
  return Object.keys(spec).length === 0 ? job : { ...job, spec };
}

function membersOf(number: number, line: string): ReadonlyMap<string, string> {
  try {
    return jsonMembers(line);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const [first] = error.problems;
    throw atLine(number, (first?.message ?? error.message).replace(/^the body /, ""), first?.path);
  }
}

interface LineContext {
  readonly number: number;
  readonly name: string;
  readonly nowMs: number;
}

function valueIn(field: Field, value: unknown, { number, name, nowMs }: LineContext): unknown {
  if (typeof value !== "string") return value;
  if (field === "jobKeyMode") return value.replaceAll("-", "_");
  if (field !== "runAt" && field !== "deadline") return value;
  try {
    const when = moment(value);
    if (when === "now") return field === "runAt" ? undefined : new Date(nowMs);
    return momentText(when, nowMs);
  } catch (error) {
    if (error instanceof InvalidValue) throw atLine(number, error.message, name);
    throw error;
  }
}

/**
 * Returns an InputError with only its first ten problems, in which `line N` replaces `jobs[n]`. Returns other errors
 * unchanged.
 */
export function inLines(error: unknown, lineOf: (job: number) => number): unknown {
  if (!(error instanceof InputError)) return error;
  const moved = ({ path, message }: Problem): Problem => {
    const [, job, field = ""] = /^jobs\[(\d+)\](?:\.(?:spec\.)?(.*))?$/.exec(path) ?? [];
    if (job === undefined) return { path, message };
    const number = lineOf(Number(job));
    return { path: field === "" ? `line ${number}` : `line ${number}, ${field}`, message };
  };
  return new InputError(error.problems.slice(0, 10).map(moved));
}
