// GET /api/suggest: completions of a query.

import { text } from "../../../commands/declare/field.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import { json } from "../../../http/response.ts";
import { suggest } from "../../../insight/suggest/suggest.ts";
import type { Operation } from "../../context/admin.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { countInQuery, inQuery, readQuery } from "../../wire/wire.ts";

const query = {
  q: inQuery(text(["Query", "the query as typed so far"], 0, MAX_CHARACTERS)),
  at: countInQuery("the position of the cursor in the query, in UTF-16 units; its end by default"),
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
    "Completions of a query at one position: texts for the part of the query that `replace` names",
  query,
  answer,
  run: async ({ databases }, request) => {
    const { q = "", at = q.length } = readQuery(request, query);
    return json(await suggest(databases.reads, q, Math.min(at, q.length)));
  },
};
