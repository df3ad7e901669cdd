// The parser of queries in src/domain/portable is compiled to WebAssembly for the client, and runs as JavaScript in the
// server. In both forms it must return the same trees, and the same errors at the same places with equal suggestions.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { shownConditions } from "../../src/domain/condition.ts";
import { parsedAsText } from "../contract/query-dump.ts";
import { makeRandom, randomText } from "../insight/random-query.ts";
import { rounds } from "../support/rounds.ts";

interface Probe {
  parsedAsText(text: string, conditions: string): string;
  __collect(): void;
}

const conditions = shownConditions.join(" ");

let probe: Probe;
let size: number;
let folder: string;

before(async () => {
  const { compileAssembly } = await import(new URL("../../ui/module.mjs", import.meta.url).href);
  const files: Map<string, Uint8Array> = await compileAssembly(
    "../test/ui/probe/query.ts",
    "probe",
  );
  folder = await mkdtemp(join(tmpdir(), "query-"));
  for (const [name, contents] of files) await writeFile(join(folder, name), contents);
  const { instantiate } = await import(pathToFileURL(join(folder, "probe.js")).href);
  const bytes = files.get("probe.wasm") as Uint8Array<ArrayBuffer>;
  size = bytes.length;
  probe = await instantiate(await WebAssembly.compile(bytes), { env: {} });
});

after(() => rm(folder, { recursive: true, force: true }));

describe("The client's query language", () => {
  test("reads every query of the corpus as the server does.", async () => {
    const path = join(import.meta.dirname, "../contract/queries.json");
    const corpus: { q: string; is: string }[] = JSON.parse(await readFile(path, "utf8"));
    for (const { q, is } of corpus) assert.equal(probe.parsedAsText(q, conditions), is, q);
  });

  test("agrees with the server on random texts.", () => {
    const random = makeRandom(11);
    for (let i = 0; i < rounds(6_000); i++) {
      const text = randomText(random);
      const parsed = probe.parsedAsText(text, conditions);
      assert.equal(parsed, parsedAsText(text), JSON.stringify(text));
      if (i % 500 === 0) probe.__collect();
    }
  });

  test("is less than 40 KB when compiled.", () => {
    assert.ok(size < 40_000, `the compiled code has ${size} bytes`);
  });
});
