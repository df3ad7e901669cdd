/** The access of the page to the server: the session, or the sign-in that must precede it. */
import { Session } from "../generated/records";

export enum Gate {
  /** The session was requested and has not arrived. */
  Opening,
  Open,
  /** A token is needed. */
  Token,
  /** The browser itself prompts for the password, and no valid one was entered. */
  Browser,
  /** There is no session: the server can't be reached, or its answer is an error or can't be read. */
  Unreachable,
}

export class Access {
  gate: Gate = Gate.Opening;
  session: Session = Session.empty();
  token: string = "";
  /** The header that contains the token; empty: `Authorization: Bearer`. */
  tokenHeader: string = "";
  /** The name of the environment, if the server sends it before the sign-in; otherwise empty. */
  label: string = "";
  /** The host of the page. */
  place: string = "";
  draft: string = "";
  busy: bool = false;
  error: string = "";
  /** Whether the session will be requested again after a failure. */
  isRetrying: bool = false;
  /** The time before which the page sends no login, because the server has answered a login with 429. */
  blockedUntil: f64 = 0;

  /** Returns the header line that contains the token; empty without a token. */
  headers(): string {
    if (this.token.length === 0) return "";
    return this.tokenHeader.length > 0
      ? this.tokenHeader + ": " + this.token
      : "authorization: Bearer " + this.token;
  }

  get canWrite(): bool {
    return this.gate === Gate.Open && !this.session.readOnly;
  }
}
