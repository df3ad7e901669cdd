// A process that runs an embedded server, controlled by test/support/server-process.ts. A line on stdin starts the
// server, lines on stdout report the result, and the end of stdin stops the server.
import { once } from "node:events";
import { messageOf } from "../../src/base/errors.ts";
import {
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from "../../src/database/embedded/server.ts";

const { uid, ...options } = JSON.parse(process.argv[2] ?? "{}") as EmbeddedServerOptions & {
  uid?: number;
};
const report = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

// The process changes its user only now, after all sources were loaded, because the new user may have no right to read
// them.
if (uid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}
report({ event: "loaded" });
await once(process.stdin, "data");
try {
  const server = await startEmbeddedServer(options);
  report({ event: "started", url: server.url(), version: server.version });
  await once(process.stdin, "end");
  await server.stop();
  report({ event: "stopped" });
} catch (error) {
  report({ event: "failed", code: (error as { code?: string }).code, message: messageOf(error) });
}
