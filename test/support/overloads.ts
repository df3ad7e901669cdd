// What somebody may put beside PostgreSQL's own operators: these names for these types.

export const OPERATORS: readonly string[] = [
  ...["=", "<>", "<", "<=", ">", ">=", "~", "!~", "~*", "~~", "!~~", "~~*", "^@", "&&", "@>", "<@"],
  ...["?", "||", "->", "->>", "#>", "#>>", "+", "-", "*", "/", "%", "<<", ">>", "&", "|"],
];

export const TYPES: readonly string[] = [
  ...["bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "name"],
  ...[
    '"char"',
    "json",
    "jsonb",
    "timestamptz",
    "interval",
    "bytea",
    "oid",
    "xid",
    "tid",
    "regclass",
  ],
  ...["bool[]", "int2[]", "int4[]", "int8[]", "float8[]", "text[]", "oid[]", "timestamptz[]"],
];
