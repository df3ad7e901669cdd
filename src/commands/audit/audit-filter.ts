// Finds entries of the audit trail by a text or an id. Entries stay JSON texts, so that large ids are exact.
import { InputError } from "../../base/errors.ts";
import { jsonElements, jsonMembers } from "../../base/json-members.ts";

export interface AuditFilter {
  /** A text in user, action, message, query, key or worker; or the id of a job or an operation. Empty: any entry. */
  readonly search: string;
  /** The maximum age of an entry, in seconds; null: any. */
  readonly lastSecs: number | null;
}

const SEARCHED = ["by", "action", "q", "key", "workers", "message"];

/**
 * Returns a function that reports whether an entry matches, regardless of case. Only an empty search matches entries of
 * other programs.
 */
export function matcherOf(search: string): (json: string | null) => boolean {
  if (search === "") return () => true;
  const wanted = JSON.stringify(search.toLowerCase()).slice(1, -1);
  const id = /^#?(\d+)$/.exec(wanted)?.[1];
  return (json) => {
    if (json === null || !isOwn(json)) return false;
    const members = jsonMembers(json);
    const texts = SEARCHED.map((name) => members.get(name) ?? "").filter((text) => text !== "null");
    if (texts.some((text) => text.toLowerCase().includes(wanted))) return true;
    if (id === undefined) return false;
    const ids = jsonElements(members.get("ids") ?? "null") ?? [];
    return ids.includes(id) || members.get("operation_id") === id;
  };
}

/** Whether this program may have written an entry. Such an entry has no `id`, which is added only to listed entries. */
export function isOwn(json: string): boolean {
  try {
    const members = jsonMembers(json);
    return members.get("action")?.startsWith('"') === true && !members.has("id");
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}
