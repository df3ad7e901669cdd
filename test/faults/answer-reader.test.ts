// Tests the reader of HTTP responses that the fuzz test uses. The reader accepts responses with correct framing,
// however their bytes are split, and throws an error for all others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, answerReader } from "../bench/fuzz/answer-reader.ts";

/**
 * Returns the responses in `bytes`, which arrive in pieces of `size` bytes. `heads`: for each request, whether it was a
 * HEAD request.
 */
function read(bytes: string, size: number, heads: readonly boolean[] = [false, false]): string[] {
  const answers: Answer[] = [];
  const reader = answerReader(
    () => heads[answers.length] ?? null,
    (answer) => answers.push(answer),
  );
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length; at += size) reader.take(all.subarray(at, at + size));
  reader.end();
  return answers.map(({ status, text, isLast }) => `${status} ${text}${isLast ? " last" : ""}`);
}

const SIZED = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const CHUNKED =
  "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\nx-end: 1\r\n\r\n";
const ENDLESS = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nuntil the end";
const BODILESS = "HTTP/1.1 304 Not Modified\r\netag: a\r\n\r\n";
const INVITED = "HTTP/1.1 100 Continue\r\n\r\n";

test("Responses are read in their order, however their bytes are split into pieces.", () => {
  for (const size of [1, 2, 7, 1_000]) {
    assert.deepEqual(read(SIZED + CHUNKED, size), ["200 hello", "404 abcd"]);
    assert.deepEqual(read(BODILESS + ENDLESS, size), ["304 ", "400 until the end last"]);
    assert.deepEqual(read(INVITED + SIZED, size), ["200 hello"]);
    assert.deepEqual(read(SIZED.replace("hello", "") + SIZED, size, [true, false]), [
      "200 ",
      "200 hello",
    ]);
  }
});

test("A response with incorrect framing, or without a request, is a fault.", () => {
  const faults: readonly [string, RegExp][] = [
    [SIZED.replace("200", "20"), /an invalid head/],
    [SIZED.replace("length: 5", "length: 5\r\nx y"), /an invalid head/],
    [SIZED.replace("length: 5", "length: five"), /an invalid length/],
    [SIZED.replace("content-length: 5", "etag: a"), /no length/],
    [SIZED.replace("length: 5", "length: 5\r\ntransfer-encoding: chunked"), /two lengths/],
    [SIZED.replace("hello", "hell"), /an end in the body/],
    [`${SIZED}x`, /an end in the head/],
    [CHUNKED.replace("3\r\n", "g\r\n"), /no chunk size/],
    [CHUNKED.replace("abc\r\n", "abcd\r\n"), /no chunk end|after a chunk/],
    [SIZED + SIZED + SIZED, /a response without a request/],
  ];
  for (const [bytes, fault] of faults) assert.throws(() => read(bytes, 1_000), fault, bytes);
});
