// The fields that server and client parse, and those that have SQL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditions } from "../../src/domain/condition.ts";
import { isWords, queryFields } from "../../src/domain/portable/query/fields.ts";
import { fieldSql } from "../../src/insight/query/fields/index.ts";
import { wordSql } from "../../src/insight/query/fields/is-part.ts";

test("Every field that can be written in a query has SQL, a cost and a help text.", () => {
  assert.deepEqual(
    Object.keys(fieldSql),
    queryFields.map(({ name }) => name),
  );
});

test("Every word of is: has SQL, a cost and a help text.", () => {
  assert.deepEqual(Object.keys(wordSql).toSorted(), isWords.toSorted());
});

test("Every condition of a job is a word of is:.", () => {
  assert.deepEqual(
    conditions.filter((condition) => !isWords.includes(condition)),
    [],
  );
});
