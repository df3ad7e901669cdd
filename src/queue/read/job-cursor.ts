// The place in a listing where the next page begins, as an opaque text for callers to hand back.
import { InputError } from "../../base/errors.ts";

export interface JobCursor {
  /** The page continues with ids greater than this. */
  readonly after: string;
  /** An exact match that lies further on was already shown: do not repeat it. */
  readonly isExactShown: boolean;
}

export const START: JobCursor = { after: "0", isExactShown: false };

/** The text for a cursor. Its form may change with any version. */
export function encodeCursor(cursor: JobCursor): string {
  const text = `${cursor.isExactShown ? "exact" : "after"}:${cursor.after}`;
  return Buffer.from(text).toString("base64url");
}

/** Throws InputError for a text that `encodeCursor` did not make. */
export function decodeCursor(text: string): JobCursor {
  const plain = text.length <= 64 ? Buffer.from(text, "base64url").toString() : "";
  const [, kind, after] = /^(after|exact):(\d{1,19})$/.exec(plain) ?? [];
  const cursor = after === undefined ? undefined : { after, isExactShown: kind === "exact" };
  if (cursor === undefined || encodeCursor(cursor) !== text || BigInt(cursor.after) > MAX_BIGINT) {
    const message = "is not a cursor of a job list; begin again without one";
    throw new InputError([{ path: "cursor", message }]);
  }
  return cursor;
}

const MAX_BIGINT = 9_223_372_036_854_775_807n;
