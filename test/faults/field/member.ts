// Starts the members of a test stand (stand.ts). A member is a worker in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { WorkerOptions } from "../../../src/worker/options/worker-options.ts";
import {
  type ProcessEvent,
  type ProcessEvents,
  processEvents,
} from "../../support/event-process.ts";
import { machineTime } from "../../worker/run-log.ts";
import type { KillPoint } from "./kill-point.ts";
import type { MemberDuty } from "./member-child.ts";
import { memberProgram } from "./member-program.ts";

/** Differences from a usual member of the stand. */
export interface MemberChanges {
  readonly options?: Omit<Partial<WorkerOptions>, "tasks">;
  readonly url?: string;
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the member is a Graphile worker. */
  readonly stock?: boolean;
  /** A file for the member's stderr, such as /dev/full. `Member.lines` then stays empty. */
  readonly stderr?: string;
  /** The packet at which the member kills itself. */
  readonly killAt?: KillPoint;
  /** The words before `node`, such as `["ip", "netns", "exec", "a"]`. */
  readonly command?: readonly string[];
}

export interface LoggedLine {
  readonly level: "warn" | "error";
  readonly message: string;
  /** When the line was read, by machineTime(). */
  readonly at: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly at: number;
}

export interface Member extends ProcessEvents {
  /** The member's name in the log of runs. */
  readonly by: string;
  readonly pid: number;
  /** The worker's first id in `locked_by`; `by` for a Graphile worker. */
  readonly workerId: string;
  readonly isStock: boolean;
  /** The warnings and errors in the member's log, and lines that are not JSON. */
  readonly lines: readonly LoggedLine[];
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, and waits until the process has ended. Resolves to the duration in milliseconds. */
  stop(): Promise<number>;
  readonly exited: Promise<Exit>;
  /** How the process has ended; null while it runs. */
  readonly exit: Exit | null;
}

export interface MemberPlan extends Omit<MemberChanges, "stock" | "killAt"> {
  readonly duty: MemberDuty;
  readonly isStock: boolean;
  readonly logPath: string;
}

const stockMember = fileURLToPath(new URL("./stock-child.ts", import.meta.url));
const register = fileURLToPath(new URL("../../support/register.mjs", import.meta.url));

/** spawned() is called before the member is ready. */
export interface MemberWatch {
  spawned(child: ChildProcess): void;
  onEvent(event: ProcessEvent): void;
}

/** Starts a member, and resolves when the member is ready. */
export async function startMember(plan: MemberPlan, watch: MemberWatch): Promise<Member> {
  const { command = [], nodeArgs = [], env = {}, stderr, duty, isStock, logPath } = plan;
  // The program of a Graphile worker is not bundled, because Graphile Worker reads files from its package's directory.
  const program = isStock
    ? ["--import", register, ...nodeArgs, stockMember]
    : [...nodeArgs, await memberProgram(dirname(logPath))];
  const [first = "", ...args] = [...command, process.execPath, ...program, JSON.stringify(duty)];
  const started = spawn(first, args, {
    stdio: ["ignore", "pipe", stderr === undefined ? "pipe" : openSync(stderr, "w")],
    // The cache of compiled code saves CPU time when many members start.
    env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(logPath), "cache"), ...env },
  });
  const pid = started.pid ?? 0;
  watch.spawned(started);
  let exit: Exit | null = null;
  const exited = once(started, "exit").then(([code, signal]) => {
    exit = { code, signal, at: machineTime() } as Exit;
    return exit;
  });
  const lines: LoggedLine[] = [];
  if (started.stderr !== null) readLines(started.stderr, logPath, lines);
  const child = started as Parameters<typeof processEvents>[0];
  const reports = processEvents(child, (event) => watch.onEvent(event));
  const { workerId } = await reports.event("ready").catch(async (error: Error) => {
    throw new Error(`${duty.by} did not start (its log: ${logPath}): ${error.message}`);
  });
  return {
    ...reports,
    by: duty.by,
    pid: Number(reports.events[0]?.["pid"] ?? pid),
    workerId: String(workerId),
    isStock,
    lines,
    signal: (name) => void started.kill(name),
    async stop() {
      const from = machineTime();
      started.kill("SIGTERM");
      return (await exited).at - from;
    },
    exited,
    get exit() {
      return exit;
    },
  };
}

function readLines(stream: NodeJS.ReadableStream, path: string, lines: LoggedLine[]): void {
  const kept = createWriteStream(path, { flags: "a" });
  createInterface({ input: stream })
    .on("line", (line) => {
      kept.write(`${line}\n`);
      const { level, msg } = parsed(line);
      if (level < WARN) return;
      lines.push({ level: level === WARN ? "warn" : "error", message: msg, at: machineTime() });
    })
    .on("close", () => kept.end());
}

/** The numbers of pino's levels. */
const [WARN, ERROR] = [40, 50];

/** A line that is not JSON is, for example, Node's text of an uncaught error. */
function parsed(line: string): { level: number; msg: string } {
  try {
    return JSON.parse(line);
  } catch {
    return { level: ERROR, msg: line };
  }
}
