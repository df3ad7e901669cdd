// Random JSON documents, intact and damaged. The same seed gives the same documents.

/** Returns a random whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** Returns the pseudo-random generator mulberry32. */
export function makeRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const SPACES = ["", "", "", " ", "\n", "\t ", "\r\n  "];
const NUMBERS = [
  "0",
  "-0",
  "7",
  "-13",
  "1.50",
  "1e3",
  "2E-7",
  "-0.0e+0",
  "9007199254740993",
  "1e400",
];
const TEXTS = [
  "",
  "a",
  "payload",
  "käse",
  "日本語",
  "😀",
  "\\n",
  '\\"',
  "\\\\",
  "\\/",
  "\\u0000",
  "\\u00e9",
  "\\ud83d\\ude00",
  "\\ud800",
  "<b>&amp;",
  "\u2028",
  "__proto__",
  " spaced ",
];

/**
 * Returns a valid document. `depth`: the number of arrays and objects that contain the document. If `depth` is more
 * than 5, the document is a scalar.
 */
export function randomJson(random: Random, depth = 0): string {
  const space = () => pick(SPACES, random);
  return space() + value(random, depth) + space();
}

function value(random: Random, depth: number): string {
  const kind = random(depth > 5 ? 4 : 7);
  if (kind === 0) return pick(["true", "false", "null"], random);
  if (kind === 1) return pick(NUMBERS, random);
  if (kind <= 3) return string(random);
  const size = random(5);
  const member = () => {
    const inner = randomJson(random, depth + 1);
    return kind === 4
      ? inner
      : `${pick(SPACES, random)}${string(random)}${pick(SPACES, random)}:${inner}`;
  };
  const members = Array.from({ length: size }, member).join(",");
  return kind === 4 ? `[${members}]` : `{${members}}`;
}

function string(random: Random): string {
  return `"${Array.from({ length: random(4) }, () => pick(TEXTS, random)).join("")}"`;
}

/**
 * Returns the document cut off at a random place, or with one character removed, overwritten, inserted or appended. The
 * result may still be valid JSON.
 */
export function brokenFrom(text: string, random: Random): string {
  const at = random(text.length + 1);
  const junk = pick(
    ['"', "\\", ",", ":", "{", "}", "[", "]", "0", "-", ".", "e", "\u0001", "t", " "],
    random,
  );
  switch (random(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + junk + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + junk + text.slice(at);
    default:
      return text + junk;
  }
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)] as T;
}
