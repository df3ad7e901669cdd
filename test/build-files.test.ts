// Builds that run at the same time in one clone do not mix their files (build/files.mjs).
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const clone = mkdtempSync(join(tmpdir(), "worker-clone-"));
after(() => rmSync(clone, { recursive: true }));
mkdirSync(join(clone, "build"));
cpSync(join(import.meta.dirname, "../build/files.mjs"), join(clone, "build/files.mjs"));
const { cached, replace, temporary } = await import(join(clone, "build/files.mjs"));

const NAMES = Array.from({ length: 20 }, (_, n) => `${n}.txt`);

function fill(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const name of NAMES) writeFileSync(join(directory, name), name);
}

test("If builds replace the same directory at the same time, the directory has all files afterwards.", async () => {
  const builds = Array.from({ length: 8 }, async () => {
    const draft = await temporary("types");
    fill(draft);
    await replace(draft, join(clone, "dist/types"));
  });
  await Promise.all(builds);
  assert.deepEqual(readdirSync(join(clone, "dist/types")).sort(), NAMES.toSorted());
});

test("If builds make the same cached directory at the same time, all of them get the same complete directory.", async () => {
  const { promise: allMake, resolve } = Promise.withResolvers<void>();
  let making = 0;
  const builds = Array.from({ length: 4 }, () =>
    cached("base", "1", async (draft: string) => {
      fill(draft);
      if (++making === 4) resolve();
      await allMake;
    }),
  );
  const paths = await Promise.all(builds);
  assert.deepEqual(new Set(paths), new Set([join(clone, "dist/.cache/base-1")]));
  assert.deepEqual(readdirSync(paths[0]).sort(), NAMES.toSorted());
});
