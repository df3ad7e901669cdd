// Adds a job inside your own transaction. The job exists if and only if the transaction commits.
import pg from "pg";
import { makeWorkerUtils } from "pg-job-worker";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? "" });
const utils = await makeWorkerUtils({ pool }); // utils.end() does not close a pool of yours
await utils.migrate();
await pool.query("create table if not exists orders (id int primary key)");

async function placeOrder(id: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await utils.with(client).addJob("send_invoice", { order: id });
    await client.query("insert into orders values ($1)", [id]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

await placeOrder(1);
await placeOrder(1).catch((error) => console.log(`refused: ${error.message}`));
console.log(`jobs: ${(await utils.countJobs()).total}`);
await pool.end();
