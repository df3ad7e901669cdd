/** What each field takes, and which name was probably meant. */

export const MOST_CHARACTERS: i32 = 4000;
export const MOST_BRANCHES: i32 = 8;
export const MOST_TERMS: i32 = 24;
export const MOST_CONDITIONS: i32 = 64;
export const MOST_VALUES: i32 = 100;
export const MOST_STEPS: i32 = 8;
export const DEEPEST: i32 = 8;
export const LONGEST_TEXT: i32 = 256;
export const SHORTEST_SEARCH: i32 = 2;

export const enum FieldKind {
  Integer,
  Moment,
  Word,
  Name,
  Text,
  Json,
}

/** In the order in which they are proposed. */
export const fieldNames: string[] = [
  "id",
  "is",
  "task",
  "queue",
  "key",
  "worker",
  "priority",
  "tries",
  "left",
  "due",
  "created",
  "updated",
  "failed",
  "running",
  "flag",
  "error",
  "group",
  "payload",
];
const kinds: FieldKind[] = [
  FieldKind.Integer,
  FieldKind.Word,
  FieldKind.Name,
  FieldKind.Name,
  FieldKind.Name,
  FieldKind.Name,
  FieldKind.Integer,
  FieldKind.Integer,
  FieldKind.Integer,
  FieldKind.Moment,
  FieldKind.Moment,
  FieldKind.Moment,
  FieldKind.Moment,
  FieldKind.Moment,
  FieldKind.Text,
  FieldKind.Text,
  FieldKind.Text,
  FieldKind.Json,
];

export const isWords: string[] = [
  "ready",
  "blocked",
  "fetched",
  "running",
  "retrying",
  "scheduled",
  "failed",
  "due",
  "stuck",
  "late",
  "locked",
];

/** What the columns and the API call a field, each followed by the field. */
const otherNames: string[] = (
  "state is status is identifier task attempts tries run_at due locked_at running " +
  "locked_by worker last_error error"
).split(" ");

export function kindOf(field: string): FieldKind {
  return kinds[fieldNames.indexOf(field)];
}

export function isField(name: string): bool {
  return fieldNames.includes(name);
}

/** Whether the field may have nothing, as in `queue:none`. */
export function hasNone(field: string, hasPath: bool): bool {
  if (field === "payload") return hasPath;
  return ["queue", "key", "worker", "flag", "error"].includes(field);
}

export function hasOrder(field: string, hasPath: bool): bool {
  const kind = kindOf(field);
  return (
    kind === FieldKind.Integer || kind === FieldKind.Moment || (field === "payload" && hasPath)
  );
}

export function isOrder(op: string): bool {
  return op.startsWith("<") || op.startsWith(">");
}

/** The field that was probably meant, or "". */
export function meantField(name: string): string {
  for (let i = 0; i < otherNames.length; i += 2) {
    if (otherNames[i] === name) return otherNames[i + 1];
  }
  const near = nearest(name, fieldNames);
  if (near.length > 0 || name.length < 3) return near;
  for (let i = 0; i < fieldNames.length; i++) {
    const field = fieldNames[i];
    if (field.startsWith(name) || (field.length > 2 && name.startsWith(field))) return field;
  }
  return "";
}

/** The nearest of the names whatever its case, or "" where none is near enough. */
export function nearest(word: string, names: string[]): string {
  if (word.length > 64) return "";
  let best = "";
  let least: i32 = i32.MAX_VALUE;
  for (let i = 0; i < names.length; i++) {
    const steps = distance(word, names[i]);
    if (steps >= least) continue;
    least = steps;
    best = names[i];
  }
  const near = least <= max(2, best.length / 3);
  return near && least < max(word.length, best.length) ? best : "";
}

/** Levenshtein's distance. */
function distance(a: string, b: string): i32 {
  const row = new StaticArray<i32>(b.length + 1);
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0];
    row[0] = i + 1;
    for (let j = 0; j < b.length; j++) {
      const same = small(a.charCodeAt(i)) === small(b.charCodeAt(j));
      const next = min(min(row[j] + 1, row[j + 1] + 1), same ? diagonal : diagonal + 1);
      diagonal = row[j + 1];
      row[j + 1] = next;
    }
  }
  return row[b.length];
}

function small(c: i32): i32 {
  return c >= 0x41 && c <= 0x5a ? c + 0x20 : c;
}
