// Tests that every name that the library exports, and every member of an exported type, has a docstring, which editors
// show. The test reads the declarations that are published, so the types must be built first.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publicDeclarations } from "../build/reference/declarations.ts";

const types = join(import.meta.dirname, "../dist/types");
assert.ok(existsSync(types), "Build the types first: npm run build.");
const declarations = publicDeclarations(types);

test("Every exported name is documented.", () => {
  assert.ok(declarations.length > 100, "more than 100 declarations were read");
  const bare = declarations.filter(({ about }) => about === "").map(({ name }) => name);
  assert.deepEqual(bare, []);
});

test("Every member of an exported type is documented.", () => {
  const members = declarations.flatMap(({ name, members }) =>
    members.map(({ text, about }) => ({ text: `${name}: ${text}`, about })),
  );
  assert.ok(members.length > 400, "more than 400 members were read");
  const bare = members.filter(({ about }) => about === "").map(({ text }) => text);
  assert.deepEqual(bare, []);
});
