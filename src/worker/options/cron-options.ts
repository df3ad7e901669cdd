// The option `cron` of a worker.
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { InputError, messageOf, type Problem, WorkerError } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import { type CronEntry, checkedEntry } from "../../domain/cron/cron-entry.ts";
import { parseCrontab } from "../../domain/cron/crontab.ts";

/** The cron entries of a worker: at most 10,000 in total, with different identifiers. */
export interface CronOptions {
  /** Entries made with cronEntry(), everyMinute(), everyMinutes() or parseCrontab(). Default: none. */
  readonly entries?: readonly CronEntry[] | undefined;
  /** A text in Graphile Worker's crontab format. Default: none. */
  readonly crontab?: string | undefined;
  /** The path of a file in Graphile Worker's crontab format, read once when the worker starts. Default: none. */
  readonly crontabFile?: string | undefined;
}

export interface CronConfig {
  readonly entries: readonly CronEntry[];
  readonly crontabFile: string | null;
}

const MAX_ENTRIES = 10_000;

const optionsSchema = strict({
  entries: v.optional(
    v.array(
      v.custom<CronEntry>((entry) => typeof entry === "object" && entry !== null),
      "must be a list of entries",
    ),
    [],
  ),
  crontab: v.optional(v.string("must be a string"), ""),
  crontabFile: v.optional(v.pipe(v.string("must be a string"), v.minLength(1, "must be a path"))),
});

/** Returns the checked options, without reading the file; null if there is no entry and no file. Throws InputError. */
export function resolveCronOptions(options: CronOptions | undefined): CronConfig | null {
  if (options === undefined) return null;
  const problems: Problem[] = [];
  const collect = <T>(prefix: string, step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      for (const { path, message } of error.problems) {
        const separator = path === "" ? "" : path.startsWith("line ") ? ", " : ".";
        problems.push({ path: prefix + separator + path, message });
      }
      return undefined;
    }
  };
  const checked = collect("cron", () => validate(optionsSchema, options));
  const entries = (checked?.entries ?? []).flatMap(
    (entry, index) => collect(`cron.entries[${index}]`, () => checkedEntry(entry)) ?? [],
  );
  entries.push(...(collect("cron.crontab", () => parseCrontab(checked?.crontab ?? "")) ?? []));
  collect("cron", () => assertUnique(entries));
  if (problems.length > 0) throw new InputError(problems);
  const crontabFile = checked?.crontabFile ?? null;
  return entries.length === 0 && crontabFile === null ? null : { entries, crontabFile };
}

/**
 * Returns the entries of the options and of the crontab file. Rejects with WorkerError if the file is unreadable, and
 * with InputError if its entries are invalid, or if there are too many entries or equal identifiers in total.
 */
export async function readTimetable(config: CronConfig): Promise<readonly CronEntry[]> {
  const { entries, crontabFile: file } = config;
  if (file === null) return entries;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const message = `cannot read the crontab file (${messageOf(cause)}); check cron.crontabFile`;
    throw new WorkerError("configuration", message, { cause });
  });
  try {
    const all = [...entries, ...parseCrontab(text)];
    assertUnique(all);
    return all;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const place = (path: string) => (path === "" ? file : `${file}, ${path}`);
    throw new InputError(
      error.problems.map(({ path, message }) => ({ path: place(path), message })),
    );
  }
}

function assertUnique(entries: readonly CronEntry[]): void {
  if (entries.length > MAX_ENTRIES) throw new InputError(`at most ${MAX_ENTRIES} entries`);
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { identifier } of entries) (seen.has(identifier) ? twice : seen).add(identifier);
  if (twice.size === 0) return;
  const names = [...twice].map((name) => `"${name}"`).join(", ");
  throw new InputError(
    `more than one entry has the identifier ${names}; set different ones with identifier or ?id=…`,
  );
}
