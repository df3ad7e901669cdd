import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, start, textOf } from "./harness.ts";
import { counts, feed, job, jobs, openPage, session } from "./sample.ts";

before(ensureBuilt);

const challenge = (mode: string, header_name: string | null = null) => ({
  error: "Enter the token.",
  code: "unauthorized",
  auth: { mode, header_name },
});

function signIn(page: Page, token: string): void {
  page.app.dispatch("access.token", "", token);
  page.app.dispatch("access.sign-in", "", "");
}

test("Bearer mode prompts for a token and sends it with every request.", async () => {
  const page = await start("/jobs?q=is:failed");
  assert.equal(page.requestOf("api/session").headers, "");
  page.answer("api/session", challenge("bearer"), 401);
  assert.match(
    page.text,
    /worker: sign inadmin\.example.*Access token.*This tab keeps the token until it is closed/,
  );
  signIn(page, " hunter2 ");
  assert.equal(page.requestOf("api/session").headers, "authorization: Bearer hunter2");
  assert.equal(page.storage.size, 0, "nothing is stored before the token is accepted");
  page.answer("api/session", session({ auth: { ...session().auth, mode: "bearer" } }));
  assert.equal(page.storage.get("worker.token"), "hunter2");
  assert.equal(
    page.requestOf("api/jobs").path,
    "api/jobs?limit=100&fields=row&count=fast&sort=-failed_at&q=is%3Afailed",
    "the address is the same as before the sign-in",
  );
  assert.equal(page.requestOf("api/jobs").headers, "authorization: Bearer hunter2");
  assert.match(
    page.subscriptions.join(),
    /^api\/events\?events=[a-z,]+ authorization: Bearer hunter2$/,
  );
});

test("The side bar and the phone's menu name the database; if its name is unknown, they omit it.", async () => {
  const named = (page: Page) =>
    page.all((e) => e.tag === "p" && e.attrs["title"] === "Database db-1.example:5433/shop_eu");
  const page = await openPage("/", { database: "db-1.example:5433/shop_eu" });
  assert.equal(textOf(named(page)), "Database db-1.example:5433/shop_eu");
  page.app.dispatch("app.layer", "more", "");
  assert.equal(named(page).length, 2);
  const other = await openPage("/", { database: null });
  assert.ok(!other.text.includes("Database "));
});

test("Header mode sends the token in the header that the server names.", async () => {
  const page = await start("/");
  page.answer("api/session", challenge("header", "x-worker-admin-token"), 401);
  assert.match(
    page.text,
    /This server expects the header x-worker-admin-token.*Value of x-worker-admin-token/,
  );
  signIn(page, "hunter2");
  assert.equal(page.requestOf("api/session").headers, "x-worker-admin-token: hunter2");
  page.answer("api/session", session());
  assert.equal(page.storage.get("worker.token-header"), "x-worker-admin-token");
});

test("A token that this tab has stored is sent without a prompt.", async () => {
  const storage = new Map([
    ["worker.token", "t"],
    ["worker.token-header", "x-key"],
  ]);
  const page = await start("/", storage);
  assert.equal(page.requestOf("api/session").headers, "x-key: t");
});

test("A token that the server rejects is reported, and is not stored.", async () => {
  const page = await start("/", new Map([["worker.token", "old"]]));
  page.answer("api/session", challenge("bearer"), 401);
  assert.match(page.text, /The server did not accept this token\./);
  assert.equal(page.storage.size, 0);
  signIn(page, "wrong");
  page.answer("api/session", challenge("bearer"), 401);
  assert.match(page.text, /did not accept/);
  assert.equal(page.byId("field-token").attrs["aria-invalid"], "true");
});

test("If a user enters a token while a request without a token is unanswered, the token is sent, and the late answer does not reject the token.", async () => {
  const page = await start("/");
  page.answer("api/session", "", 0);
  page.app.dispatch("app.session", "", "");
  page.answer("api/session", challenge("bearer"), 401);
  page.pass(4000);
  const without = page.requestOf("api/session");
  assert.equal(without.headers, "");
  signIn(page, "hunter2");
  page.app.onAnswer(without.id, 401, "", JSON.stringify(challenge("bearer")));
  assert.doesNotMatch(page.text, /did not accept/);
  assert.equal(page.requestOf("api/session").headers, "authorization: Bearer hunter2");
  page.answer("api/session", session());
  assert.equal(page.storage.get("worker.token"), "hunter2");
});

test("A token that was sent in the wrong header is sent once more in the right header.", async () => {
  const page = await start("/", new Map([["worker.token", "t"]]));
  page.answer("api/session", challenge("header", "x-key"), 401);
  assert.equal(page.requestOf("api/session").headers, "x-key: t");
  page.answer("api/session", challenge("header", "x-key"), 401);
  assert.match(page.text, /did not accept/);
});

test("A token that cannot be part of a header is rejected without a request.", async () => {
  const page = await start("/");
  page.answer("api/session", challenge("bearer"), 401);
  const requested = page.requests.length;
  for (const token of ["", "   ", "a b", "a\nb: c", "tökén"]) signIn(page, token);
  assert.equal(page.requests.length, requested);
  assert.match(page.text, /visible ASCII characters only/);
});

test("After too many failed logins the page counts down until the next attempt.", async () => {
  const page = await start("/");
  page.answer("api/session", challenge("bearer"), 401);
  signIn(page, "x");
  page.answer("api/session", { error: "Too many", code: "too_many_logins" }, 429, "20");
  assert.match(page.text, /Try again in 20 seconds\./);
  assert.equal(page.button("Sign in").attrs["aria-disabled"], "true");
  const requested = page.requests.length;
  signIn(page, "y");
  assert.equal(page.requests.length, requested);
  page.pass(19000);
  assert.match(page.text, /Try again in 1 second\./);
  page.pass(1500);
  assert.doesNotMatch(page.text, /Too many/);
  signIn(page, "y");
  assert.equal(page.requests.length, requested + 1);
});

const tooMany = { error: "too many logins at once", code: "too_many_logins" };

test("If other clients cause too many logins, an open page stays signed in and requests its session again.", async () => {
  const page = await start("/jobs", new Map([["worker.token", "t"]]));
  page.answer("api/session", session());
  page.app.onStreamOpen();
  page.app.onStreamClose(0);
  page.pass(3000);
  page.app.onStreamOpen();
  page.answer("api/session", tooMany, 429, "1");
  page.pass(3000);
  page.answer("api/session", session());
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  assert.match(page.text, /send_email/);
  page.go("/jobs/1");
  assert.equal(page.requestOf("api/jobs/1").headers, "authorization: Bearer t");
});

test("A page that is reloaded while there are too many logins keeps its token and requests its session again.", async () => {
  const page = await start("/", new Map([["worker.token", "t"]]));
  page.answer("api/session", tooMany, 429, "1");
  assert.match(page.text, /Too many logins at once.*The page keeps trying\./);
  const requested = page.requests.length;
  page.pass(3000);
  assert.equal(page.requests.length, requested + 1);
  assert.equal(page.requestOf("api/session").headers, "authorization: Bearer t");
});

test("Signing out deletes the token and the data on the page.", async () => {
  const page = await start("/jobs", new Map([["worker.token", "t"]]));
  page.answer("api/session", session());
  page.answer("api/jobs?limit=100", jobs([job(1, { task_identifier: "secret_task" })]));
  assert.match(page.text, /secret_task/);
  page.app.dispatch("app.copied", "secret_id", "yes");
  assert.equal(page.notices.length, 1);
  page.click("Sign out");
  assert.deepEqual(page.notices, []);
  assert.equal(page.storage.size, 0);
  assert.equal(page.cleared, 1);
  assert.doesNotMatch(page.text, /secret_task|1,234/);
  assert.equal(page.streaming, false);
  page.pass(60000);
  assert.match(page.text, /Access token/);
});

test("If the session ends while the page is open, the page shows the sign-in form, and repeats its request after the sign-in.", async () => {
  const page = await start("/jobs/5", new Map([["worker.token", "t"]]));
  page.answer("api/session", session());
  page.answer("api/jobs/5", challenge("bearer"), 401);
  assert.match(page.text, /no longer accepts this token/);
  signIn(page, "new");
  page.answer("api/session", session());
  assert.equal(page.requestOf("api/jobs/5").headers, "authorization: Bearer new");
});

test("Basic mode leaves the password to the browser.", async () => {
  const page = await start("/");
  page.answer("api/session", { error: "Sign in", code: "unauthorized" }, 401);
  assert.match(page.text, /Sign in to continue/);
  assert.equal(page.has("field-token"), false);
});

test("A server that does not answer gets another request.", async () => {
  const page = await start("/");
  page.answer("api/session", "", 0);
  assert.match(page.text, /Waiting for the server/);
  page.pass(3000);
  page.answer("api/session", session());
  feed(page, { counts: counts() });
  assert.match(page.text, /1,234/);
});

test("If several requests for the session have failed, the page repeats one request every three seconds, not one for each failure.", async () => {
  const page = await openPage("/");
  let answered = 1;
  const sessions = () => page.requests.filter(({ path }) => path === "api/session").length;
  const step = () => {
    page.pass(500);
    if (sessions() > answered) page.answer("api/session", "", 503);
    answered = sessions();
  };
  for (let i = 0; i < 5; i++) {
    page.app.onStreamOpen();
    page.app.onStreamClose(0);
    step();
  }
  const from = sessions();
  for (let i = 0; i < 24; i++) step();
  assert.equal(sessions() - from, 4);
});

test("If the answer to the request for the session cannot be read, the page stops and shows the reason.", async () => {
  for (const body of ["", "<html>", "[]", '{"csrf_token":1}', "{}x"]) {
    const page = await start("/");
    page.answer("api/session", body);
    assert.match(page.text, /can't be read/, body);
  }
});

test("No address ever contains a token.", async () => {
  const page = await start("/", new Map([["worker.token", "s3cr3t-token"]]));
  page.answer("api/session", session());
  page.go("/jobs");
  page.pass(20000);
  const places = [
    ...page.requests.map((r) => r.path + r.body),
    ...page.navigations,
    page.title,
    page.text,
  ];
  assert.ok(places.every((place) => !place.includes("s3cr3t-token")));
});
