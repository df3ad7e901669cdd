// Failures of one kind: the first line of the error with what differs from job to job left out. What
// is left out is stable: groups are compared between versions of the page, and kept in links.
import { hash } from "node:crypto";

export interface ErrorGroup {
  /** 12 hexadecimal digits that stand for the label. */
  readonly fingerprint: string;
  /** The first line with `#` in place of numbers, ids, addresses and times. */
  readonly label: string;
  /** A LIKE pattern that all errors of the group match, and perhaps others. */
  readonly likePattern: string;
}

/** More of a first line tells nothing new. */
const LONGEST_LINE = 300;

// In this order: UUIDs, mail addresses, times, hexadecimal numbers, ids of letters and digits in turn,
// numbers. None of them can take longer than the line is long times a word.
const VARYING = new RegExp(
  [
    "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    "[\\w.+-]{1,64}@[\\w-]{1,64}(?:\\.[\\w-]{1,64})+",
    "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?",
    "\\b0x[0-9a-f]+",
    "\\b(?=[a-f]*\\d)[0-9a-f]{8,}\\b",
    "\\b[a-z]*\\d+[a-z]+\\d[a-z0-9]*\\b",
    "\\d+(?:\\.\\d+)*",
  ].join("|"),
  "gi",
);

/** The group of an error as it stands in `last_error`. */
export function errorGroup(lastError: string): ErrorGroup {
  return groupOfLabel(errorLabel(lastError));
}

/** The same, once the label is known. */
export function groupOfLabel(label: string): ErrorGroup {
  const fingerprint = hash("sha256", label).slice(0, 12);
  return { fingerprint, label, likePattern: likePatternOf(label) };
}

/** The label alone, for who groups many errors. */
export function errorLabel(lastError: string): string {
  const end = lastError.search(/[\r\n]/);
  const line = (end < 0 ? lastError : lastError.slice(0, end)).slice(0, LONGEST_LINE).trimEnd();
  // A list may have any length.
  return line.replace(VARYING, "#").replace(/#(?:, ?#)+/g, "#");
}

/** The pattern of a label alone. */
export function likePatternOf(label: string): string {
  return `${label.replace(/[\\%_]/g, "\\$&").replaceAll("#", "%")}%`;
}

export const isFingerprint = (text: string): boolean => /^[0-9a-f]{12}$/.test(text);
