// The size of values after decompression. The size on disk can be read without cost, but repetitive text decompresses
// to up to 90 times as much, with lz4 to 255 times. Except for texts, only decompression shows the real size, and it
// takes 9 ms for each megabyte. So compressed values are read separately, in batches, up to a number of bytes.

/** Returns a condition: the value is compressed in the table. */
export const isPacked = (value: string): string =>
  `pg_catalog.pg_column_compression(${value}) is not null`;

/**
 * Returns a condition: the value has at most `bytes` bytes. It decompresses only values that are stored in at most as
 * many bytes.
 */
export const isAtMost = (value: string, bytes: number): string =>
  `case when pg_catalog.pg_column_size(${value}) > ${bytes}::int then false
      when ${isPacked(value)} then pg_catalog.octet_length(${value}::text) <= ${bytes}::int
      else true end`;

/** Returns an expression: the size of a value after decompression in the worst case. */
export const worstBytes = (value: string): string =>
  `pg_catalog.pg_column_size(${value})::bigint * case pg_catalog.pg_column_compression(${value})
      when 'lz4' then 255 when 'pglz' then 90 else 1 end`;

/**
 * Returns an expression: the bytes that the decompression of this value by isAtMost() may yield; 0 if the value is not
 * decompressed. Callers sum them up over the rows of a page.
 */
export const packedBytes = (value: string, bytes: number): string =>
  `case when ${isPacked(value)} and pg_catalog.pg_column_size(${value}) <= ${bytes}::int then ${worstBytes(value)} else 0::bigint end`;

/**
 * Returns an expression: the value if it certainly has at most `bytes` bytes; null if it has more, or only
 * decompression could show it.
 */
export const ifSurelyAtMost = (value: string, bytes: number): string =>
  `case when ${worstBytes(value)} <= ${bytes} then ${value} end`;

/**
 * Returns a condition: a text is short enough to be a name that this program has stored. The size of a text can be read
 * without decompressing it.
 */
export const isNameSize = (text: string): string =>
  `pg_catalog.octet_length(${text}) <= ${MAX_NAME_BYTES}::int`;
/** The longest names, identifiers of cron entries, have at most 512 characters. */
const MAX_NAME_BYTES = 4_096;

/** Returns an expression: the first `length` characters of a text. No more of it is decompressed. */
export const startOfText = (text: string, length = MAX_NAME_LENGTH): string =>
  `pg_catalog.left(${text}, ${length})`;
/** More than any name of a task or queue, which has at most 128 characters: a longer text is not from this program. */
const MAX_NAME_LENGTH = 512;
/** The length of reasons that are read. */
export const MAX_REASON_LENGTH = 2_000;
