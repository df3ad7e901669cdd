// Tests the code blocks in the README and in docs/, except docs/decisions/. Programs in TypeScript must compile, and
// programs without a file name run on an empty database. Shell blocks and SQL run in the order of their page. JSON,
// crontabs and queries are parsed. The commands and options in shell blocks, configurations and code spans must exist.
//
// A block may be marked by words after its language. A block marked `output` must equal the output of the block before
// it. A program or a shell block marked `norun=REASON` is neither compiled nor run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Logger, runMigrations } from "graphile-worker";
import pg from "pg";
import { parseCrontab } from "../../src/domain/cron/crontab.ts";
import { parseQuery } from "../../src/domain/query/parse-query.ts";
import {
  databaseLike,
  emptyDatabase,
  migratedDatabase,
  type TestDatabase,
} from "../support/database.ts";
import type { Block } from "./markdown.ts";
import { codeSpansOf } from "./markdown.ts";
import { root, userPages } from "./pages.ts";
import { Programs } from "./programs.ts";
import { type Ran, Session } from "./session.ts";
import { callsIn, knownOptions, refusalOf } from "./shell-words.ts";

/** The reasons that `norun` can give, as in `norun=systemd`. */
const reasons: Readonly<Record<string, string>> = {
  checkout: "takes minutes in a clone of the repository; .ci/run does it",
  package: "packs and installs the package; test/long/package.test.ts does it",
  executable: "needs the executable; test/binary does it",
  root: "changes the machine's own directories",
  systemd: "needs systemd as the first process",
  container: "needs a container engine",
  cluster: "needs a cluster",
  hosts: "contains hosts and networks that do not exist here",
  product: "is code of another product",
};

/** Whether the block is a program to test. A block marked `signature` has declarations printed by the compiler. */
const isProgram = ({ language, notes }: Block) =>
  /^[tj]s$/.test(language) && !notes.has("norun") && !notes.has("signature");

const pages = userPages();
const programs = new Programs();
const files = new Map<Block, string>();
after(() => programs.end());

before(() => {
  for (const { path, blocks } of pages) {
    const folder = path.replaceAll(/[^\w]+/g, "-");
    for (const [place, block] of blocks.entries()) {
      const { language, notes, text } = block;
      if (!isProgram(block)) continue;
      const name = notes.get("file") ?? `program-${place + 1}.m${language}`;
      files.set(block, programs.add(`${folder}/${name}`, text));
    }
  }
});

test("The programs of the documentation compile with strict options.", async () => {
  assert.equal(await programs.check(), "");
});

test("A block marked `norun` gives one of the listed reasons.", () => {
  for (const { path, blocks } of pages) {
    for (const { notes, line } of blocks) {
      const reason = notes.get("norun");
      assert.ok(reason === undefined || reason in reasons, `${path}:${line}: ${reason}`);
    }
  }
});

test("Every command in the documentation exists.", () => {
  const refused = pages.flatMap(({ path, blocks, tokens }) => {
    const inBlocks = blocks
      .filter(({ language }) => ["sh", "ini", "yaml", "dockerfile"].includes(language))
      .flatMap(({ text }) => callsIn(text).map((args) => ({ args, inText: false })));
    const inSpans = codeSpansOf(tokens).flatMap((text) =>
      callsIn(text).map((args) => ({ args, inText: true })),
    );
    return [...inBlocks, ...inSpans].flatMap(({ args, inText }) => {
      const refusal = refusalOf(args, inText);
      return refusal === null ? [] : [`${path}: worker ${args.join(" ")}: ${refusal}`];
    });
  });
  assert.deepEqual(refused, []);
});

/** The options of npm, docker and esbuild that the documentation mentions. */
const others = ["--all", "--banner", "--build-arg"];
const isOurs = (path: string) => path !== "docs/from-graphile-worker.md";

test("Every option in the documentation exists.", () => {
  const unknown = pages
    .filter(({ path }) => isOurs(path))
    .flatMap(({ path, tokens }) =>
      codeSpansOf(tokens).flatMap((text) => {
        const [option] = /^--[a-z][a-z-]*/.exec(text) ?? [];
        const exists = option === undefined || knownOptions.has(option) || others.includes(option);
        return exists ? [] : [`${path}: ${option}`];
      }),
    );
  assert.deepEqual(unknown, []);
});

/** Returns a database with a schema of Graphile Worker. */
const stockDatabase = () =>
  databaseLike("docs_stock", async (connectionString) => {
    const logger = new Logger(() => () => {});
    await runMigrations({ connectionString, schema: "graphile_worker", logger });
  });

/** Returns a database with many incidents: the database of test/page/incident.test.ts, with fewer jobs. */
async function badNight(): Promise<TestDatabase> {
  const database = await migratedDatabase("worker", ["operations"]);
  const text = readFileSync(join(root, "test/page/incident.sql"), "utf8");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const sized = text.replaceAll("$scheduled", "2000").replaceAll("$failures", "300");
  await client.query(sized.replaceAll("{}", "worker"));
  await client.end();
  return database;
}

/** Databases with contents, for pages that need them. */
const databases: Readonly<Record<string, () => Promise<TestDatabase>>> = {
  "docs/from-graphile-worker.md": stockDatabase,
  "docs/operate.md": badNight,
};

// Two pages are tested at a time: each page has its own database and directory, and mostly waits for programs to start.
describe("The code of a page works as described:", { concurrency: 2 }, () => {
  for (const page of pages.filter(({ blocks }) => blocks.length > 0)) {
    test(`${page.path}`, async () => {
      const { url } = await (databases[page.path] ?? emptyDatabase)();
      const session = new Session(url);
      const pool = new pg.Pool({ connectionString: url, max: 1 });
      try {
        let output = "";
        for (const [index, block] of page.blocks.entries()) {
          const where = `${page.path}:${block.line}`;
          const next = page.blocks[index + 1];
          const expected = next?.notes.has("output") ? printing(next.text) : null;
          if (!block.notes.has("output"))
            output = await outputOf(block, { session, pool, where, expected });
          if (expected !== null) assert.match(output.trim(), expected, `${where}:\n${output}`);
        }
      } finally {
        await pool.end();
        const statuses = await session.stop();
        assert.ok(
          statuses.every((status) => status === 0),
          `${page.path}: servers ended with ${statuses}`,
        );
      }
    });
  }
});

interface BlockContext {
  readonly session: Session;
  readonly pool: pg.Pool;
  readonly where: string;
  /** The output that the page shows for the block; null if the page shows none. */
  readonly expected: RegExp | null;
}

/** Runs or parses the block. Returns its output; empty if there is none. */
async function outputOf(
  block: Block,
  { session, pool, where, expected }: BlockContext,
): Promise<string> {
  const { language, notes, text } = block;
  const file = notes.get("file");
  if (file !== undefined) session.write(file, text);
  switch (language) {
    case "sh":
      if (notes.has("norun") || file !== undefined) return "";
      if (notes.has("serves")) return session.serve(text, expected ?? /https?:\/\/\S+/);
      return printed(await session.run(text), Number(notes.get("exits") ?? 0), where);
    case "ts":
    case "js":
      if (!isProgram(block) || file !== undefined) return "";
      return programs.run(files.get(block) ?? "", (await emptyDatabase()).url);
    case "sql":
      // A block marked `rollback` would change the whole server, for example by creating a role.
      await pool.query(notes.has("rollback") ? `begin; ${text}; rollback` : text);
      return "";
    case "json":
      JSON.parse(text);
      return "";
    case "jsonl":
      for (const line of text.trim().split("\n")) JSON.parse(line);
      return "";
    case "crontab":
      assert.ok(parseCrontab(text).length > 0, where);
      return "";
    case "query":
      for (const line of text.trim().split("\n")) assert.ok(parseQuery(line) !== null, where);
      return "";
    default:
      // Not run: diagrams, parts of configurations, task files in other languages.
      assert.ok(
        ["text", "ini", "yaml", "nginx", "py", "dockerfile"].includes(language),
        `${where}: ${language}`,
      );
      return "";
  }
}

function printed({ status, output, errors }: Ran, expected: number, where: string): string {
  assert.equal(status, expected, `${where}: status ${status}\n${output}${errors}`);
  return output;
}

/** Returns a pattern that matches exactly the text, with any text in place of each `…`. */
function printing(text: string): RegExp {
  const plain = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${text.trim().split("…").map(plain).join("[\\s\\S]*?")}\\s*$`);
}
