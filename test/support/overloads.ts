// Creates overloads of PostgreSQL's operators and functions in the schema `public`. Any role that may create objects in
// this schema could do the same. PostgreSQL prefers an overload if only the overload has exactly the argument types of
// a call.
import type pg from "pg";

const OPERATORS = [
  ...["=", "<>", "<", "<=", ">", ">=", "~", "!~", "~*", "~~", "!~~", "~~*", "^@", "&&", "@>", "<@"],
  ...["?", "||", "->", "->>", "#>", "#>>", "+", "-", "*", "/", "%", "<<", ">>", "&", "|"],
];

const TYPES = [
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

/** Functions that statements call often, with the argument types of their overloads. */
const FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  unnest: ["int2[]", "int4[]", "int8[]", "text[]", "bool[]", "oid[]", "float8[]", "timestamptz[]"],
  cardinality: ["int4[]", "int8[]", "text[]"],
  array_to_json: ["int2[]", "int4[]", "int8[]", "text[]", "float8[]"],
  to_json: ["text", "text[]", "int8", "int8[]", "json"],
  to_jsonb: ["text", "timestamptz", "int8", "float8"],
  array_to_string: ["text[], text", "int8[], text"],
  format: ["text, text", "text, text, int4", "text, int8", "text, float8, int8"],
  json_build_object: ["text, float8, text, int4", "text, int8"],
  jsonb_build_object: ["text, timestamptz", "text, text", "text, float8"],
  json_build_array: ["text, int4", "text, text"],
  concat_ws: ["text, text, text", "text, int8, text"],
  array_length: ["text[], int4", "int8[], int4"],
  exp: ["int2", "int4"],
  floor: ["int8", "int4"],
};

const AGGREGATES: Readonly<Record<string, readonly string[]>> = {
  array_agg: ["int2", "int4", "int8", "text", "timestamptz", "float8"],
  json_agg: ["int2", "int4", "int8", "text", "json", "float8"],
  count: ["int4", "int8", "text", "timestamptz", "json"],
};

/**
 * Creates the functions and aggregates as the role of `tenant`. Inserts the operators into the catalog as the
 * superuser, because thousands of statements `create operator` would take a minute.
 */
export async function createOverloads(superuser: pg.Client, tenant: pg.Client): Promise<void> {
  const body =
    "language plpgsql as 'begin insert into public.run_as values (current_user); return null; end'";
  await tenant.query(`create table public.run_as (role text);
    grant insert on public.run_as to public;
    create function public.captured() returns bool ${body};
    create function public.captured_step(bool) returns bool ${body};`);
  for (const [name, all] of Object.entries(FUNCTIONS)) {
    for (const types of all) {
      await tenant.query(
        `create function public.${name}(${types}) returns ${types.split("[")[0]?.split(",")[0]} ${body}`,
      );
    }
  }
  for (const [name, all] of Object.entries(AGGREGATES)) {
    for (const type of all) {
      await tenant.query(`create or replace function public.captured_step(bool, ${type}) returns bool ${body};
        create aggregate public.${name}(${type}) (sfunc = public.captured_step, stype = bool)`);
    }
  }
  await createOperators(superuser);
}

/** Creates only the operators. The function `public.captured()` must exist. */
export async function createOperators(superuser: pg.Client): Promise<void> {
  await superuser.query("set allow_system_table_mods = on");
  await superuser.query(operatorsSql, [OPERATORS, TYPES]);
}

const operatorsSql = `
  insert into pg_operator (oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash,
    oprleft, oprright, oprresult, oprcom, oprnegate, oprcode, oprrest, oprjoin)
  select 900000 + row_number() over (), name, 'public'::regnamespace, 10, 'b', false, false,
    l::regtype, r::regtype, 'bool'::regtype, 0, 0, 'public.captured()'::regprocedure, 0, 0
  from pg_catalog.unnest($1::text[]) as name, pg_catalog.unnest($2::text[]) as l,
    pg_catalog.unnest($2::text[]) as r
  where not exists (
    select from pg_operator as own
    where own.oprname = name and own.oprleft = l::regtype and own.oprright = r::regtype
  )`;
