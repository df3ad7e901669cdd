// The tested ways to add jobs, such as addJobs(), HTTP and `worker add-many`.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { codeOf } from "../../../../src/base/errors.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../../../src/utils/worker-utils.ts";
import { startAdminProcess } from "../../../bench/admin/admin-process.ts";
import type { Order } from "../../../cli/command-child.ts";

/** The result of an add for one job. `unknown`: the add failed, but the job may exist. */
export type AddOutcome = "added" | "unknown" | "not added";

export interface Adder {
  /** Adds a job for each name. Returns the results in the order of the names. */
  add(names: readonly string[]): Promise<readonly AddOutcome[]>;
  close(): Promise<void>;
}

export interface Way {
  readonly name: string;
  /** The number of jobs in one call of Adder.add(). */
  readonly jobs: number;
  /** Whether the name of each job is also its job key. */
  readonly isKeyed: boolean;
  /** Whether adds take long. If so, the connections are cut only between two messages. */
  readonly isSlow: boolean;
  /** `cold`: the add opens its connection. `warm`: an earlier add has opened the connection. */
  readonly temperatures: readonly ("cold" | "warm")[];
  start(url: string, directory: string): Promise<Adder>;
}

const quick = { isSlow: false, temperatures: ["cold", "warm"] } as const;

const outcomeOf = (error: unknown): AddOutcome =>
  codeOf(error) === "outcome_unknown" ? "unknown" : "not added";

const outcome = (adding: Promise<unknown>): Promise<AddOutcome> =>
  adding.then(() => "added", outcomeOf);

const job = (n: string, isKeyed = false) => ({
  identifier: "mail",
  payload: { n },
  ...(isKeyed ? { spec: { jobKey: n } } : {}),
});

/** Returns a way that adds the jobs of all names in one call. */
function library(
  name: string,
  jobs: number,
  add: (utils: WorkerUtils, names: readonly string[]) => Promise<unknown>,
  isKeyed = false,
): Way {
  return {
    ...{ name, jobs, isKeyed, ...quick },
    async start(url) {
      const utils = await makeWorkerUtils({ connectionString: url });
      return {
        async add(names) {
          const one = await outcome(add(utils, names));
          return names.map(() => one);
        },
        close: () => utils.end(),
      };
    },
  };
}

const coalesced: Way = {
  ...{ name: "addJob, coalesced", jobs: 12, isKeyed: false, ...quick },
  async start(url) {
    const utils = await makeWorkerUtils({ connectionString: url });
    return {
      add: (names) => Promise.all(names.map((n) => outcome(utils.addJob("mail", { n })))),
      close: () => utils.end(),
    };
  },
};

const insideTransaction: Way = {
  ...{ name: "addJob in a caller's transaction", jobs: 1, isKeyed: false, ...quick },
  async start(url) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    const utils = await makeWorkerUtils({ connectionString: url });
    let connecting: Promise<unknown> | undefined;
    return {
      async add([n]) {
        try {
          connecting ??= client.connect();
          await connecting;
          await client.query("begin");
          await utils.with(client).addJob("mail", { n });
        } catch (error) {
          // No commit was sent, so the job cannot exist, and the outcome must not be unknown.
          if (outcomeOf(error) === "unknown") throw error;
          await client.query("rollback").catch(() => {});
          return ["not added"];
        }
        // If the commit fails, perhaps only its answer was lost.
        return [
          await client.query("commit").then(
            () => "added" as const,
            () => "unknown" as const,
          ),
        ];
      },
      async close() {
        await client.end().catch(() => {});
        await utils.end();
      },
    };
  },
};

const overHttp: Way = {
  ...{ name: "HTTP", jobs: 1, isKeyed: true, isSlow: true, temperatures: ["warm"] },
  async start(url) {
    const admin = await startAdminProcess(url);
    return {
      async add([n = ""]) {
        const body = { identifier: "mail", payload: { n }, key: n };
        const answer = await admin.post("/api/jobs", body);
        if (answer.status === 200 || answer.status === 201) return ["added"];
        return [outcomeOf(answer.body)];
      },
      close: () => admin.stop(),
    };
  },
};

const root = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** One process runs all commands, because Node starts slowly. */
const addMany: Way = {
  ...{ name: "worker add-many", jobs: 3, isKeyed: false, isSlow: true, temperatures: ["cold"] },
  async start(url, directory) {
    const file = join(directory, "jobs.jsonl");
    const commands = fork(root("test/cli/command-child.ts"), {
      execArgv: ["--import", root("test/support/register.mjs")],
    });
    return {
      async add(names) {
        const lines = names.map((n) => JSON.stringify({ task: "mail", payload: { n } }));
        writeFileSync(file, lines.join("\n"));
        const order: Order = { args: ["add-many", file, "--json"], env: { DATABASE_URL: url } };
        commands.send(order);
        const [ran] = (await once(commands, "message")) as [{ status: number; stderr: string }];
        const one = ran.status === 0 ? "added" : outcomeOf(JSON.parse(ran.stderr));
        return names.map(() => one);
      },
      async close() {
        commands.kill();
        await once(commands, "exit");
      },
    };
  },
};

export const WAYS: readonly Way[] = [
  library("addJob", 1, (utils, [n = ""]) => utils.addJob("mail", { n })),
  library(
    "addJob with a key",
    1,
    (utils, [n = ""]) => utils.addJob("mail", { n }, { jobKey: n }),
    true,
  ),
  library("addJobs", 3, (utils, names) => utils.addJobs(names.map((n) => job(n)))),
  library(
    "addJobs with keys",
    3,
    (utils, names) => utils.addJobs(names.map((n) => job(n, true))),
    true,
  ),
  library("copyJobs", 3, (utils, names) => utils.copyJobs(names.map((n) => job(n)))),
  coalesced,
  insideTransaction,
  overHttp,
  addMany,
];
