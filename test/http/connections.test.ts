// The end of a request is cheap: no error object is created for each request.
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { createConnections } from "../../src/http/bounds/connections.ts";

test("All requests end with the same error object as their reason.", () => {
  const connections = createConnections({ connections: 2, pipelined: 1 }, false);
  const progress = { isSettled: () => true, isRead: () => true };
  const [one, other] = [new Socket(), new Socket()].map((socket) => {
    const { left, closing, close } = connections.open(socket, progress);
    close();
    return { left, closing };
  });
  assert.equal(one?.left.aborted, true);
  assert.ok(one?.left.reason instanceof Error);
  assert.equal(one.left.reason, one.closing.reason);
  assert.equal(one.left.reason, other?.left.reason);
});
