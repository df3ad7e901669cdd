// The fields of the query language. The SQL and the help texts of the fields are in src/insight/query/fields.
import { nearest } from "./nearest.ts";

/** A trait of a field: jobs without a value match `none`, as in `queue:none`. */
const NONE: i32 = 1;
/** A trait of a field: queries with the field read long texts of jobs. */
const TEXTS: i32 = 2;

export class FilterField {
  name: string;
  /**
   * What a query contains for the field. `integer`: a whole number; `moment`: an age or a time; `word`: a condition
   * such as `failed`; `name`: a whole name, or the beginning of a name and `*`; `text`: a whole text; `search`: a part
   * of a text, or after `=` a whole text; `json`: a value at a path of the payload, or without a path a part of the
   * payload's text.
   */
  kind: string;
  traits: i32;
  /** Wrong names that users may type for this field, such as `run_at` for `due`, separated by spaces. */
  otherNames: string;

  constructor(name: string, kind: string, traits: i32, otherNames: string) {
    this.name = name;
    this.kind = kind;
    this.traits = traits;
    this.otherNames = otherNames;
  }

  hasNone(hasPath: bool): bool {
    return this.kind === "json" ? hasPath : (this.traits & NONE) !== 0;
  }

  /** Whether the operators `<`, `<=`, `>` and `>=` are allowed. */
  hasOrder(hasPath: bool): bool {
    return this.kind === "integer" || this.kind === "moment" || (this.kind === "json" && hasPath);
  }

  /** Whether jobs match if the typed value occurs anywhere in the field's text. */
  isSearched(op: string, hasPath: bool): bool {
    return this.kind === "search" ? op === ":" : this.kind === "json" && !hasPath;
  }

  get readsTexts(): bool {
    return (this.traits & TEXTS) !== 0;
  }
}

function field(name: string, kind: string, traits: i32 = 0, otherNames: string = ""): FilterField {
  return new FilterField(name, kind, traits, otherNames);
}

/** The words after `is:` that are not conditions of jobs. */
export const groupWords: string[] = ["due", "stuck", "late", "locked"];

/** The fields in the order of the suggestions. */
export const queryFields: FilterField[] = [
  field("id", "integer"),
  field("is", "word", 0, "state status"),
  field("task", "name", 0, "identifier"),
  field("queue", "name", NONE),
  field("key", "name", NONE),
  field("worker", "name", NONE, "locked_by"),
  field("priority", "integer"),
  field("attempts", "integer"),
  field("left", "integer"),
  field("due", "moment", 0, "run_at"),
  field("created", "moment"),
  field("updated", "moment"),
  field("failed", "moment"),
  field("running", "moment", 0, "locked_at"),
  field("flag", "text", NONE),
  field("error", "search", NONE | TEXTS, "last_error"),
  field("group", "text", TEXTS),
  field("payload", "json", TEXTS),
];

/** Returns the field with this name, or null. Saved queries may contain `tries`, which is an alias of `attempts`. */
export function fieldNamed(name: string): FilterField | null {
  const known = name === "tries" ? "attempts" : name;
  for (let i = 0; i < queryFields.length; i++) {
    if (queryFields[i]!.name === known) return queryFields[i]!;
  }
  return null;
}

/** Returns the name of the field that is probably meant by an unknown name; "" if no field is similar. */
export function meantField(name: string): string {
  const names: string[] = [];
  for (let i = 0; i < queryFields.length; i++) {
    const field = queryFields[i]!;
    if (field.otherNames.split(" ").includes(name)) return field.name;
    names.push(field.name);
  }
  const near = nearest(name, names);
  if (near.length > 0 || name.length < 3) return near;
  for (let i = 0; i < names.length; i++) {
    const other = names[i]!;
    if (other.startsWith(name) || (other.length > 2 && name.startsWith(other))) return other;
  }
  return "";
}

export function isOrder(op: string): bool {
  return op.startsWith("<") || op.startsWith(">");
}
