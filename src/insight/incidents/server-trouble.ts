// The incidents of the database server. There are three: the server is a standby, which accepts no writes; a long
// transaction keeps vacuum from removing the dead rows of ended jobs, so that fetches get slower; statements that read
// the input of incidents have timed out.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isVacuum } from "../../database/inspect/sessions.ts";
import { ageText } from "../../domain/portable/ages.ts";
import { exactValue } from "../../domain/value.ts";
import { shortName } from "../../domain/words.ts";
import { type Incident, noLinks, timeOf } from "./incident.ts";

export interface ServerTrouble {
  readonly isStandby: boolean;
  /**
   * The oldest open transaction of this database because of which vacuum cannot remove dead rows; null if there is none
   * older than 15 minutes. `sinceMs`: its start, in milliseconds since the epoch. `by`: its application and pid.
   */
  readonly oldSnapshot: { readonly sinceMs: number; readonly by: string } | null;
}

export async function readServerTrouble(db: Database): Promise<ServerTrouble> {
  const [row] = await query<TroubleRow>(db, troubleSql);
  return {
    isStandby: row?.is_standby === true,
    oldSnapshot:
      row === undefined || row.since_s === null
        ? null
        : { sinceMs: row.since_s * 1_000, by: `${row.application ?? ""} (pid ${row.pid})`.trim() },
  };
}

interface TroubleRow {
  readonly is_standby: boolean;
  readonly since_s: number | null;
  readonly application: string | null;
  readonly pid: number | null;
}

const troubleSql: Statement = () => `
  select pg_catalog.pg_is_in_recovery() as is_standby, oldest.*
  from (select) as one
  left join lateral (
    select pg_catalog.date_part('epoch', xact_start) as since_s, application_name as application, pid
    from pg_catalog.pg_stat_activity as sessions
    where datname = pg_catalog.current_database() and (backend_xmin is not null or backend_xid is not null)
      and xact_start < pg_catalog.now() - interval '15 minutes' and pid <> pg_catalog.pg_backend_pid()
      and not ${isVacuum("sessions")}
    order by xact_start limit 1
  ) as oldest on true`;

interface TroubleFacts {
  readonly server: ServerTrouble | null;
  readonly unread: readonly string[];
  readonly asOf: string;
  readonly nowMs: number;
}

export function trouble({ server, unread, asOf, nowMs }: TroubleFacts): Incident[] {
  const troubles: Pick<Incident, "id" | "level" | "title" | "sentence" | "since">[] = [];
  if (server?.isStandby === true) {
    const sentence = "It is a standby: no job can be fetched, added or changed here.";
    troubles.push({
      id: "trouble:standby",
      level: "bad",
      title: "The database is read-only",
      sentence,
      since: null,
    });
  }
  if (server?.oldSnapshot != null) {
    const { sinceMs, by } = server.oldSnapshot;
    troubles.push({
      id: "trouble:snapshot",
      level: "warn",
      title: "A long transaction slows the queue",
      sentence: `${shortName(by)} has had a transaction open for ${ageText(nowMs - sinceMs)}. Vacuum cannot remove dead rows, so fetching jobs gets slower.`,
      since: timeOf(sinceMs),
    });
  }
  if (unread.length > 0) {
    const sentence = `Timed out: ${unread.join(", ")}. This list is incomplete.`;
    troubles.push({
      id: "trouble:unread",
      level: "warn",
      title: "The database is slow to answer",
      sentence,
      since: null,
    });
  }
  return troubles.map((one) => ({
    ...one,
    kind: "trouble",
    affected: exactValue(0, "catalog", asOf),
    jobsWait: one.level === "bad",
    q: null,
    links: noLinks,
    fix: null,
    trend: [],
  }));
}
