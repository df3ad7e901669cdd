// What the library exports: every name says what it is, and so does every member of what is called or
// filled in most. It is what an editor shows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const src = join(import.meta.dirname, "../src");

interface Exported {
  readonly name: string;
  /** Of its file, from its declaration on. */
  readonly text: string;
  readonly before: string;
}

/** The names in index.ts with their declarations. */
function exported(): Exported[] {
  const index = readFileSync(join(src, "index.ts"), "utf8");
  const lists = index.matchAll(/export (?:type )?\{([^}]+)\} from "([^"]+)"/g);
  return [...lists].flatMap(([, names = "", file = ""]) => {
    const text = readFileSync(join(src, file), "utf8");
    return names.split(",").flatMap((one) => {
      const [name = ""] = one
        .replace(/\btype\b/, "")
        .trim()
        .split(/\s+as\s+/);
      if (name === "") return [];
      const at = text.search(
        new RegExp(`^export (?:async |const |function |class |interface |type )+${name}\\b`, "m"),
      );
      assert.ok(at >= 0, `${name} is declared in ${file}`);
      return [{ name, text: text.slice(at), before: text.slice(0, at) }];
    });
  });
}

const all = exported();

test("Every public name is documented.", () => {
  const bare = all.filter(({ before }) => !before.trimEnd().endsWith("*/"));
  assert.deepEqual(
    bare.map(({ name }) => name),
    [],
  );
});

test("So is every method and option of what is called and filled in most.", () => {
  const thorough = [
    ...["WorkerUtils", "WorkerUtilsOptions", "AdminServerConfigBuilder", "TaskContext"],
    ...["WorkerOptions", "RunOptions", "LocalQueueOptions", "RecoveryOptions", "TaskOptions"],
    ...["JobSpec", "CronEntryOptions", "CronOptions", "WorkerInterceptors", "JobFilter"],
  ];
  const bare = thorough.flatMap((name) => {
    const text = all.find((one) => one.name === name)?.text ?? "";
    assert.notEqual(text, "", name);
    const whole = text.slice(text.indexOf("{") + 1, text.search(/^\}/m));
    const body = whole.replaceAll(/^ *\/\/ biome-ignore.*\n/gm, "");
    // Members stand two spaces in; what stands before them ends a comment, or not.
    const members = [...body.matchAll(/^ {2}(?:readonly )?([a-zA-Z]\w*)[?(:<].*$/gm)];
    return members
      .filter(({ index }) => !body.slice(0, index).trimEnd().endsWith("*/"))
      .map(([, member]) => `${name}.${member}`);
  });
  assert.deepEqual(bare, []);
});
