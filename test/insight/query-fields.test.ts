// Every field that the parsers of server and client accept has SQL, and every word after `is:` has a help text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shownConditions } from "../../src/domain/condition.ts";
import { groupWords, queryFields } from "../../src/domain/portable/query/fields.ts";
import { fieldSql } from "../../src/insight/query/fields/index.ts";
import { isWords, sqlOfWord } from "../../src/insight/query/fields/is-part.ts";

test("Every field that can be written in a query has SQL.", () => {
  assert.deepEqual(
    Object.keys(fieldSql),
    queryFields.map(({ name }) => name),
  );
});

test("The words after is: are the conditions and the groups, each with a help text.", () => {
  assert.deepEqual(isWords, [...shownConditions, ...groupWords]);
  for (const word of isWords) assert.ok(sqlOfWord(word).note.length > 0, word);
});
