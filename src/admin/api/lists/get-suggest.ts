// GET /api/suggest: completions at the cursor of a query that is being typed.

import { text } from "../../../commands/declare/field.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import { json } from "../../../http/response.ts";
import { suggest } from "../../../insight/suggest/suggest.ts";
import type { Operation } from "../../context/admin.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { countInQuery, inQuery, readQuery } from "../../wire/wire.ts";

const query = {
  q: inQuery(text(["Query", "the query as typed so far"], 0, MAX_CHARACTERS)),
  at: countInQuery("the cursor's place in the query, in UTF-16 units; the query's end by default"),
};

const answer = record(
  {
    replace: record({ at: "integer", end: "integer" }),
    suggestions: listOf(record({ text: "string", kind: "string", about: "string?" })),
  },
  "Suggestions",
);

export const getSuggest: Operation = {
  summary:
    "Completions of a query at the cursor: each suggestion is a text for the range `replace` of the query",
  query,
  answer,
  run: async ({ databases }, request) => {
    const { q = "", at = q.length } = readQuery(request, query);
    return json(await suggest(databases.reads, q, Math.min(at, q.length)));
  },
};
