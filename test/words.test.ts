// Tests that messages, page texts and documents do not use retired words, with which earlier versions described states.
// Strings of a single word are not checked, because they may be names in JSON.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

const retired: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bsilent\b(?!\))/i, "not responding"],
  [/\bdead worker|\bworkers? (that )?(is|are) (dead|gone)\b/i, "not responding"],
  [/\b(no longer|does not|do not|not) answers?; /i, "not responding"],
  [/\banswered\b.*\bago\b|\blast answered\b/i, "last heartbeat … ago"],
  [/\b(that|every|its) worker answers\b|^It answers\.|\b(it|them) still answers?\b/i, "alive"],
  [/\bnever sent a heartbeat\b|\bsends no heartbeat\b(?!')/i, "sends no heartbeats"],
  [/\borphans?\b|\bholders?\b/i, "worker"],
  [/\b(is|are|was|been) held\b|\bheld (by|since|for|queues?)\b/i, "locked, or paused"],
  [/^Held\b/, "paused"],
  [/\bholds (it|the queue|the queues|nothing)\b/i, "has locked"],
  [/\b[Hh]old the page\b/, "pause live updates"],
];

/**
 * Whether a literal is an error that is stored in rows of jobs. Earlier versions recognize such an error by its words,
 * so the words cannot change.
 */
const isStored = (text: string) => text.startsWith("'Recovered: ");

const literal = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** Yields the contents of strings and templates, except single words, SQL, and errors that are stored. */
function* textsOf(source: string): Generator<string> {
  let code = source.replaceAll(comment, "");
  // Replaces the expressions in templates by `…`, the innermost first.
  for (let before = ""; before !== code; ) {
    before = code;
    code = code.replaceAll(/\$\{[^{}`]*\}|\$\{[^{}]*\}/g, "…");
  }
  for (const [text] of code.matchAll(literal)) {
    const isSql = /\b(select|from|join|where|case when) |locked_at|::/.test(text);
    if (text.includes(" ") && !isSql && !isStored(text)) yield text.slice(1, -1);
  }
}

function faultsIn(texts: Iterable<string>): string[] {
  return [...texts].flatMap((text) =>
    retired
      .filter(([words]) => words.test(text))
      .map(([, instead]) => `${JSON.stringify(text.trim())}: ${instead}`),
  );
}

async function read(folder: string, ending: string): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(join(root, folder), { recursive: true });
  const wanted = files.filter((file) => file.endsWith(ending) && !file.startsWith("generated"));
  const texts = wanted.map(
    async (file) => [join(folder, file), await readFile(join(root, folder, file), "utf8")] as const,
  );
  return new Map(await Promise.all(texts));
}

for (const [folder, subject] of [
  ["src", "The server and the command line use"],
  ["ui/assembly", "The page uses"],
] as const) {
  test(`${subject} one word for each state in every text.`, async () => {
    const files = await read(folder, ".ts");
    assert.ok(files.size > 100);
    const faults = [...files].flatMap(([file, source]) =>
      faultsIn(textsOf(source)).map((fault) => `${file}: ${fault}`),
    );
    assert.deepEqual(faults, []);
  });
}

test("No document calls a worker silent or a queue held.", async () => {
  const files = [...(await read("docs", ".md")), ...(await read("deploy", ".yaml"))];
  const words =
    /\b(worker|workers|holder) (is|are|has fallen|have fallen) silent\b|\bsilent worker|\bheld queue|queue is held\b/i;
  const faults = files.flatMap(([file, text]) =>
    text
      .split("\n")
      .filter((line) => words.test(line))
      .map((line) => `${file}: ${line}`),
  );
  assert.deepEqual(faults, []);
});

test("A retired word is found in strings and templates, but not in comments or single words.", () => {
  const source =
    'a("x is silent"); b(`${n === 1 ? `${n} is` : "are"} held by ${who}`); c("silent"); // is silent';
  assert.deepEqual(faultsIn(textsOf(source)), [
    '"x is silent": not responding',
    '"… held by …": locked, or paused',
  ]);
});
