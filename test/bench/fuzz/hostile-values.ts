// Makes random texts and JSON bodies for requests. They contain valid values, arbitrary values, and hostile values from
// the lists TEXTS and JSONS. The higher the parameter `sound` (0 to 9) is, the more values are valid.
import { randomQuery, randomText } from "../../insight/random-query.ts";
import type { Random } from "../../support/random-calls.ts";

// biome-ignore lint/suspicious/noExplicitAny: a part of an OpenAPI document
type Schema = any;

export const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;

const TEXTS = [
  ...[
    "",
    " ",
    "0",
    "-1",
    "1",
    "2",
    "7",
    "1e9",
    "1.5",
    "NaN",
    "null",
    "true",
    "undefined",
    "[]",
    "{}",
  ],
  ...["9223372036854775807", "9223372036854775808", "-9223372036854775808", "2147483648"],
  ...["99999999999999999999999999", "0x10", "١٢", "1,2,3", "1..2", "1;drop table x", "' or 1=1 --"],
  ...[
    "\u0000",
    "a\u0000b",
    "\u{1f600}",
    "\ud800",
    "\u202eabc",
    "%00",
    "%",
    "%zz",
    "..",
    "../../etc/passwd",
  ],
  ...[
    "a".repeat(300),
    "ü".repeat(1_000),
    "(".repeat(200),
    "-".repeat(50),
    '"',
    "\\",
    '"\\',
    "\n",
    "\r\n",
  ],
  ...[
    "2026-01-01",
    "2026-13-45T99:99:99Z",
    "now",
    "-5m",
    "in 2h",
    "infinity",
    "294277-01-01T00:00:00Z",
  ],
  ...[
    "constructor",
    "__proto__",
    "toString",
    "id",
    "-id",
    "due",
    "failed",
    "running",
    "task:a",
    "is:failed",
  ],
  ...[
    "retry",
    "complete",
    "reschedule",
    "remove",
    "run_now",
    "jsonl",
    "csv",
    "1-5",
    "1-5-7",
    "operations",
  ],
];

const JSONS: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1,
    1.5,
    1e300,
    -0,
    9_007_199_254_740_993n.toString(),
    "",
    "x",
    [],
    {},
  ],
  ...[
    [[]],
    [null],
    ["1"],
    [1],
    [1, 2, 3],
    ["x".repeat(100)],
    { a: 1 },
    { __proto__: null, toString: 1 },
  ],
  ...[Array.from({ length: 2_000 }, (_, n) => n + 1), "2026-01-01T00:00:00Z", "\u0000", "\ud800"],
];

/**
 * Returns a text for a path, a query or a body. If `schema` is an enum or an integer, or if `name` is `q`, the text has
 * the expected form in at least `sound` of ten cases. All other texts are arbitrary.
 */
export function hostileText(random: Random, sound: number, schema: Schema = {}, name = ""): string {
  const isExpected = random(10) < sound;
  if (isExpected && Array.isArray(schema.enum)) return String(pick(random, schema.enum));
  if (isExpected && schema.type === "integer") return String(random(500));
  if (isExpected && name === "q") return randomQuery(random);
  const kind = random(6);
  if (kind === 0) return String(random(50));
  if (kind === 1) return String(random(120_000));
  if (kind === 2) return randomQuery(random);
  if (kind === 3) return randomText(random);
  return changed(random, pick(random, TEXTS));
}

function changed(random: Random, text: string): string {
  if (random(4) > 0) return text;
  const at = random(text.length + 1);
  return text.slice(0, at) + pick(random, TEXTS) + text.slice(at + random(3));
}

/** Returns a body: JSON in the schema's form with some invalid values, other JSON, or text that is not JSON. */
export function hostileBody(
  random: Random,
  sound: number,
  schema: Schema,
  resolve: (one: Schema) => Schema,
): string {
  const kind = random(12);
  if (kind === 0)
    return pick(random, ["", "{", "[]", "null", "nonsense", '{"a":}', "\ufeff{}", "{}{}"]);
  if (kind === 1) {
    const depth = 10 ** random(5);
    return `${"[".repeat(depth)}${random(1_000)}${"]".repeat(depth)}`;
  }
  const text = JSON.stringify(value(random, { sound, resolve }, resolve(schema), 0) ?? null);
  if (kind === 2) return text.replace("{", `{${JSON.stringify(pick(random, TEXTS))}:1,`);
  if (kind === 3) return text.slice(0, random(text.length + 1));
  return text;
}

interface Manner {
  readonly sound: number;
  readonly resolve: (one: Schema) => Schema;
}

function value(random: Random, manner: Manner, schema: Schema, depth: number): unknown {
  const { sound, resolve } = manner;
  if (random(4 + 2 * sound) === 0) return pick(random, JSONS);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    return value(random, manner, resolve(pick(random, alternatives as Schema[])), depth);
  }
  if (schema.enum !== undefined) return pick(random, schema.enum as unknown[]);
  if (schema.const !== undefined) return schema.const;
  switch ([schema.type].flat()[0]) {
    case "object": {
      const required = new Set<string>(schema.required ?? []);
      const members = Object.entries(schema.properties ?? {}).filter(
        ([name]) => random(20) > (required.has(name) ? 0 : 11),
      );
      return Object.fromEntries(
        members.map(([name, one]) => [name, value(random, manner, resolve(one), depth + 1)]),
      );
    }
    case "array":
      return Array.from({ length: random(depth > 3 ? 1 : 5) }, () =>
        value(random, manner, resolve(schema.items ?? {}), depth + 1),
      );
    case "integer":
    case "number":
      return pick(random, [0, 1, 2, 5, 100, -1, 2 ** 31, random(100_000), random(100_000)]);
    case "boolean":
      return random(2) === 0;
    case "null":
      return null;
    default:
      return hostileText(random, sound, schema);
  }
}
