// Turns a payload into a map from paths to short values, so that payloads can be compared.

const DEEPEST = 6;
const MAX_PATHS = 200;
const MAX_VALUE_LENGTH = 80;
const MAX_ELEMENTS = 20;
const MAX_PAYLOAD_LENGTH = 100_000;

/** Matches the digits of numbers that a double may not represent exactly. */
const LONG_NUMBER = /\d{16}/;

/**
 * Returns a map from paths, such as `payload.customer.vip`, to the values at each path, as JSON. An array has its
 * length under `.length` and its first 20 elements under `[]`, so a path may have several values. Long or deeply
 * nested values, and paths after the first 200, are left out. Returns null if the JSON is invalid or too long.
 */
export function flatten(payload: string): Map<string, Set<string>> | null {
  if (payload.length > MAX_PAYLOAD_LENGTH) return null;
  const paths = new Map<string, Set<string>>();
  try {
    add(paths, "payload", parse(payload), 0);
  } catch {
    return null;
  }
  return paths;
}

function add(paths: Map<string, Set<string>>, path: string, value: unknown, depth: number): void {
  if (Array.isArray(value)) {
    addValue(paths, `${path}.length`, String(value.length));
    if (depth >= DEEPEST) return;
    for (const element of value.slice(0, MAX_ELEMENTS)) add(paths, `${path}[]`, element, depth + 1);
  } else if (typeof value === "string" && value.startsWith(EXACT)) {
    addValue(paths, path, value.slice(EXACT.length));
  } else if (typeof value === "object" && value !== null) {
    if (depth >= DEEPEST) return;
    for (const [name, member] of Object.entries(value)) {
      add(paths, `${path}.${nameText(name)}`, member, depth + 1);
    }
  } else {
    addValue(paths, path, JSON.stringify(value));
  }
}

function addValue(paths: Map<string, Set<string>>, path: string, text: string): void {
  const values = paths.get(path);
  if (values === undefined && paths.size >= MAX_PATHS) return;
  const isShort = text.length <= MAX_VALUE_LENGTH;
  paths.set(path, isShort ? (values ?? new Set()).add(text) : (values ?? new Set()));
}

/** Shortens a member's name, and quotes it if the query language requires quotes. */
const nameText = (name: string) => {
  const short = name.slice(0, MAX_VALUE_LENGTH);
  return /^[\w$@/-]+$/.test(short) ? short : JSON.stringify(short);
};

/** The beginning of the strings that replace long integers. */
const EXACT = "\0number ";

function parse(text: string): unknown {
  return JSON.parse(LONG_NUMBER.test(text) ? withExactIntegers(text) : text);
}

/** Replaces each long integer by a string, because JSON.parse() might round the integer. */
function withExactIntegers(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    if (!isOfInteger(code)) continue;
    const start = at;
    let isInteger = true;
    for (let end = at; isOfNumber(text.charCodeAt(end)); end++) {
      isInteger &&= isOfInteger(text.charCodeAt(end));
      at = end;
    }
    const token = text.slice(start, at + 1);
    if (!isInteger || !LONG_NUMBER.test(token)) continue;
    parts.push(text.slice(from, start), JSON.stringify(EXACT + token));
    from = at + 1;
  }
  return parts.join("") + text.slice(from);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** A digit or the minus sign. */
const isOfInteger = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2d;
/** A digit, a minus or plus sign, a point, e or E. */
const isOfNumber = (code: number) =>
  isOfInteger(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b;
