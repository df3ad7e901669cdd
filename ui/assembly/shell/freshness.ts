/**
 * The button that shows whether the page is live, paused, connecting or offline, and for how long it has been offline.
 * A click pauses or resumes live updates.
 */

import { absolute, ageText } from "../controls/age";
import { ownButton } from "../controls/button";
import { attr, leaf, Node } from "../lib/node";
import { countText } from "../lib/number";
import { AMBER_MS, RED_MS } from "../model/live";
import { Model } from "../model/model";

export function freshness(m: Model): Node {
  const live = m.live;
  const silence = live.silence(m.now);
  const tone =
    isNaN(live.newsAt) && live.outage.length === 0
      ? "late"
      : live.outage.length > 0 || silence >= RED_MS
        ? "lost"
        : silence >= AMBER_MS
          ? "late"
          : live.isPaused
            ? "held"
            : "";
  const words = freshnessText(m, silence);
  const data = isNaN(live.newsAt) ? "no data yet" : "data as of " + absolute(live.newsTime);
  const what = live.isPaused ? "press to resume live updates" : "press to pause live updates";
  return ownButton(
    "fresh " + tone,
    "app.hold",
    "",
    [
      attr("aria-pressed", live.isPaused ? "true" : "false"),
      attr("title", `${data}; ${what}`),
      attr("aria-label", words),
    ],
    [leaf("span", "dot", ""), leaf("span", "fresh-word", words)],
  );
}

function freshnessText(m: Model, silence: f64): string {
  const live = m.live;
  if (isNaN(live.newsAt)) return live.outage.length > 0 ? "Offline" : "Connecting";
  if (live.outage.length > 0 || silence >= AMBER_MS) return `Offline for ${ageText(silence)}`;
  if (!live.isPaused) return "Live";
  const news = m.page.news;
  return news > 0 ? `Paused, ${countText(news, "new", "new")}` : "Paused";
}
