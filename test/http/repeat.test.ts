// Answers that were asked for before: what the client makes of what it is told is what it would have got.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRepeated } from "../../src/http/repeat/repeated.ts";
import { textDelta } from "../../src/http/repeat/text-delta.ts";
import type { HttpRequest } from "../../src/http/request.ts";
import { jsonText } from "../../src/http/response.ts";
import { joined } from "../../ui/host/answers.ts";

const row = (id: number, more = {}) => ({
  ...{ id, task: "send_email", run_at: `2026-03-01T12:00:00.${String(id).padStart(6, "0")}Z` },
  ...{ error: `Error: no route, "host" {${id % 3}}`, trend: [0, 0, id % 5, 1], tries: 3, ...more },
});
const list = (rows: readonly object[], took = 12) =>
  JSON.stringify({ jobs: rows, next: null, took_ms: took });
const upTo = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => row(from + n));

const asking = (headers: Record<string, string>) => ({ headers }) as unknown as HttpRequest;

test("What differs makes the new text of the old one, whatever they are.", () => {
  const texts = [
    ...["", ",", ",,,", "no comma", '{"a":1,"b":[1,2,3]}', '{"a":"x, y","b":",,\\",\\""}'],
    ...[list(upTo(0, 100)), list(upTo(1, 100)), list([...upTo(500, 503), ...upTo(0, 97)], 9)],
    ...[list(upTo(0, 100).toReversed()), list([]), list(upTo(200, 300)), "ä, ö, 日本, 🙂,"],
  ];
  for (const before of texts) {
    for (const after of texts) assert.equal(joined(before, textDelta(before, after)), after);
  }
});

test("It is as small as what has changed: a number, a row that came, one that went, one that changed.", () => {
  const before = upTo(0, 100);
  const news: readonly (readonly [string, readonly object[], number])[] = [
    ["nothing but the time it took", before, 60],
    ["one in front", [row(900), ...before.slice(0, -1)], 300],
    ["one gone", before.toSpliced(40, 1), 120],
    ["one tried again", before.with(40, row(40, { tries: 4 })), 150],
  ];
  for (const [what, rows, most] of news) {
    const delta = textDelta(list(before), list(rows, 13));
    assert.ok(delta.length <= most, `${what}: ${delta.length}`);
  }
});

test("Who names the answer it has is told that it is the same, or what is different.", () => {
  const repeated = createRepeated();
  const first = repeated(asking({ "a-im": "pieces" }), jsonText(list(upTo(0, 100))));
  const { etag = "" } = first.headers;
  assert.match(etag, /^W\/"[\w-]{22}"$/);
  assert.equal(first.body, list(upTo(0, 100)));

  const same = repeated(asking({ "if-none-match": etag }), jsonText(list(upTo(0, 100))));
  assert.deepEqual(same, { status: 304, headers: { etag }, body: null });

  const again = asking({ "a-im": "pieces", "if-none-match": etag });
  const next = repeated(again, jsonText(list(upTo(1, 101))));
  assert.deepEqual(
    [next.status, next.headers["im"], next.headers["delta-base"]],
    [226, "pieces", etag],
  );
  assert.notEqual(next.headers["etag"], etag);
  assert.equal(joined(String(first.body), String(next.body)), list(upTo(1, 101)));

  const stranger = repeated(asking({ "if-none-match": etag }), jsonText(list(upTo(2, 102))));
  assert.deepEqual([stranger.status, stranger.body], [200, list(upTo(2, 102))]);
});

test("Whoever names what is not kept, or is all different, gets the whole answer.", () => {
  const repeated = createRepeated();
  const ask = (known: string, text: string) =>
    repeated(asking({ "a-im": "pieces", "if-none-match": known }), jsonText(text));
  const first = ask('W/"nobody-knows-this-one"', list(upTo(0, 100)));
  assert.deepEqual([first.status, first.body], [200, list(upTo(0, 100))]);
  const other = ask(first.headers["etag"] ?? "", list(upTo(200, 300)));
  assert.deepEqual([other.status, other.body], [200, list(upTo(200, 300))]);
});

test("Short answers, very long ones, errors and bytes are as they were; what is kept is bounded.", () => {
  const repeated = createRepeated();
  const asks = asking({ "a-im": "pieces" });
  const long = (n: number) => jsonText(JSON.stringify(Array(n).fill("word, word")));
  const failed = { ...long(100), status: 503 };
  const bytes = { status: 200, headers: {}, body: Buffer.alloc(10_000) };
  for (const answer of [jsonText("{}"), long(100_000), failed, bytes, { ...bytes, body: null }]) {
    assert.equal(repeated(asks, answer), answer);
  }
  // 80 answers of 240,000 characters: the first ones have made room for the last ones.
  const texts = Array.from({ length: 80 }, (_, n) => JSON.stringify([n, "word, ".repeat(40_000)]));
  const etags = texts.map((text) => repeated(asks, jsonText(text)).headers["etag"] ?? "");
  const statusOf = (n: number) => {
    const request = asking({ "a-im": "pieces", "if-none-match": etags[n] ?? "" });
    return repeated(request, jsonText(`${texts[n]} `)).status;
  };
  assert.deepEqual([statusOf(0), statusOf(79)], [200, 226]);
});
