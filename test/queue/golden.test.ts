// Compares SQL statements that the library sends with golden files, in which reviewers can read each statement whole.
// Each file of test/queue/golden has the statements of one entry of statements.ts. After an intended change of a
// statement, write the files again and read the diff:
//
//   GOLDEN=write node --import ./test/support/register.mjs test/queue/golden.test.ts
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { templateTexts } from "./sql-texts.ts";
import { statements } from "./statements.ts";

const folder = join(import.meta.dirname, "golden");
const current = await statements();

if (process.env["GOLDEN"] === "write") {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of current) writeFileSync(join(folder, `${name}.sql`), text);
}

test("Every statement equals its golden file.", () => {
  const names = readdirSync(folder).map((file) => file.replace(/\.sql$/, ""));
  assert.deepEqual(names.sort(), [...current.keys()].sort());
  for (const [name, text] of current) {
    assert.equal(text, readFileSync(join(folder, `${name}.sql`), "utf8"), name);
  }
});

test("Only workers send an update or a delete that has a returning clause at its top level.", () => {
  const names = [...current].filter(([, text]) =>
    /^(update|delete) [^;]*\breturning\b/m.test(text),
  );
  // The statements of this library, except those of workers, can run on a program's own driver (utils.with()). If such
  // a statement were an update or a delete with a returning clause, some drivers would not return the rows alone:
  // TypeORM's query() would resolve to [rows, count].
  assert.deepEqual(names.map(([name]) => name).sort(), [
    ...["fetch-quick", "fetch-quick-flags", "fetch-quick-pauses", "schedules-tick"],
  ]);
});

test("All SQL of src/queue, src/insight, src/commands and src/utils is in golden files.", () => {
  const root = join(import.meta.dirname, "../../src");
  const all = [...current.values()].map(words).join("\n");
  const missing = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /^(queue|insight|commands|utils)\/.*\.ts$/.test(name))
    .flatMap((name) =>
      templateTexts(readFileSync(join(root, name), "utf8"))
        .filter((pieces) => SQL.test(pieces.join(" ? ")))
        .flat()
        .map(words)
        .filter((piece) => !all.includes(piece))
        .map((piece) => `${name}: ${piece}`),
    );
  assert.deepEqual(missing, [], "test/queue/statements.ts needs calls that send the missing SQL");
});

test("SQL is found after a regular expression that contains a quote; a division is not read as a regular expression.", () => {
  const source =
    'const r = (s: string) => /^["/`]/.test(s) || 8 / 2 / 1;\nconst sql = `select 1`; // "';
  assert.deepEqual(templateTexts(`${source}\n`), [["select 1"]]);
});

const SQL = /\b(select|update \?|insert into|delete from|create(?! the )|alter|pg_notify)\b/;

function words(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
