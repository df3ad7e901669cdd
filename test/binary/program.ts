// Runs the native executable as on a machine that has nothing else: in an empty directory, without inherited
// environment variables.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { promisify } from "node:util";

export const root = join(import.meta.dirname, "../..");

/** Another user if this process is root; otherwise the same user. */
export const otherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const running = new Set<ChildProcess>();
const directories: string[] = [];
after(() => {
  for (const child of running) child.kill("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** Creates an empty directory that all users can use, and deletes it after the tests. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "worker-binary-"));
  chmodSync(directory, 0o777);
  directories.push(directory);
  return directory;
}

/** Builds dist/worker if it is missing or older than a source. */
export async function ensureProgram(): Promise<string> {
  const built = join(root, "dist/worker");
  if (!(modified(built) > newest(["src", "ui", "build", "build.mjs", "package.json"]))) {
    await promisify(execFile)(process.execPath, [join(root, "build.mjs")]);
  }
  return built;
}

/** Copies dist/worker to an empty directory. */
export async function installedProgram(): Promise<string> {
  const built = await ensureProgram();
  const program = join(newDirectory(), "worker");
  copyFileSync(built, program, constants.COPYFILE_FICLONE);
  chmodSync(program, 0o755);
  return program;
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newest(places: readonly string[]): number {
  const times = places.flatMap((place) => {
    const path = join(root, place);
    if (!statSync(path).isDirectory()) return [modified(path)];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes("generated"))
      .map((entry) => modified(join(entry.parentPath, entry.name)));
  });
  return Math.max(...times);
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** For start(): the address on which the server listens. Default: a free port of the loopback address. */
  readonly listen?: string | undefined;
}

/** `status`: null if a signal ended the program. `stderr`: only the last 10,000 characters. */
export interface ExitResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end, in the program's directory. */
export async function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ExitResult> {
  const service = launch(program, args, options);
  let stdout = "";
  service.child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  const [status] = await once(service.child, "close");
  return { status, stdout, stderr: service.stderr() };
}

export interface Service {
  /** The line that the program prints with `--json` when its server listens. */
  readonly announced: { readonly url: string; readonly generated_secret: string | null };
  /** Returns the last 10,000 characters of stderr so far. */
  stderr(): string;
  send(signal: NodeJS.Signals): void;
  stop(signal: NodeJS.Signals): Promise<{ status: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts `worker admin` or `worker demo`, and waits until its server listens. Throws if the program ends earlier. */
export async function start(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Service> {
  const { listen = "127.0.0.1:0", ...account } = options;
  const { child, stderr } = launch(program, [...args, "--json", "--listen", listen], account);
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  if (child.stdout === null) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    exited.then(([status]) => {
      throw new Error(`the program ended with the exit status ${status}: ${stderr()}`);
    }),
  ]);
  return {
    announced: JSON.parse(line),
    stderr,
    send: (name) => void child.kill(name),
    async stop(name) {
      child.kill(name);
      const [status, signal] = await exited;
      return { status, signal };
    },
  };
}

function launch(
  program: string,
  args: readonly string[],
  options: RunOptions,
): { child: ChildProcess; stderr: () => string } {
  const { env = {}, ...account } = options;
  const child = spawn(program, args, {
    cwd: join(program, ".."),
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...account,
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr = (stderr + text).slice(-10_000);
  });
  return { child, stderr: () => stderr };
}
