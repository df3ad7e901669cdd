// A payload as a list of paths with short values: what two payloads can be compared by. Bounded in depth
// and number, whatever somebody has put into a job.

const DEEPEST = 6;
const MOST_PATHS = 200;
const LONGEST_VALUE = 80;
const MOST_ELEMENTS = 20;

/** Numbers that a double would change. */
const LONG_NUMBER = /\d{16}/;

/**
 * `payload.customer.vip` → its value as JSON, of at most 80 characters; of an array its length, and its
 * elements under `[]`. A path may have several values. null: no JSON that can be read.
 */
export function flatten(payload: string): Map<string, Set<string>> | null {
  const paths = new Map<string, Set<string>>();
  try {
    add(paths, "payload", parse(payload), 0);
  } catch {
    return null; // nested more deeply than the parser can follow
  }
  return paths;
}

function add(paths: Map<string, Set<string>>, path: string, value: unknown, depth: number): void {
  if (Array.isArray(value)) {
    put(paths, `${path}.length`, String(value.length));
    if (depth >= DEEPEST) return;
    for (const element of value.slice(0, MOST_ELEMENTS))
      add(paths, `${path}[]`, element, depth + 1);
  } else if (typeof value === "string" && value.startsWith(EXACT)) {
    put(paths, path, value.slice(EXACT.length));
  } else if (typeof value === "object" && value !== null) {
    if (depth >= DEEPEST) return;
    for (const [name, member] of Object.entries(value)) {
      add(paths, `${path}.${nameText(name)}`, member, depth + 1);
    }
  } else {
    put(paths, path, JSON.stringify(value));
  }
}

function put(paths: Map<string, Set<string>>, path: string, text: string): void {
  const values = paths.get(path);
  if (values === undefined && paths.size >= MOST_PATHS) return;
  const isShort = text.length <= LONGEST_VALUE;
  paths.set(path, isShort ? (values ?? new Set()).add(text) : (values ?? new Set()));
}

/** As the query language writes it. */
const nameText = (name: string) => {
  const short = name.slice(0, LONGEST_VALUE);
  return /^[\w$@/-]+$/.test(short) ? short : JSON.stringify(short);
};

/** Marks a number that is kept as its text. */
const EXACT = "\0number ";
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

function parse(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const exact = text.replace(STRING_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') ? token : JSON.stringify(EXACT + token),
  );
  return JSON.parse(exact);
}
