// GET /api/explain: the cost of a query, term by term, without running it.

import { text } from "../../../commands/declare/field.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import { parseQuery } from "../../../domain/query/parse-query.ts";
import { printQuery } from "../../../domain/query/print-query.ts";
import { json } from "../../../http/response.ts";
import { compileQuery } from "../../../insight/query/compile-query.ts";
import type { Operation } from "../../context/admin.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { inQuery, readQuery } from "../../wire/wire.ts";

const query = {
  q: inQuery(text(["Query", "the query; an invalid query is refused"], 0, MAX_CHARACTERS)),
};

const term = record({
  term: "string",
  at: "integer",
  end: "integer",
  cost: { type: "string", enum: ["cheap", "bounded", "check"] },
  index: "string?",
});

export const getExplain: Operation = {
  summary: "The cost of a query, and for each term the optional index that would make it cheap",
  query,
  answer: record(
    {
      // The query in its shortest form.
      q: "string",
      cost: { type: "string", enum: ["cheap", "bounded"] },
      index_hint: "string?",
      unknown: "string[]",
      terms: listOf(term),
    },
    "Explanation",
  ),
  run: async ({ databases }, request) => {
    const { q = "" } = readQuery(request, query);
    const indexes = await usableIndexes(databases.reads);
    const { cost, indexHint, unknown, terms } = await compileQuery(databases.reads, q, { indexes });
    const tree = parseQuery(q);
    const shortest = tree === null ? "" : printQuery(tree);
    return json({ q: shortest, cost, index_hint: indexHint, unknown, terms });
  },
};
