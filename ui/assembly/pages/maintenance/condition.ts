/** How the database is: what an operator looks at before blaming the queue. Nothing here changes anything. */
import { ago, lasting } from "../../controls/age";
import { badge } from "../../controls/button";
import { pair, pairs } from "../../controls/panel";
import { valueText } from "../../controls/value";
import { Database, DatabaseTable } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { bytes, counted, grouped } from "../../lib/number";
import { Model } from "../../model/model";

/** From so many on, and from this part of all on, dead rows slow the queue down. */
const DEAD_ROWS: i64 = 10000;
const DEAD_PERCENT: i64 = 30;
/** A transaction that is older keeps dead rows from being removed. */
const OLD_MS: f64 = 300000;
const MOST_GROUPS = 3;

/** Of the tables, the one that grows. */
export const JOBS_TABLE: string = "_private_jobs";

export function condition(m: Model, database: Database): Node {
  return box("div", "pb", [
    pairs([
      schema(m, database),
      server(database),
      jobs(m, database),
      deadRows(m, database),
      transaction(m, database),
      held(m, database),
      connections(database),
    ]),
  ]);
}

function schema(m: Model, database: Database): Node {
  const schema = database.schema;
  if (schema === null) return nothing;
  const said: Node[] = [leaf("code", "", schema.name)];
  const problem = schema.problem;
  if (schema.state !== "ready") {
    said.push(text(schema.state === "absent" ? " is missing" : " can't be used"));
    if (problem !== null) said.push(leaf("p", "bad-text", problem));
  } else {
    const ours = schema.origin === "ours";
    const whose = ours
      ? ""
      : schema.origin === "graphile"
        ? "Graphile Worker's, "
        : "made by its Rust port, ";
    const rest = migrationRest(database);
    const state = rest.length === 0 ? ", nothing to migrate" : `; ${rest}`;
    said.push(text(`: ${whose}level ${schema.level} of ${schema.supportedLevel}${state}`));
    if (rest.length > 0) said.push(migration(m, database));
  }
  for (let i = 0; i < schema.warnings.length; i++) {
    said.push(leaf("p", "warn-text", schema.warnings[i]));
  }
  return pair("Schema", box("div", "", said));
}

/** What a migration would bring; the empty string: nothing. */
function migrationRest(database: Database): string {
  const schema = database.schema;
  if (schema === null) return "";
  if (schema.level < schema.supportedLevel)
    return `${counted(schema.supportedLevel - schema.level, "level", "levels")} to migrate`;
  if (schema.origin === "graphile") return "unchanged until you migrate";
  const list = schema.extensions;
  for (let i = 0; i < list.length; i++) {
    const one = list[i];
    const isWanted = one.isAutomatic || one.isInstalled;
    if (isWanted && !one.isForeign && (!one.isComplete || one.version < one.supportedVersion)) {
      return "an extension needs an update";
    }
  }
  return "";
}

function migration(m: Model, database: Database): Node {
  const chore = new Chore();
  chore.title = "Migrate the schema";
  const schema = database.schema;
  if (schema !== null && schema.origin === "graphile") {
    chore.sentence = "Adds heartbeats beside Graphile Worker's tables; its workers keep running.";
  }
  return box("span", "act", [chore.ask(m, "Migrate…", "migrate")]);
}

function server(database: Database): Node {
  const server = database.server;
  if (server === null) return nothing;
  const words = `${server.version}, database ${server.database}, role ${server.role} `;
  const note = server.isStandby
    ? badge("standby", "blue")
    : server.isReadOnly
      ? badge("read-only", "amber")
      : nothing;
  return pair("PostgreSQL", box("span", "", [text(words), note]));
}

function tableNamed(database: Database, name: string): DatabaseTable | null {
  for (let i = 0; i < database.tables.length; i++) {
    if (database.tables[i].name === name) return database.tables[i];
  }
  return null;
}

function jobs(m: Model, database: Database): Node {
  const table = tableNamed(database, JOBS_TABLE);
  if (table === null) return nothing;
  const rows = m.facts.has("counts")
    ? valueText(m.facts.counts.total)
    : `≈ ${grouped(table.liveRows)}`;
  let all: i64 = 0;
  for (let i = 0; i < database.tables.length; i++) all += database.tables[i].totalBytes;
  const size = `${bytes(table.totalBytes)}, ${bytes(table.indexBytes)} of it indexes`;
  return pair(
    "Jobs table",
    box("span", "", [
      text(`${rows} rows, ${size} `),
      leaf(
        "span",
        "faint",
        `(${bytes(all)} in ${counted(database.tables.length, "table", "tables")})`,
      ),
    ]),
  );
}

function deadRows(m: Model, database: Database): Node {
  const table = tableNamed(database, JOBS_TABLE);
  if (table === null) return nothing;
  const dead = table.deadRows;
  const percent = (dead * 100) / max<i64>(dead + table.liveRows, 1);
  const vacuumed = isNaN(table.lastVacuumAt)
    ? "never vacuumed"
    : `vacuumed ${ago(table.lastVacuumAt, m.times)}`;
  const isMany = dead >= DEAD_ROWS && percent >= DEAD_PERCENT;
  return pair(
    "Dead rows",
    box("span", "", [
      text(`≈ ${grouped(dead)} (${percent} %), ${vacuumed} `),
      isMany ? badge("needs vacuum", "amber") : badge("healthy", "green"),
    ]),
  );
}

function transaction(m: Model, database: Database): Node {
  const old = database.oldestTransaction;
  if (old === null) return pair("Oldest transaction", leaf("span", "dim", "none"));
  const state = old.state;
  const who = `${state === null ? "" : state + ", "}${named(old.application)}, process ${old.pid} `;
  return pair(
    "Oldest transaction",
    box("span", "", [
      text(`open ${lasting(old.since, m.times)}: ${who}`),
      m.serverNow - old.since >= OLD_MS ? badge("holds back vacuum", "amber") : nothing,
    ]),
  );
}

function held(m: Model, database: Database): Node {
  const held = database.oldestXmin;
  if (held === null || held.transactions === 0) return nothing;
  const kind =
    held.kind === "slot"
      ? "the replication slot "
      : held.kind === "prepared"
        ? "the prepared transaction "
        : "";
  const since = isNaN(held.since) ? "" : ` ${lasting(held.since, m.times)}`;
  const words = `${kind}${named(held.name)}${since}, ${counted(held.transactions, "transaction", "transactions")} back`;
  return pair("Vacuum waits for", text(words));
}

function named(name: string): string {
  return name.length > 0 ? `“${name}”` : "unnamed";
}

function connections(database: Database): Node {
  const all = database.connections;
  if (all === null) return nothing;
  const parts: string[] = [];
  for (let i = 0; i < min(all.groups.length, MOST_GROUPS); i++) {
    const group = all.groups[i];
    const state = group.state;
    parts.push(
      `${grouped(group.count)} ${named(group.application)}${state === null ? "" : " " + state}`,
    );
  }
  if (all.groups.length > MOST_GROUPS) parts.push("others");
  const isFull = all.total * 10 >= all.limit * 9;
  return pair(
    "Connections",
    box("span", "", [
      text(`${grouped(all.total)} of ${grouped(all.limit)} `),
      isFull ? badge("nearly full", "amber") : nothing,
      leaf("span", "faint", parts.join(", ")),
    ]),
  );
}

/** Which parts could not be read, and why: the rest is shown all the same. */
export function unread(database: Database): Node {
  const missing = database.missing;
  if (missing.length === 0) return nothing;
  const items: Node[] = [leaf("b", "", "Some values could not be read.")];
  for (let i = 0; i < missing.length; i++) items.push(leaf("p", "", missing[i]));
  return box("div", "note warn unread", [box("div", "", items)]);
}
