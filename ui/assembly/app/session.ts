/** Signing in and out. The token is stored for this tab only, and only after the server has accepted the token. */
import { Challenge, readSession } from "../generated/records";
import { after, clearAnswers, focus, pageUrl, recall, remember } from "../host";
import { JsonReader } from "../lib/json-reader";
import { parseWhole } from "../lib/number";
import { Access, Gate } from "../model/access";
import { Facts } from "../model/facts";
import { Model } from "../model/model";
import { requestLimits } from "../operations/limiting";
import { errorOf } from "./api-error";
import { connect, disconnect, outage, startTicking } from "./freshness";
import { load } from "./navigate";

export const SESSION = "app.session";

const TOKEN = "worker.token";
const TOKEN_HEADER = "worker.token-header";
const RETRY_MS = 3000;

export function restore(m: Model): void {
  m.access.token = recall(TOKEN);
  m.access.tokenHeader = recall(TOKEN_HEADER);
  m.access.place = hostOf(pageUrl());
  requestSession(m);
}

function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  const end = url.indexOf("/", start);
  return end < 0 ? url.substring(start) : url.substring(start, end);
}

export function requestSession(m: Model): void {
  if (!m.requests.waitsFor(SESSION)) m.requests.read(m.access, SESSION, "api/session");
}

export function signIn(m: Model): void {
  const access = m.access;
  const token = access.draft.trim();
  if (access.busy || m.now < access.blockedUntil) return;
  if (token.length === 0) access.error = "Enter the token.";
  else if (!isHeaderText(token)) access.error = "A token has visible ASCII characters only.";
  else {
    access.error = "";
    access.busy = true;
    access.token = token;
    // A session request under way was sent without this token, and would block the new request.
    m.requests.cancel(SESSION);
    requestSession(m);
  }
  if (!access.busy) focus("field-token");
}

export function signOut(m: Model): void {
  clearToken(m.access);
  m.access.error = "";
  closeGate(m, Gate.Token);
}

export function sessionAnswered(m: Model, status: i32, retryAfter: string, body: string): void {
  const access = m.access;
  access.busy = false;
  if (status === 200) opened(m, body);
  else if (status === 429 && access.gate === Gate.Token) blocked(m, retryAfter);
  else {
    if (access.gate !== Gate.Open) cannotOpen(access, errorOf(body, status).error);
    retryLater(access);
  }
}

function cannotOpen(access: Access, reason: string): void {
  access.gate = Gate.Unreachable;
  access.error = reason;
}

function retryLater(access: Access): void {
  if (!access.isRetrying) after(RETRY_MS, SESSION, SESSION);
  access.isRetrying = true;
}

/** Handles the answer 401 to any request: the token or the password is missing, wrong or expired. */
export function handleDenied(m: Model, body: string): void {
  const access = m.access;
  const challenge = errorOf(body, 401).auth;
  const hadToken = access.token.length > 0;
  const wasOpen = access.gate === Gate.Open;
  const sentAs = access.tokenHeader;
  access.busy = false;
  const asksForToken =
    challenge !== null && (challenge.mode === "bearer" || challenge.mode === "header");
  if (challenge !== null) {
    access.tokenHeader = tokenHeader(challenge);
    const label = challenge.label;
    access.label = label === null ? "" : label;
  }
  if (asksForToken && hadToken && !wasOpen && sentAs !== access.tokenHeader) {
    // The token was not sent in the header that the server requires, so the token may be valid.
    requestSession(m);
    return;
  }
  clearToken(access);
  if (wasOpen) access.error = "The server no longer accepts this token. Sign in again.";
  else if (hadToken) access.error = "The server did not accept this token.";
  closeGate(m, asksForToken ? Gate.Token : Gate.Browser);
}

function tokenHeader(challenge: Challenge): string {
  const header = challenge.headerName;
  return challenge.mode === "header" && header !== null ? header : "";
}

function opened(m: Model, body: string): void {
  const access = m.access;
  const r = new JsonReader(body);
  const session = readSession(r);
  r.end();
  if (r.failed) {
    cannotOpen(
      access,
      `The server's answer can't be read: ${r.error}. Is this page newer or older than the server?`,
    );
    retryLater(access);
    return;
  }
  const first = access.gate !== Gate.Open;
  // The token's field, which had the focus, is removed now.
  if (access.draft.length > 0) focus("page-title");
  access.session = session;
  access.gate = Gate.Open;
  access.error = "";
  access.draft = "";
  if (first && m.version.length === 0) m.version = session.version;
  const problem = session.problem;
  if (problem !== null && m.live.outage.length === 0) outage(m, problem);
  remember(TOKEN, access.token);
  remember(TOKEN_HEADER, access.token.length > 0 ? access.tokenHeader : "");
  const parked = m.requests.parked;
  m.requests.parked = [];
  for (let i = 0; i < parked.length; i++) m.requests.write(access, parked[i]);
  if (!first) return;
  load(m);
  requestLimits(m);
  connect(m);
  startTicking(m);
}

/** Handles status 429: the server has not checked the typed token. */
function blocked(m: Model, retryAfter: string): void {
  const access = m.access;
  const seconds = parseWhole(retryAfter);
  const wait = seconds.valid ? min(max(seconds.value, 1), 86400) : 30;
  access.blockedUntil = m.now + <f64>wait * 1000;
  access.token = "";
  after(1000, "app.countdown", "");
}

/** Called each second, so that the page shows the seconds until `blockedUntil`. Sets the timer for the next call. */
export function countDown(m: Model): void {
  if (m.now < m.access.blockedUntil && m.live.visible) after(1000, "app.countdown", "");
}

function closeGate(m: Model, gate: Gate): void {
  disconnect(m);
  m.requests.cancelAll();
  clearAnswers();
  m.access.gate = gate;
  m.dialog = null;
  // Without a session, no data of an earlier session are shown.
  m.facts = new Facts();
  m.places.clear();
  m.notices.clear();
  m.layer = "";
  m.shared.clear();
  for (let i = 0; i < m.pages.length; i++) m.pages[i].reset(m);
  for (let i = 0; i < m.dialogs.length; i++) m.dialogs[i].reset();
  m.live.outage = "";
  m.live.outageCode = "";
  m.live.newsAt = NaN;
  m.live.wasOpen = false;
  if (gate === Gate.Token) focus("field-token");
}

function clearToken(access: Access): void {
  access.token = "";
  access.draft = "";
  remember(TOKEN, "");
  remember(TOKEN_HEADER, "");
}

function isHeaderText(token: string): bool {
  for (let i = 0; i < token.length; i++) {
    const c = token.charCodeAt(i);
    if (c < 0x21 || c > 0x7e) return false;
  }
  return true;
}
