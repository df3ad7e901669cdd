// When jobs run that are moved: from a time, by so much, and spread over so much. The same expression writes
// it, and finds it untouched when that is undone.

/**
 * `from`: a time; `id`: the job's; `shift` and `spread`: seconds, or null. A job's place in the spread follows
 * from its id: `hashint8` gives each of 2^32 numbers as likely as another.
 */
export const movedRunAt = (from: string, id: string, shift: string, spread: string): string =>
  `${from} + pg_catalog.make_interval(secs => coalesce(${shift}, 0::float8) + coalesce(${spread}, 0::float8)
        * ((pg_catalog.hashint8(${id})::float8 + 2147483648::float8) / 4294967296::float8))`;
