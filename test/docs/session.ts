// Runs the code blocks of a documentation page as in one shell session. A block starts with the variables, functions
// and working directory that the last call of run() left.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { root } from "./pages.ts";

const PLACEHOLDER_URL = "postgres://user:password@host:5432/database";
const PLACEHOLDER_PORT = /\b5678\b/g;
const MAX_BLOCK_MS = 60_000;
const MAX_START_MS = 30_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface Ran {
  readonly status: number | null;
  /** The text on stdout. */
  readonly output: string;
  /** The text on stderr: errors and log lines. */
  readonly errors: string;
}

export class Session {
  readonly directory = mkdtempSync(join(tmpdir(), "worker-docs-"));
  readonly #own = mkdtempSync(join(tmpdir(), "worker-docs-shell-"));
  readonly #url: string;
  readonly #servers: { readonly child: Child; readonly closed: Promise<number | null> }[] = [];
  #port: number | null = null;

  /** `url`: the session's database. */
  constructor(url: string) {
    this.#url = url;
    const bin = join(this.#own, "bin");
    mkdirSync(bin);
    // If dist/worker is built, TEST_COMMAND is its path, because dist/worker starts faster.
    const { TEST_COMMAND: command = join(root, "dist/worker.cjs") } = process.env;
    symlinkSync(command, join(bin, "worker"));
    writeFileSync(this.#state, `cd '${this.directory}'\n`);
  }

  /** Writes a file that the page shows. */
  write(name: string, text: string): void {
    const path = join(this.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    const isProgram = text.startsWith("#!");
    writeFileSync(path, text, { mode: isProgram ? 0o755 : 0o644 });
  }

  async run(block: string): Promise<Ran> {
    // The trap saves the state even if the block fails.
    const saveState = `trap '{ export -p; declare -f; printf "cd %q\\n" "$PWD"; } > ${this.#state}' EXIT`;
    const child = this.#shell(`${saveState}\n${await this.#real(block)}`, MAX_BLOCK_MS);
    const closed = once(child, "close");
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [status] = await closed;
    return { status, output, errors };
  }

  /**
   * Runs a block whose last command is a server. Resolves to the output so far when the output matches `awaited`, when
   * the server has ended, or after 30 s.
   */
  async serve(block: string, awaited: RegExp): Promise<string> {
    const child = this.#shell(`trap : TERM\n${await this.#real(block)}`);
    const closed = once(child, "close").then(([status]) => status as number | null);
    this.#servers.push({ child, closed });
    let output = "";
    const listens = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk) => {
          output += chunk;
          if (awaited.test(output)) resolve();
        });
      }
    });
    const late = once(AbortSignal.timeout(MAX_START_MS), "abort");
    await Promise.race([listens, closed, late]);
    return output;
  }

  /** Ends the servers, deletes the directories, and returns the servers' exit statuses. */
  async stop(): Promise<(number | null)[]> {
    const statuses = this.#servers.map(({ child, closed }) => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      return closed;
    });
    const all = await Promise.all(statuses);
    for (const path of [this.directory, this.#own]) rmSync(path, { recursive: true, force: true });
    return all;
  }

  get #state(): string {
    return join(this.#own, "state.sh");
  }

  #shell(script: string, timeout?: number): Child {
    const { PATH = "", HOME = "", LANG = "C.UTF-8" } = process.env;
    const path = [join(this.#own, "bin"), dirname(process.execPath), PATH].join(delimiter);
    const whole = `set -a; source '${this.#state}'\n${script}`;
    return spawn("bash", ["-eu", "-c", whole], {
      env: { PATH: path, HOME, LANG, DATABASE_URL: this.#url },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      ...(timeout === undefined ? {} : { timeout }),
    });
  }

  async #real(block: string): Promise<string> {
    this.#port ??= await freePort();
    const text = block.replaceAll(PLACEHOLDER_URL, this.#url);
    return text.replaceAll(PLACEHOLDER_PORT, String(this.#port));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
