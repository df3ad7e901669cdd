// The programs in the documents, as files of a project in which this package is installed. The programs in TypeScript
// are compiled with strict options. A program that is run must end by itself within 40 seconds.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { root } from "./pages.ts";

const MAX_RUN_MS = 40_000;
const DRIVERS = ["postgres", "kysely", "typeorm", "drizzle-orm", "knex"];
const NEEDED = ["pg", "@types", "graphile-worker", "pg-boss", ...DRIVERS];

export class Programs {
  readonly directory = mkdtempSync(join(tmpdir(), "worker-docs-programs-"));
  readonly #files: string[] = [];

  constructor() {
    mkdirSync(join(this.directory, "node_modules"));
    for (const name of NEEDED) {
      symlinkSync(join(root, "node_modules", name), join(this.directory, "node_modules", name));
    }
    symlinkSync(root, join(this.directory, "node_modules/pg-job-worker"));
  }

  /** Adds a file and returns its path. check() compiles the files in TypeScript. */
  add(name: string, text: string): string {
    const path = join(this.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (/\.[cm]?ts$/.test(name)) this.#files.push(path);
    return path;
  }

  /** Compiles the files in TypeScript. Returns the compiler's messages; an empty string if there are none. */
  async check(): Promise<string> {
    const compilerOptions = {
      ...{ strict: true, noEmit: true, module: "nodenext", target: "es2024", types: ["node"] },
      ...{ skipLibCheck: true, noUncheckedIndexedAccess: true, erasableSyntaxOnly: true },
    };
    const project = join(this.directory, "tsconfig.json");
    writeFileSync(project, JSON.stringify({ compilerOptions, files: this.#files }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    return promisify(execFile)(process.execPath, [tsc, "-p", project]).then(
      () => "",
      ({ stdout }) => stdout,
    );
  }

  /** Runs a program with the database `url`. Returns its stdout. Rejects if it fails or exceeds MAX_RUN_MS. */
  async run(path: string, url: string): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [path], {
      env: { ...process.env, ...libpqVariables(url), DATABASE_URL: url },
      timeout: MAX_RUN_MS,
    });
    return stdout;
  }

  end(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Returns the URL as libpq's variables, for drivers that do not accept a URL with a unix socket. */
function libpqVariables(url: string): Record<string, string> {
  const { host, port, user = "", database = "" } = new pg.Client(url);
  return { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: database };
}
