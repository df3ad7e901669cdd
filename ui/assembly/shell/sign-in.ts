/**
 * What is shown instead of a page while there is no session: the sign-in, or a message that the page waits for the
 * server or is loading.
 */
import { button } from "../controls/button";
import { heading, pageHead } from "../controls/panel";
import { attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { countText } from "../lib/number";
import { Gate } from "../model/access";
import { Model } from "../model/model";
import { environmentLabel, logo } from "./side";

export function gatePage(m: Model): Node {
  switch (m.access.gate) {
    case Gate.Token:
      return gate(
        m,
        m.access.tokenHeader.length > 0 ? byHeader(m) : [tokenForm(m, "Access token", "p wide")],
      );
    case Gate.Browser:
      return gate(m, [
        leaf("p", "", "Sign in to continue."),
        box("div", "", [button("Sign in", "app.renew", "", "p")]),
      ]);
    case Gate.Unreachable:
      return box("section", "gate", [
        pageHead("Waiting for the server", []),
        leaf("p", "", m.access.error),
        leaf("p", "hint", "The page keeps trying."),
      ]);
    default:
      return leaf("p", "loading", "Loading…");
  }
}

/** Returns the sign-in: the server's host and environment, and `how`, the elements with which the user signs in. */
function gate(m: Model, how: Node[]): Node {
  const label = m.access.label;
  const place = box("div", "place", [
    leaf("b", "", m.access.place),
    label.length > 0 ? leaf("span", "dim", `You are signing in to ${label}.`) : nothing,
  ]);
  const brand = box("div", "brand", [
    logo(),
    heading([text("worker"), leaf("span", "sr", ": sign in")]),
    label.length > 0 ? environmentLabel(label, "Environment") : nothing,
  ]);
  return box("div", "gates", [box("section", "gate", [brand, place].concat(how))]);
}

function byHeader(m: Model): Node[] {
  const header = m.access.tokenHeader;
  const hasFailed = m.access.error.length > 0 || m.access.blockedUntil > m.now;
  return [
    box("p", "", [
      text("This server expects the header "),
      leaf("code", "", header),
      text(", which your sign-in proxy usually sends. It did not arrive."),
    ]),
    box("div", "", [button("Try again", "app.session", "", hasFailed ? "" : "p")]),
    el(
      "details",
      [flag("open", true)],
      [
        leaf("summary", "", "I have the token"),
        tokenForm(m, "Value of " + header, hasFailed ? "p" : ""),
      ],
    ),
  ];
}

function tokenForm(m: Model, label: string, kind: string): Node {
  const access = m.access;
  const wait = Math.ceil((access.blockedUntil - m.now) / 1000);
  const blocked = wait > 0;
  const error = blocked
    ? `Too many failed logins. Try again in ${countText(<i64>wait, "second", "seconds")}.`
    : access.error;
  return el(
    "form",
    [cls("token"), attr("data-submit", "access.sign-in")],
    [
      box("div", "field", [
        el("label", [attr("for", "field-token")], [text(label)]),
        el(
          "input",
          [
            attr("id", "field-token"),
            cls("input"),
            attr("type", "password"),
            attr("autocomplete", "off"),
            attr("data-input", "access.token"),
            attr("value", access.draft),
            attr("aria-describedby", "token-fault token-hint"),
            attr("aria-invalid", error.length > 0 ? "true" : "false"),
          ],
          [],
        ),
        error.length > 0
          ? el("p", [attr("id", "token-fault"), cls("fault"), attr("role", "alert")], [text(error)])
          : nothing,
      ]),
      el(
        "button",
        [
          attr("type", "submit"),
          cls("btn " + kind),
          attr("aria-disabled", access.busy || blocked ? "true" : "false"),
        ],
        [text(access.busy ? "Signing in…" : "Sign in")],
      ),
      el(
        "p",
        [attr("id", "token-hint"), cls("hint")],
        [
          text(
            "This tab keeps the token until it is closed. The server prints it at start, unless an administrator configured one.",
          ),
        ],
      ),
    ],
  );
}
