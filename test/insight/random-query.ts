// Makes random queries of correct syntax from a pool of terms, and random texts.

import { errors, keys, payloads, queueNames, taskNames } from "../queue/hostile-jobs.ts";
import { random as makeRandom, type Random } from "../support/random-calls.ts";

export { makeRandom };

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;

const AGES = ["1h", "90m", "30m", "2h30m", "1d", "5d", "1s"];
const TIMES = [
  "now",
  "today",
  "2026-01-31",
  "2020-02-29T08:00Z",
  "2999-12-31T23:59:59.999999+05:30",
];
const PATHS = [
  "a",
  "b.c",
  "a.b",
  "[0]",
  "[0].a",
  "a[1]",
  "b.c[2].d",
  '"odd key"',
  '"odd key".""',
  "a.a",
];
const VALUES = [
  "7",
  "7.0",
  "70e-1",
  "x",
  "true",
  "null",
  "1e400",
  "-0",
  "9007199254740993",
  "esca*",
];
const STATES =
  "ready blocked fetched running retrying scheduled failed due stuck late locked".split(" ");
const WORDS = [
  "etimedout",
  "ghost",
  "mail",
  "Report 100%",
  "4",
  "key:1",
  "übel",
  "100%",
  "k_1",
  "qu",
  "\\",
];

function moment(random: Random): string {
  const age = pick(random, AGES);
  return pick(random, [age, `-${age}`, `+${age}`, pick(random, TIMES)]);
}

function list(random: Random, one: () => string): string {
  return Array.from({ length: 1 + random(3) }, one).join(",");
}

function named(random: Random, names: readonly string[]): string {
  const name = pick(random, names);
  const cut = name.slice(0, 1 + random(name.length));
  return pick(random, [quoted(name), quoted(name), `${quoted(cut)}*`, "none", "nobody"]);
}

function payloadTerm(random: Random): string {
  const path = pick(random, PATHS);
  const at = path.startsWith("[") ? path : `.${path}`;
  const texts = [
    "nul",
    "sl/ash",
    'quote"d',
    "c:\\dir",
    "nested",
    "in list",
    "last",
    "100%",
    "Größe",
  ];
  const value = () => pick(random, [pick(random, VALUES), quoted(pick(random, texts)), "none"]);
  return pick(random, [
    () => `payload${at}${pick(random, [":", "=", "!="])}${list(random, value)}`,
    () =>
      `payload${at}${pick(random, ["<", "<=", ">", ">="])}${pick(random, ["7", "6.5", "m", "2026"])}`,
    () => `payload${at}:${random(8)}..${random(20)}`,
    () =>
      `payload:${quoted(
        pick(random, payloads)
          .slice(0, 2 + random(6))
          .padEnd(2, "a"),
      )}`,
  ])();
}

function integerTerm(random: Random): string {
  const field = pick(random, ["id", "priority", "attempts", "left"]);
  const number = () => String(random(60) - 5);
  return pick(random, [
    () => `${field}${pick(random, [":", "=", "!="])}${list(random, number)}`,
    () => `${field}${pick(random, ["<", "<=", ">", ">="])}${number()}`,
    () => `${field}:${number()}..${number()}`,
  ])();
}

function momentTerm(random: Random): string {
  const field = pick(random, ["due", "created", "updated", "failed", "running"]);
  return pick(random, [
    () => `${field}${pick(random, ["<", "<=", ">", ">="])}${moment(random)}`,
    () => `${field}:${moment(random)}..${moment(random)}`,
    () => `${field}:${pick(random, ["today", "2026-01-31", "2020-02-29T08:00Z"])}`,
  ])();
}

function otherTerm(random: Random): string {
  const is = () => pick(random, [":", "=", "!="]);
  return pick(random, [
    () => `is${is()}${list(random, () => pick(random, STATES))}`,
    () => `task${is()}${list(random, () => named(random, taskNames))}`,
    () => `queue${is()}${list(random, () => named(random, queueNames))}`,
    () => `key${is()}${list(random, () => named(random, keys))}`,
    () => `worker${is()}${list(random, () => named(random, ["alive-1", "ghost", "100%_by"]))}`,
    () => `flag${is()}${list(random, () => pick(random, ["f", "g", "none", '"0"']))}`,
    () =>
      `error${pick(random, [":", "!="])}${quoted(pick(random, ["timedout", "100%", "user 4", "\\ of", "ÜBEL"]))}`,
    () => `error=${quoted(pick(random, errors))}`,
    () => `group:${quoted("Error: connect ETIMEDOUT #:#")}`,
    () => "group:aaaaaaaaaaaa error:none",
  ])();
}

function term(random: Random): string {
  const one = pick(random, [
    integerTerm,
    momentTerm,
    otherTerm,
    otherTerm,
    payloadTerm,
    () =>
      pick(random, [quoted(pick(random, WORDS).padEnd(2, "a")), "etimedout", "mail", "4", "q1"]),
  ]);
  return (random(5) === 0 ? pick(random, ["-", "not "]) : "") + one(random);
}

/** Returns a query with correct syntax. It may be refused as too broad (`query_too_wide`). */
export function randomQuery(random: Random, depth = 2): string {
  const items = Array.from({ length: 1 + random(3) }, () => {
    if (depth === 0 || random(4) > 0) return term(random);
    return `${pick(random, ["", "-"])}(${randomQuery(random, depth - 1)})`;
  });
  return items.join(pick(random, [" ", " and ", " or "]));
}

const SNIPPETS = [
  ...'()-"\\:=<>!,*.[] \t\n\0',
  ..."\ud800é😀",
  ..."0123456789abc",
  "..",
  "and",
  "or",
  "not",
  "none",
  "is:",
  "task:",
  "payload.",
  "due<",
  "1h",
  "2026-01-31",
  "failed",
];

/** Returns any text: pieces of queries in any order, or a query with up to three characters replaced. */
export function randomText(random: Random): string {
  if (random(2) === 0) {
    return Array.from({ length: random(20) }, () => pick(random, SNIPPETS)).join("");
  }
  const chars = [...randomQuery(random)];
  for (let i = random(4); i > 0; i--) chars[random(chars.length)] = pick(random, SNIPPETS);
  return chars.join("");
}
