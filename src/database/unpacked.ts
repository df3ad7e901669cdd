// SQL for the size of values after decompression. The stored size can be read without decompression. The real size can
// be up to 255 times the stored size. Decompression takes 9 ms for each megabyte, so callers limit how many bytes a
// statement decompresses.

/** Returns an SQL condition: the value is compressed in the table. */
export const isPacked = (value: string): string =>
  `pg_catalog.pg_column_compression(${value}) is not null`;

/** Returns a condition: the value has at most `bytes` bytes. */
export const isAtMost = (value: string, bytes: number): string =>
  `case when pg_catalog.pg_column_size(${value}) > ${bytes}::int then false
      when ${isPacked(value)} then pg_catalog.octet_length(${value}::text) <= ${bytes}::int
      else true end`;

/** Returns an expression: the largest size that a value can have after decompression. */
export const worstBytes = (value: string): string =>
  `pg_catalog.pg_column_size(${value})::bigint * case pg_catalog.pg_column_compression(${value})
      when 'lz4' then 255 when 'pglz' then 90 else 1 end`;

/** Returns an expression: the maximum number of bytes that isAtMost() decompresses for the value. */
export const packedBytes = (value: string, bytes: number): string =>
  `case when ${isPacked(value)} and pg_catalog.pg_column_size(${value}) <= ${bytes}::int then ${worstBytes(value)} else 0::bigint end`;

/** Returns an expression: the value if it certainly has at most `bytes` bytes; null if it may have more. */
export const ifSurelyAtMost = (value: string, bytes: number): string =>
  `case when ${worstBytes(value)} <= ${bytes} then ${value} end`;

/** Returns a condition: a text is short enough to be a name that this program has stored. Decompresses nothing. */
export const isNameSize = (text: string): string =>
  `pg_catalog.octet_length(${text}) <= ${MAX_NAME_BYTES}::int`;
/** Twice the size of the longest names: identifiers of cron entries have up to 512 characters of up to 4 bytes. */
const MAX_NAME_BYTES = 4_096;

/** Returns an expression: the first `length` characters of a text. Only the text's beginning is decompressed. */
export const startOfText = (text: string, length = MAX_NAME_LENGTH): string =>
  `pg_catalog.left(${text}, ${length})`;
/** How many characters of a name are read. */
const MAX_NAME_LENGTH = 512;
/** How many characters of a reason, or of another long text, are read. */
export const MAX_REASON_LENGTH = 2_000;
