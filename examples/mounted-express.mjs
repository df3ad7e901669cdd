// The admin in an express application. It is mounted before body parsers, because it reads request bodies itself.
import { once } from "node:events";
import express from "express";
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
const app = express();
app.use("/queue", admin);
app.use(express.json());
app.get("/", (_request, response) => response.send("the application"));

const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const base = `http://127.0.0.1:${server.address().port}`;
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
server.closeAllConnections();
server.close();
await pool.end();
