/** A job that is shown beside the list from which it was opened, with its place in the list and a link to its page. */
import { iconButton } from "../controls/button";
import { CLOSE, DOWN, EXPAND, icon, LINK, UP } from "../controls/icon";
import { attr, box, cls, el, key, leaf, Node, nothing } from "../lib/node";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { JobView } from "./job-view";
import { drawJob } from "./view";

/** The DOM id of the element that gets the focus when the job is opened. */
export const BESIDE = "beside";

/**
 * Draws the job. `page`: the name of the page that shows the list. Three of its buttons start the actions
 * `before`, `next` and `close` of that page.
 */
export function jobBeside(m: Model, view: JobView, page: string): Node {
  const at = m.shared.placeOf(view.id);
  const all = m.shared.listIds.length;
  const place = at < 0 ? "no longer in the list" : m.shared.placeText(at);
  return el(
    "aside",
    [
      cls("beside"),
      attr("id", BESIDE),
      attr("tabindex", "-1"),
      attr("aria-label", `Job ${view.id}`),
    ],
    [
      box("div", "beside-bar", [
        leaf("span", "faint small", place),
        at > 0 ? iconButton(UP, "Previous job (k)", page + ".before", "") : nothing,
        at >= 0 && at + 1 < all ? iconButton(DOWN, "Next job (j)", page + ".next", "") : nothing,
        box("span", "push row", [
          iconButton(LINK, "Copy link", "job.copy-link", ""),
          el(
            "a",
            [
              attr("href", "#" + jobPath(view.id)),
              cls("btn icon q"),
              attr("aria-label", "Open job page (Enter)"),
              attr("title", "Open job page (Enter)"),
            ],
            [icon(EXPAND)],
          ),
          iconButton(CLOSE, "Close (Esc)", page + ".close", ""),
        ]),
      ]),
      // Because of the key, each job gets a new element, which is not scrolled. Without the key, the next job would be
      // shown in the same element, scrolled as far as the previous job.
      el("div", [cls("beside-job"), key(view.id.toString())], [drawJob(m, view, true)]),
    ],
  );
}
