// A process of its own that runs an embedded server, driven by test/support/server-process.ts: a
// line on stdin starts it, lines on stdout say what came of it, the end of stdin stops it.
import { once } from "node:events";
import { messageOf } from "../../src/base/errors.ts";
import {
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from "../../src/database/embedded/server.ts";

const { uid, ...options } = JSON.parse(process.argv[2] ?? "{}") as EmbeddedServerOptions & {
  uid?: number;
};
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

// The sources may be out of this user's reach: all of them are loaded by now.
if (uid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}
say({ event: "loaded" });
await once(process.stdin, "data");
try {
  const server = await startEmbeddedServer(options);
  say({ event: "started", url: server.url(), version: server.version });
  await once(process.stdin, "end");
  await server.stop();
  say({ event: "stopped" });
} catch (error) {
  say({ event: "failed", code: (error as { code?: string }).code, message: messageOf(error) });
}
