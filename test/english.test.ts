// Tests that comments, texts and documents are plain English: the subject of a sentence is a thing and rarely a person,
// and its verb is a standard verb for programs.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { placesOf, proseOf, wordsIn } from "./support/prose.ts";

const root = join(import.meta.dirname, "..");

const files = globSync(
  [
    "{src,build,examples,test}/**/*.{ts,mjs}",
    "ui/{assembly,host,schema}/**/*.{ts,mjs}",
    "ui/{*.mjs,README.md,styles/*.css}",
    "docs/**/*.md",
    "src/**/*.md",
    "*.md",
  ],
  { cwd: root },
)
  .filter((path) => !path.includes("generated"))
  .map((path) => ({ path: relative(root, join(root, path)), prose: proseOf(join(root, path)) }));

const PERSONS = /\b(who|whoever|whom|nobody|somebody)\b/gi;
const MAX_PERSONS_A_THOUSAND_WORDS = 0.3;

/** Matches the forbidden verbs, but not names in code, such as the call `ask()` or the object in `ask.name`. */
const VERBS =
  /\b(says?|said|saying|tells?|told|telling|hears?|heard|hearing|speaks?|spoke|spoken|speaking|knows?|knew|knowing|stands?|stood|standing|lies|lying|mends?|mended|mending|asks?|asked|asking|will not do|goes through|is let|bears?)\b(?![(.:]\w|\(\))/gi;

/** Permitted uses of the forbidden verbs: the paths of the files, the text of the use, and the reason. */
const allowed: readonly (readonly [path: RegExp, use: RegExp, reason: string])[] = [
  [/./, /\bask(s|ed|ing)? for confirmation\b/i, "the standard term for a command"],
  [/admin|command-line/, /\btell browsers to forget HSTS\b/, "what the header does"],
  [/^test\/faults\//, /\bstands?\b/, "the noun: a test stand"],
  [/ui\/schema\/commands/, /(readonly |this\.)ask\b/, "generated code"],
  [/sample-tasks/, /He said "never again"/, "sample data"],
];

/** This file is not checked, because it lists the words. */
const isOwn = (path: string) => path === "test/english.test.ts";

test("The subject of a sentence is a thing: comments, texts and documents have few pronouns for persons.", () => {
  const words = files.reduce((sum, { prose }) => sum + wordsIn(prose), 0);
  const places = files.flatMap(({ path, prose }) =>
    isOwn(path) ? [] : placesOf(prose, PERSONS).map(({ line, text }) => `${path}:${line}: ${text}`),
  );
  const share = (places.length / words) * 1_000;
  assert.ok(words > 100_000);
  assert.ok(share <= MAX_PERSONS_A_THOUSAND_WORDS, `${share} of 1,000:\n${places.join("\n")}`);
});

test("Verbs are standard: nothing says, knows, stands or mends anything.", () => {
  const places = files.flatMap(({ path, prose }) =>
    isOwn(path)
      ? []
      : placesOf(prose, VERBS)
          .filter(({ text }) => !allowed.some(([at, use]) => at.test(path) && use.test(text)))
          .map(({ line, text }) => `${path}:${line}: ${text}`),
  );
  assert.deepEqual(places, []);
});
