// Reads the `?id=…&fill=…` part of a crontab line: a query string as Graphile Worker reads it, with percent escapes and
// + for a space.
import { parse } from "node:querystring";
import { didYouMean } from "../../base/validate.ts";
import { type CronEntry, cronJobKeyModes, MAX_FILL_MS } from "./cron-entry.ts";
import type { TextProblem } from "./cron-fields.ts";
import { zoneProblem } from "./time-zone.ts";

/** A cron entry whose fields are being read from a line. */
export type EntryFields = { -readonly [Name in keyof CronEntry]?: CronEntry[Name] };

interface Option {
  /** The valid values in words, for the message after "expected". */
  readonly expected: string;
  /** Returns the fields that the value sets, or null if it is invalid. */
  read(value: string): EntryFields | null;
}

const options: Readonly<Record<string, Option>> = {
  id: {
    expected: "1 to 512 letters, digits, _ and -, of which the first is a letter or _",
    read: (identifier) => (/^[_a-z][-_a-z0-9]{0,511}$/i.test(identifier) ? { identifier } : null),
  },
  fill: {
    expected:
      "a time phrase such as 4w3d2h1m (weeks, days, hours, minutes, seconds), at most 366 days",
    read: (value) => {
      const fillMs = timePhraseMs(value);
      return fillMs === null || fillMs > MAX_FILL_MS ? null : { fillMs };
    },
  },
  max: {
    expected: "a number of attempts from 1 to 32767",
    read: (value) => {
      const maxAttempts = wholeNumber(value);
      return /^\d+$/.test(value) && isWithin(maxAttempts, 1, 32_767) ? { maxAttempts } : null;
    },
  },
  queue: {
    expected: "1 to 128 letters, digits, -, _ and :",
    read: (queueName) => (/^[-a-z0-9_:]{1,128}$/i.test(queueName) ? { queueName } : null),
  },
  jobKey: {
    expected: "1 to 512 characters in one line",
    read: (jobKey) => {
      const isStorable = !/[\0\n\r\u2028\u2029]/.test(jobKey);
      return isStorable && isWithin([...jobKey].length, 1, 512) ? { jobKey } : null;
    },
  },
  jobKeyMode: {
    expected: cronJobKeyModes.join(" or "),
    read: (value) => {
      const jobKeyMode = cronJobKeyModes.find((mode) => mode === value);
      return jobKeyMode === undefined ? null : { jobKeyMode };
    },
  },
  tz: {
    expected: "the name of a time zone such as Europe/Berlin, America/New_York or UTC",
    read: (value) => {
      // No time zone has a space in its name. Decoding turns the + of a name such as Etc/GMT+2 into a space.
      const timeZone = value.replaceAll(" ", "+");
      return zoneProblem(timeZone) === null ? { timeZone } : null;
    },
  },
  priority: {
    expected: "a whole number from -32768 to 32767",
    read: (value) => {
      const priority = wholeNumber(value);
      return isWithin(priority, -32_768, 32_767) ? { priority } : null;
    },
  },
};

/** Reads the text after the question mark into `fields`. Returns all problems, with their places in this text. */
export function readCrontabOptions(text: string, fields: EntryFields): TextProblem[] {
  const problems: TextProblem[] = [];
  const seen = new Set<string>();
  let at = 0;
  for (const piece of text.split("&")) {
    // Each piece is parsed by itself, so that its place in the text is known. An empty piece has no options.
    for (const [name, value] of Object.entries(parse(piece))) {
      const message = seen.has(name)
        ? `the option "${name}" is given more than once`
        : readOption(name, String(value), fields);
      seen.add(name);
      if (message !== undefined) problems.push({ at, message });
    }
    at += piece.length + 1;
  }
  // A jobKeyMode without a jobKey is ignored, as in Graphile Worker.
  if (fields.jobKey === undefined) delete fields.jobKeyMode;
  return problems;
}

function readOption(name: string, value: string, fields: EntryFields): string | undefined {
  const names = Object.keys(options);
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    return `unknown option "${name}"${didYouMean(name, names) || `; expected ${names.join(", ")}`}`;
  }
  const meant = option.read(value);
  if (meant === null) return `"${value}" is not a valid ${name}; expected ${option.expected}`;
  Object.assign(fields, meant);
  return undefined;
}

const PERIODS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Converts a time phrase such as `4w3d2h1m` to milliseconds. Returns null if the text is invalid. */
function timePhraseMs(text: string): number | null {
  if (!/^(?:[0-9]{1,15}[smhdw])+$/.test(text)) return null;
  let sumMs = 0;
  for (const [, quantity, period = ""] of text.matchAll(/([0-9]{1,15})([smhdw])/g)) {
    sumMs += Number(quantity) * (PERIODS_MS[period] ?? 0);
  }
  return sumMs;
}

function wholeNumber(text: string): number {
  return /^-?[0-9]+$/.test(text) ? Number(text) + 0 : Number.NaN; // + 0 turns -0 into 0
}

function isWithin(number: number, least: number, most: number): boolean {
  return number >= least && number <= most;
}
