/**
 * Shows the oldest notice in one of two regions, of which one is for errors. Both regions are always in the document,
 * so that screen readers read a new notice aloud.
 */
import { localTimes } from "../controls/age";
import { button, iconButton, link } from "../controls/button";
import { CLOSE } from "../controls/icon";
import { attr, box, cls, el, key, leaf, Node, nothing, text } from "../lib/node";
import { countText } from "../lib/number";
import { Model } from "../model/model";
import { Notice } from "../model/notices";

export function toast(m: Model): Node {
  const notice = m.notices.first;
  const shown = notice === null ? nothing : noticeView(m, notice);
  const isUrgent = notice !== null && notice.tone === "bad";
  return el(
    "div",
    [cls("notices"), attr("id", "toast")],
    [
      el("div", [attr("role", "status")], [isUrgent ? nothing : shown]),
      el("div", [attr("role", "alert")], [isUrgent ? shown : nothing]),
    ],
  );
}

function noticeView(m: Model, notice: Notice): Node {
  const id = notice.id.toString();
  const message = localTimes(notice.text, m.serverNow);
  const waiting = m.notices.waiting;
  const same = notice.detail.length === 0 || notice.detail === notice.text;
  return el(
    "div",
    [key(id), cls("notice " + notice.tone)],
    [
      box("div", "notice-text", [
        notice.link.length > 0 && notice.linkText.length === 0
          ? link(notice.link, "notice-link", [text(message)])
          : leaf("strong", "", message),
        same ? nothing : leaf("p", "notice-detail", notice.detail),
        waiting > 0 ? leaf("p", "notice-detail", countText(waiting, "more", "more")) : nothing,
      ]),
      notice.linkText.length > 0 ? link(notice.link, "btn s", [text(notice.linkText)]) : nothing,
      notice.undo > 0 ? button("Undo…", "ask.change", `undo ${notice.undo}`, "s") : nothing,
      iconButton(CLOSE, "Dismiss", "app.dismiss", id),
    ],
  );
}
