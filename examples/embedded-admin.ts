// The admin in an application, on the application's pool.
import pg from "pg";
import { adminServerConfig, migrate, schemaName, serve } from "pg-job-worker";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? "" });
await migrate(pool, schemaName()); // creates a missing schema
const config = adminServerConfig(pool)
  .listenAddr("127.0.0.1:0")
  .auth({ mode: "bearer", token: "a-token-of-your-own" })
  .readOnly()
  .build();
const server = await serve(config);

const answer = await fetch(new URL("api/overview", server.url), {
  headers: { authorization: "Bearer a-token-of-your-own" },
});
console.log(`overview: ${answer.status}`);
await server.stop();
await pool.end();
