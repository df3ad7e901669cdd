// Runs the code blocks of pages of the documentation. A block may be marked by words after its language. `output`: the
// expected output of the block before it, in which `…` matches any text. `norun=REASON`: a program or a shell block
// that is neither compiled nor run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
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
import { type Page, root, userPages } from "./pages.ts";
import { Programs } from "./programs.ts";
import { type Ran, Session } from "./session.ts";

/** A block marked `signature` has declarations printed by the compiler. */
const isProgram = ({ language, notes }: Block) =>
  /^[tj]s$/.test(language) && !notes.has("norun") && !notes.has("signature");

/** Writes the programs of the pages into a project. `files` maps each program's block to the path of the program. */
export function programsOf(pages: readonly Page[]) {
  const programs = new Programs();
  const files = new Map<Block, string>();
  for (const { path, blocks } of pages) {
    const folder = path.replaceAll(/[^\w]+/g, "-");
    for (const [place, block] of blocks.entries()) {
      const { language, notes, text } = block;
      if (!isProgram(block)) continue;
      const name = notes.get("file") ?? `program-${place + 1}.m${language}`;
      files.set(block, programs.add(`${folder}/${name}`, text));
    }
  }
  return { programs, files, end: () => programs.end() };
}

const stockDatabase = () =>
  databaseLike("docs_stock", async (connectionString) => {
    const logger = new Logger(() => () => {});
    await runMigrations({ connectionString, schema: "graphile_worker", logger });
  });

/** Returns the database of test/page/incident.test.ts, with fewer jobs. */
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

const databases: Readonly<Record<string, () => Promise<TestDatabase>>> = {
  "docs/from-graphile-worker.md": stockDatabase,
  "docs/operate.md": badNight,
};

/**
 * Defines the tests of every second page, from the page with the index `start` on. Two pages are tested at a time,
 * because the test of a page mostly waits for programs to start.
 */
export function testEverySecondPage(start: 0 | 1): void {
  const pages = userPages()
    .filter(({ blocks }) => blocks.length > 0)
    .filter((_, place) => place % 2 === start);
  const { programs, files, end } = programsOf(pages);
  after(end);
  describe("The code of a page works as described:", { concurrency: 2 }, () => {
    for (const page of pages) {
      test(page.path, async () => {
        const { url } = await (databases[page.path] ?? emptyDatabase)();
        const session = new Session(url);
        const pool = new pg.Pool({ connectionString: url, max: 1 });
        const context = { session, pool, programs, files };
        try {
          let output = "";
          for (const [index, block] of page.blocks.entries()) {
            const where = `${page.path}:${block.line}`;
            const next = page.blocks[index + 1];
            const expected = next?.notes.has("output") ? printing(next.text) : null;
            if (!block.notes.has("output"))
              output = await outputOf(block, { ...context, where, expected });
            if (expected !== null) assert.match(output.trim(), expected, `${where}:\n${output}`);
          }
        } finally {
          await pool.end();
          const statuses = await session.stop();
          assert.ok(
            statuses.every((status) => status === 0),
            `${page.path}: the exit statuses of the servers are ${statuses}`,
          );
        }
      });
    }
  });
}

interface BlockContext {
  readonly session: Session;
  readonly pool: pg.Pool;
  readonly programs: Programs;
  readonly files: ReadonlyMap<Block, string>;
  readonly where: string;
  /** Null if the page shows no output of the block. */
  readonly expected: RegExp | null;
}

/** Runs or parses the block, and returns its output. */
async function outputOf(
  block: Block,
  { session, pool, programs, files, where, expected }: BlockContext,
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
        `${where}: unknown language ${language}`,
      );
      return "";
  }
}

function printed({ status, output, errors }: Ran, expected: number, where: string): string {
  assert.equal(status, expected, `${where}: status ${status}\n${output}${errors}`);
  return output;
}

function printing(text: string): RegExp {
  const plain = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${text.trim().split("…").map(plain).join("[\\s\\S]*?")}\\s*$`);
}
