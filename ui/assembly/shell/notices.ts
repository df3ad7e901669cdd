/** The regions that are read aloud when something has happened; they are always there. */
import { link } from "../controls/controls";
import { CLOSE, icon } from "../controls/icon";
import { attr, box, cls, el, key, leaf, Node, nothing, text } from "../lib/node";
import { Model } from "../model/model";
import { Notice } from "../model/notices";

export function noticesView(m: Model): Node {
  const calm: Node[] = [];
  const urgent: Node[] = [];
  const list = m.notices.list;
  for (let i = 0; i < list.length; i++) {
    if (list[i].tone === "bad") urgent.push(noticeView(list[i]));
    else calm.push(noticeView(list[i]));
  }
  return box("div", "notices", [
    el("div", [attr("role", "status"), attr("aria-live", "polite")], calm),
    el("div", [attr("role", "alert")], urgent),
  ]);
}

function noticeView(notice: Notice): Node {
  const id = notice.id.toString();
  const same = notice.detail.length === 0 || notice.detail === notice.text;
  return el(
    "div",
    [key(id), cls("notice " + notice.tone)],
    [
      box("div", "notice-text", [
        notice.link.length > 0
          ? link(notice.link, "notice-link", [text(notice.text)])
          : leaf("strong", "", notice.text),
        same ? nothing : leaf("p", "notice-detail", notice.detail),
      ]),
      el(
        "button",
        [
          attr("type", "button"),
          cls("icon-button"),
          attr("data-click", "app.dismiss"),
          attr("data-arg", id),
          attr("aria-label", "Dismiss"),
        ],
        [icon(CLOSE)],
      ),
    ],
  );
}
