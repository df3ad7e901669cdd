// Times as sort keys. A key is a text: the microseconds since 1970, or an infinity.

/** The key after all times, spelled as PostgreSQL spells an infinite number. */
export const LATEST = "Infinity";
/** The key before all times. */
export const EARLIEST = "-Infinity";

// The first and the last microsecond of PostgreSQL's timestamps.
const FIRST_US = -210_866_803_200_000_000n;
const LAST_US = 9_224_318_015_999_999_999n;

export function isMomentKey(text: string): boolean {
  if (text === LATEST || text === EARLIEST) return true;
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return false;
  const us = BigInt(text);
  return us >= FIRST_US && us <= LAST_US;
}

/** Returns the next larger key, or the next smaller key if `descending`; null if there is none. */
export function nextMoment(key: string, descending: boolean): string | null {
  if (key === (descending ? EARLIEST : LATEST)) return null;
  if (key === LATEST) return String(LAST_US);
  if (key === EARLIEST) return String(FIRST_US);
  const next = BigInt(key) + (descending ? -1n : 1n);
  if (next > LAST_US) return LATEST;
  return next < FIRST_US ? EARLIEST : String(next);
}

/** Compares two keys or other integers. Returns -1, 0 or 1. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  if (a === LATEST || b === EARLIEST) return 1;
  if (b === LATEST || a === EARLIEST) return -1;
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

const DAY_US = 86_400_000_000n;

/** Returns the key as a timestamp that PostgreSQL reads exactly, regardless of DateStyle and TimeZone. */
export function momentText(key: string): string {
  if (key === LATEST) return "infinity";
  if (key === EARLIEST) return "-infinity";
  const us = BigInt(key);
  const time = ((us % DAY_US) + DAY_US) % DAY_US;
  const { year, month, day } = dateOf((us - time) / DAY_US);
  const seconds = time / 1_000_000n;
  const clock = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n].map(two).join(":");
  const fraction = String(time % 1_000_000n).padStart(6, "0");
  // There is no year 0: before the year 1 comes 1 BC.
  const [ofEra, era] = year > 0n ? [year, ""] : [1n - year, " BC"];
  const date = `${String(ofEra).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return `${date} ${clock}.${fraction}+00${era}`;
}

const two = (number: bigint) => String(number).padStart(2, "0");

const CYCLE_DAYS = 146_097n;
const CYCLE_YEARS = 400n;

/**
 * `days`: the days since 1 January 1970. A Date cannot represent the last 18,500 years of PostgreSQL's timestamps. The
 * calendar repeats every 400 years, so the date is computed for a day of the years 1970 to 2369.
 */
function dateOf(days: bigint) {
  const within = ((days % CYCLE_DAYS) + CYCLE_DAYS) % CYCLE_DAYS;
  const date = new Date(Number(within) * 86_400_000);
  return {
    year: BigInt(date.getUTCFullYear()) + ((days - within) / CYCLE_DAYS) * CYCLE_YEARS,
    month: BigInt(date.getUTCMonth() + 1),
    day: BigInt(date.getUTCDate()),
  };
}
