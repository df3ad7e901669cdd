// The admin server in a separate process, whose CPU and memory can be measured, and a client that times each request.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../../..");

export interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a server's JSON
  readonly body: any;
}

export interface Stream {
  readonly bytes: number;
  readonly events: number;
  close(): void;
}

export interface ReadResult {
  readonly bytes: number;
  readonly lines: number;
  readonly ms: number;
  /** Whether the read reached the body's end within its time limit. */
  readonly isWhole: boolean;
}

export interface AdminProcess {
  readonly port: number;
  readonly pid: number;
  get(path: string, signal?: AbortSignal): Promise<Answer>;
  post(path: string, body: object): Promise<Answer>;
  /** Reads an event stream until close(). Returns null if the server refused it. */
  watch(path: string): Promise<Stream | null>;
  /** Reads a body without storing it. `lineEnd`: the byte that ends a line. Default: the line feed. */
  drain(
    path: string,
    most: { readonly bytesPerSecond: number; readonly ms: number },
    lineEnd?: number,
  ): Promise<ReadResult>;
  /** The CPU time since the process started. */
  cpu_s(): number;
  rss_mb(): number;
  /** The largest rss_mb() so far. */
  peak_mb(): number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface Surroundings {
  /** The file to which log lines are appended. Default: stderr of this process. */
  readonly log?: string;
  /** The password in the mode `basic`. Default: the mode `none`. */
  readonly password?: string;
  /** Words before the admin's command line, such as a command that enters a network namespace. */
  readonly command?: readonly string[];
}

/** Starts the admin from the sources, with the size of V8's young generation that the built program sets. */
export async function startAdminProcess(
  databaseUrl: string,
  options: readonly string[] = [],
  { log, password, command = [] }: Surroundings = {},
): Promise<AdminProcess> {
  const words = [
    ...command,
    process.execPath,
    ...[
      "--expose-gc",
      "--max-semi-space-size=4",
      "--import",
      join(root, "test/support/register.mjs"),
      join(root, "src/main.ts"),
    ],
    ...["admin", "--auth", password === undefined ? "none" : "basic", "--json"],
    ...(options.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"]),
    ...options,
  ];
  const child = spawn(words[0] ?? "", words.slice(1), {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      DATABASE_URL: databaseUrl,
      ...(password === undefined ? {} : { WORKER_ADMIN_PASSWORD: password }),
    },
    stdio: ["ignore", "pipe", log === undefined ? "inherit" : openSync(log, "a")],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
    Symbol.asyncIterator
  ]();
  const { value = "{}" } = await lines.next();
  const { url } = JSON.parse(value) as { url: string };
  return processClient(child, Number(new URL(url).port));
}

function processClient(child: ChildProcess, port: number): AdminProcess {
  const end = async (signal: NodeJS.Signals) => {
    agent.destroy();
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
  const pid = child.pid ?? 0;
  let token: string | undefined;
  const open = (method: string, path: string, rest: http.RequestOptions, body?: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, method, path, agent, ...rest };
      const request = http.request(options, resolve);
      request.once("error", reject);
      request.end(body);
    });
  const send = async (
    method: string,
    path: string,
    rest: http.RequestOptions = {},
    body?: string,
  ): Promise<Answer> => {
    const began = performance.now();
    const response = await open(method, path, rest, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const ms = performance.now() - began;
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
    return { status: response.statusCode ?? 0, ms, text, body: isJson ? JSON.parse(text) : null };
  };
  return {
    port,
    pid,
    get: (path, signal) => send("GET", path, signal === undefined ? {} : { signal }),
    async post(path, body) {
      token ??= (await send("GET", "/api/session")).body.csrf_token as string;
      const headers = { "content-type": "application/json", "x-worker-admin-csrf": token };
      return send("POST", path, { headers }, JSON.stringify(body));
    },
    async watch(path) {
      const response = await open("GET", path, { agent: false });
      if (response.statusCode !== 200) {
        response.destroy();
        return null;
      }
      const stream = { bytes: 0, events: 0, close: () => response.destroy() };
      response.on("error", () => {});
      response.on("data", (chunk: Buffer) => {
        stream.bytes += chunk.length;
        stream.events += chunk.toString().split("\n\n").length - 1;
      });
      return stream;
    },
    async drain(path, most, lineEnd = 10) {
      const began = performance.now();
      const response = await open("GET", path, { agent: false });
      let [bytes, count] = [0, 0];
      let isWhole = true;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        count += countOf(lineEnd, chunk);
        const early = (bytes / most.bytesPerSecond) * 1_000 - (performance.now() - began);
        if (early > 5) await new Promise((resolve) => setTimeout(resolve, early));
        if (performance.now() - began > most.ms) {
          isWhole = false;
          break;
        }
      }
      return { bytes, lines: count, ms: performance.now() - began, isWhole };
    },
    cpu_s: () => cpuOf(pid),
    rss_mb: () => memoryOf(pid, "VmRSS"),
    peak_mb: () => memoryOf(pid, "VmHWM"),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memoryOf(pid: number, name: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1_024;
}

// indexOf() is used because a loop over all bytes would take a tenth of the CPU time, and so slow down the admin.
function countOf(byte: number, chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(byte); at >= 0; at = chunk.indexOf(byte, at + 1)) count++;
  return count;
}
