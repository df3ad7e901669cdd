// Runs an executable file as a task, as Graphile Worker does. The payload is on stdin, and environment variables
// describe the job. The exit code decides the attempt's result (in Graphile Worker, 65 and 75 are ordinary failures):
//
//   0    the attempt succeeds
//   65   the job fails without further attempts (EX_DATAERR of sysexits.h)
//   75   the attempt fails (EX_TEMPFAIL). If the last line of stdout is `retry-after=SECONDS`, this line sets the delay
//        of the retry. With `retry-after=SECONDS back-off=TARGET`, the attempt does not count, and other jobs wait
//   else the attempt fails, as in any other task
//
// If the worker stops the program, the attempt fails, whatever the exit code is.
import { MAX_TIMER_MS, wait } from "../../base/clock.ts";
import { endsWithin } from "../execute/attempt-limit.ts";
import { errorWithoutStack } from "../execute/verdict.ts";
import { isBackOff, PermanentFailure, RetryAfter, secondsIn } from "../task/outcomes.ts";
import { defineTask, type Task } from "../task/task.ts";
import type { TaskContext } from "../task/task-context.ts";
import { programLog, type Secrets } from "./program-log.ts";
import type { Program, ProgramResult, RunProgram } from "./run-program.ts";
import type { TaskFile } from "./task-files.ts";

export interface ProgramTaskOptions {
  readonly schema: string;
  /** The time limit of an attempt, in milliseconds. The default is the worker's time limit. */
  readonly timeoutMs: number | undefined;
  readonly killAfterMs: number;
  readonly run: RunProgram;
  /** Texts that are replaced in the logged output and in the errors of programs. */
  readonly secrets: Secrets;
}

/** How much longer than `killAfterMs` the worker waits for the end and the last output of a stopped program. */
const LATE_MS = 5_000;

export function programTask(file: TaskFile, options: ProgramTaskOptions): Task {
  const { timeoutMs, killAfterMs } = options;
  const handle = (_payload: unknown, context: TaskContext) => runAttempt(file, context, options);
  // The worker's own limit is later than the program's: the next attempt must not start before all processes of the
  // program have ended.
  const limit =
    timeoutMs === undefined
      ? {}
      : { timeoutMs: Math.min(timeoutMs + killAfterMs + LATE_MS, MAX_TIMER_MS) };
  return endsWithin(defineTask(file.identifier, handle, limit), killAfterMs + LATE_MS);
}

async function runAttempt(
  { identifier, path, name }: TaskFile,
  context: TaskContext,
  { schema, timeoutMs, killAfterMs, run, secrets }: ProgramTaskOptions,
): Promise<void> {
  const log = programLog(context.logger, secrets);
  const stop = new AbortController();
  const reason = stopReason(context.signal, timeoutMs, stop);
  const program: Program = {
    file: path,
    environment: variables(identifier, schema, context),
    // The stored payload, byte for byte.
    input: `{"payload":${context.job.payloadText}}`,
  };
  let end: ProgramResult;
  let lastLine = "";
  let errors = "";
  try {
    end = await run(program, {
      signal: stop.signal,
      killAfterMs,
      onLines: (stream, lines) => {
        if (stream === "stdout") lastLine = lines.findLast((line) => line !== "") ?? lastLine;
        return log.lines(stream, lines);
      },
    });
  } catch (error) {
    throw errorWithoutStack(`${name} ${(error as Error).message}`);
  } finally {
    errors = log.end();
    reason.stopWaiting();
  }
  const stopped = reason.text();
  const problem = stopped ?? exitProblem(end);
  if (problem === null) return;
  const message = withErrors(problem, errors);
  throw stopped === null ? failureOf(end.code, message, lastLine) : errorWithoutStack(message);
}

/** Aborts `stop` at the time limit or when the job's signal aborts. */
function stopReason(signal: AbortSignal, timeoutMs: number | undefined, stop: AbortController) {
  let text: string | null = null;
  const end = (why: string) => {
    text ??= why;
    stop.abort();
  };
  const onAbort = () => end(`stopped: ${(signal.reason as Error).message}`);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const ended = new AbortController();
  if (timeoutMs !== undefined) {
    void wait(timeoutMs, ended.signal).then((isLate) => {
      if (isLate) end(`timed out after ${timeoutMs} ms`);
    });
  }
  const stopWaiting = () => {
    ended.abort();
    signal.removeEventListener("abort", onAbort);
  };
  return { text: () => text, stopWaiting };
}

const FAILED_FOR_GOOD = 65;
const TO_BE_RETRIED = 75;

function failureOf(code: number | null, message: string, lastLine: string): Error {
  const error =
    code === FAILED_FOR_GOOD ? new PermanentFailure(message) : retryAfter(code, message, lastLine);
  return Object.assign(error, { stack: message });
}

function retryAfter(code: number | null, message: string, lastLine: string): Error {
  const [, seconds = "", target] =
    /^retry-after=(\S*)(?:\s+back-off=(.*))?$/.exec(lastLine.trim()) ?? [];
  const delayMs = code === TO_BE_RETRIED ? secondsIn(seconds) : null;
  if (delayMs === null) return new Error(message);
  const backOff = isBackOff(target) ? { backOff: target } : {};
  return new RetryAfter(delayMs, { message, ...backOff });
}

function exitProblem({ code, signal }: ProgramResult): string | null {
  if (code === 0) return null;
  return code === null ? `killed by ${signal}` : `exited with code ${code}`;
}

/** The first line, by which errors are grouped, is the problem and the last line of stderr. */
function withErrors(problem: string, errors: string): string {
  const last = errors.slice(errors.lastIndexOf("\n") + 1).trim();
  if (last === "") return problem;
  return errors === last ? `${problem}: ${last}` : `${problem}: ${last}\n\n${errors}`;
}

function variables(identifier: string, schema: string, { job, workerId }: TaskContext) {
  const shared = {
    PAYLOAD_FORMAT: "json",
    TASK_IDENTIFIER: identifier,
    JOB_ID: job.id,
    JOB_KEY: job.key ?? undefined,
    JOB_ATTEMPTS: String(job.attempts),
    JOB_MAX_ATTEMPTS: String(job.maxAttempts),
    JOB_PRIORITY: String(job.priority),
    JOB_RUN_AT: job.runAt.toISOString(),
  };
  const named = Object.entries(shared).flatMap(([name, value]) => [
    [`GRAPHILE_WORKER_${name}`, value] as const,
    [`WORKER_${name}`, value] as const,
  ]);
  return {
    ...Object.fromEntries(named),
    WORKER_JOB_QUEUE: job.queueName ?? undefined,
    WORKER_ID: workerId,
    // With this variable, `worker add` in the program adds jobs to the schema of the program's own job.
    WORKER_SCHEMA: schema,
  };
}
