/** What concerns the whole page, over the main column: no connection, a newer server. */
import { ageText, clock } from "../controls/age";
import { button } from "../controls/button";
import { BUG, INFO, icon } from "../controls/icon";
import { attr, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { RED_MS } from "../model/live";
import { Model } from "../model/model";

export function banner(m: Model): Node {
  const live = m.live;
  const lost = live.outage.length > 0 || live.silence(m.now) >= RED_MS;
  if (lost) return connection(m);
  const version = m.access.session.version;
  return version !== m.version ? renewal(version) : nothing;
}

function connection(m: Model): Node {
  const live = m.live;
  const said = live.outage.length > 0 ? live.outage : "The server sends nothing";
  const data = isNaN(live.newsAt)
    ? "There is no data yet."
    : `You see the data as of ${clock(live.newsAt)}, ${ageText(live.silence(m.now))} ago. Jobs keep running where workers still reach the database.`;
  return el(
    "div",
    [cls("banner bad"), attr("role", "alert")],
    [
      icon(BUG),
      el("p", [], [leaf("b", "", said.endsWith(".") ? said : said + "."), text(` ${data} `)]),
      live.outageCode === "schema_missing" && m.access.canWrite
        ? button("Make the schema…", "ask.migrate", "", "s push")
        : nothing,
      button("Try now", "app.retry", "", "s push"),
    ],
  );
}

function renewal(version: string): Node {
  return el(
    "div",
    [cls("banner info"), attr("role", "status")],
    [
      icon(INFO),
      leaf("p", "", `The server is version ${version} now; this page is older.`),
      button("Reload", "app.renew", "", "s push"),
    ],
  );
}
