// Times as keys of an order: whole microseconds since 1970 as text, or an infinity, exactly as they
// leave the database; and how they go back into it whatever the session's settings are.

/** What is beyond all times, as PostgreSQL's numbers spell it. */
export const LATEST = "Infinity";
export const EARLIEST = "-Infinity";

// PostgreSQL's own range: 4713 BC to the year 294276.
const FIRST_US = -210_866_803_200_000_000n;
const LAST_US = 9_224_318_015_999_999_999n;

export function isMomentKey(text: string): boolean {
  if (text === LATEST || text === EARLIEST) return true;
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return false;
  const us = BigInt(text);
  return us >= FIRST_US && us <= LAST_US;
}

/** The next moment in the order's direction; null: there is none. */
export function nextMoment(key: string, descending: boolean): string | null {
  if (key === (descending ? EARLIEST : LATEST)) return null;
  if (key === LATEST) return String(LAST_US);
  if (key === EARLIEST) return String(FIRST_US);
  const next = BigInt(key) + (descending ? -1n : 1n);
  if (next > LAST_US) return LATEST;
  return next < FIRST_US ? EARLIEST : String(next);
}

/** -1, 0 or 1; also for whole numbers. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  if (a === LATEST || b === EARLIEST) return 1;
  if (b === LATEST || a === EARLIEST) return -1;
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

// From 2000 on, as PostgreSQL counts; hours and the rest, because a product with an interval goes
// through a double, which holds both exactly.
/** The timestamptz of a key. `key`: the parameter with it, as `$1`. */
export const momentOf = (key: string): string => `(case ${key}::text
    when '${LATEST}' then timestamptz 'infinity'
    when '${EARLIEST}' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div(${key}::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod(${key}::numeric - 946684800000000, 3600000000)::float8
  end)`;
