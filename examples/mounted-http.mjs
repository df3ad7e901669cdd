// The admin in an application's node:http server, under the path /queue/.
import { once } from "node:events";
import { createServer } from "node:http";
import pg from "pg";
import { adminHandler, adminServerConfig, migrate, schemaName } from "pg-job-worker";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? "" });
await migrate(pool, schemaName()); // creates a missing schema
const admin = adminHandler(
  adminServerConfig(pool)
    .basePath("/queue/")
    .auth({ mode: "bearer", token: "a-token-of-your-own" })
    .onAudit((entry) => console.log(`audit: ${entry.action}`))
    .build(),
);
const server = createServer((request, response) => {
  if (/^\/queue(?:[/?]|$)/.test(request.url ?? "")) admin(request, response);
  else response.end("the application");
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address();

const ask = async (path) => fetch(`http://127.0.0.1:${port}${path}`);
console.log(`/: ${await (await ask("/")).text()}`);
console.log(`/queue/healthz: ${(await ask("/queue/healthz")).status}`);
console.log(`/queue/api/jobs without a token: ${(await ask("/queue/api/jobs")).status}`);

await admin.close();
server.closeAllConnections();
server.close();
await pool.end();
