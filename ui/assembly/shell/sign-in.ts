/** What stands before the pages while there is no session. */
import { pageHead } from "../controls/panel";
import { attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { counted } from "../lib/number";
import { Gate } from "../model/access";
import { Model } from "../model/model";

export function gatePage(m: Model): Node {
  switch (m.access.gate) {
    case Gate.Token:
      return signIn(m);
    case Gate.Browser:
      return card(
        "Sign in",
        "The server asks for a user and a password. Reload the page to give them.",
      );
    case Gate.Unreachable:
      return card("The server does not answer", `${m.access.error} The page goes on trying.`);
    default:
      return leaf("p", "loading", "Loading…");
  }
}

function card(title: string, sentence: string): Node {
  return box("section", "gate", [pageHead(title, []), leaf("p", "", sentence)]);
}

function signIn(m: Model): Node {
  const access = m.access;
  const wait = Math.ceil((access.blockedUntil - m.now) / 1000);
  const blocked = wait > 0;
  const error = blocked
    ? `Too many failed logins. Try again in ${counted(<i64>wait, "second", "seconds")}.`
    : access.error;
  const header = access.tokenHeader;
  return el(
    "form",
    [cls("gate"), attr("data-submit", "access.sign-in")],
    [
      pageHead("Sign in", []),
      box("div", "field", [
        el("label", [attr("for", "field-token")], [text("Access token")]),
        el(
          "input",
          [
            attr("id", "field-token"),
            cls("input"),
            attr("type", "password"),
            attr("autocomplete", "off"),
            attr("data-input", "access.token"),
            attr("value", access.draft),
            attr("aria-describedby", "token-hint token-fault"),
            attr("aria-invalid", error.length > 0 ? "true" : "false"),
          ],
          [],
        ),
        el(
          "p",
          [attr("id", "token-hint"), cls("hint")],
          [
            text(
              header.length > 0
                ? `Sent as the header ${header}. Kept in this tab until it is closed.`
                : "Sent as a bearer token. Kept in this tab until it is closed.",
            ),
          ],
        ),
        error.length > 0
          ? el("p", [attr("id", "token-fault"), cls("fault"), attr("role", "alert")], [text(error)])
          : nothing,
      ]),
      el(
        "button",
        [attr("type", "submit"), cls("btn p"), flag("disabled", access.busy || blocked)],
        [text(access.busy ? "Signing in…" : "Sign in")],
      ),
    ],
  );
}
