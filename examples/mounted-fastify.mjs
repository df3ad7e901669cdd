// The admin in a fastify application. A hook passes the requests under /queue to the admin before fastify reads their
// bodies.
import Fastify from "fastify";
import pg from "pg";
import { adminHandler, adminServerConfig, migrate, schemaName } from "pg-job-worker";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? "" });
await migrate(pool, schemaName()); // creates a missing schema
const admin = adminHandler(
  adminServerConfig(pool)
    .basePath("/queue/")
    .auth({ mode: "bearer", token: "a-token-of-your-own" })
    .build(),
);
const app = Fastify({ forceCloseConnections: true });
app.addHook("onRequest", async (request, reply) => {
  if (!/^\/queue(?:[/?]|$)/.test(request.raw.url)) return;
  reply.hijack();
  admin(request.raw, reply.raw);
});
app.get("/", async () => "the application");

const base = await app.listen({ host: "127.0.0.1", port: 0 });
const headers = { authorization: "Bearer a-token-of-your-own" };

console.log(`/: ${await (await fetch(base)).text()}`);
const session = await (await fetch(`${base}/queue/api/session`, { headers })).json();
const added = await fetch(`${base}/queue/api/jobs`, {
  method: "POST",
  headers: {
    ...headers,
    "content-type": "application/json",
    [session.csrf_header]: session.csrf_token,
  },
  body: '{"identifier":"hello"}',
});
console.log((await added.json()).message);

await admin.close();
await app.close();
await pool.end();
