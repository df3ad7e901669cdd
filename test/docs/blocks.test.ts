// Tests the code blocks in the README and in docs/, except docs/decisions/. Programs in TypeScript must compile, and
// the commands and options in shell blocks, configurations and code spans must exist. running-blocks.ts runs the
// blocks.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { codeSpansOf } from "./markdown.ts";
import { userPages } from "./pages.ts";
import { programsOf } from "./running-blocks.ts";
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

const pages = userPages();
const { programs, end } = programsOf(pages);
after(end);

test("The programs of the documentation compile with strict options.", async () => {
  assert.equal(await programs.check(), "");
});

test("A block marked `norun` gives one of the listed reasons.", () => {
  for (const { path, blocks } of pages) {
    for (const { notes, line } of blocks) {
      const reason = notes.get("norun");
      assert.ok(
        reason === undefined || reason in reasons,
        `${path}:${line}: the reason ${reason} is not listed`,
      );
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
