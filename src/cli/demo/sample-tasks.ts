// The tasks of the queue of `worker demo`, with payloads and errors as in a shop with a few thousand customers.

/** Returns a random whole number from 0 up to, but not including, `below`. */
export type Random = (below: number) => number;

export interface SampleTask {
  readonly identifier: string;
  readonly queueName?: string;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly flags?: readonly string[];
  readonly errors: readonly string[];
  readonly payload: (random: Random, n: number) => unknown;
}

const people = [
  "Ada Lovelace",
  "Zoë Nakamura",
  "Łukasz Wójcik",
  "李小龙",
  "محمد الفارسي",
  "Siobhán O'Brien",
  "José Núñez",
  "Анна Каренина",
  "Ngọc Trần",
  "Søren Kjærgård",
];
const cities = ["Reykjavík", "São Paulo", "Zürich", "東京", "Kraków", "İstanbul", "Montréal"];
const comments = [
  "Great service, thank you! 🎉",
  "<script>alert('hello')</script>",
  'He said "never again" — and then ordered twice.',
  "100% cotton? More like 60_%…",
  "👩‍👩‍👧‍👦 loved it",
];

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;
const mail = (random: Random) => `customer${random(9_000) + 1_000}@example.com`;
const stack = (message: string, ...frames: string[]) =>
  [message, ...frames.map((frame) => `    at ${frame}`)].join("\n");

const smtpError = stack(
  "Error: 451 4.7.1 Greylisted, please try again later",
  "SMTPConnection._formatError (/srv/app/node_modules/nodemailer/lib/smtp-connection/index.js:809:19)",
  "SMTPConnection._actionRCPT (/srv/app/node_modules/nodemailer/lib/smtp-connection/index.js:1646:34)",
  "TLSSocket.emit (node:events:519:28)",
  "async sendEmail (file:///srv/app/tasks/send_email.js:31:3)",
);
const refusedError = stack(
  "Error: connect ECONNREFUSED 10.4.2.17:443",
  "TCPConnectWrap.afterConnect [as oncomplete] (node:net:1637:16)",
  "async syncCrm (file:///srv/app/tasks/sync_crm.js:58:20)",
);
const declinedError = stack(
  "CardDeclinedError: Your card has insufficient funds.",
  "Charge.from (/srv/app/node_modules/payments/lib/error.js:42:14)",
  "async chargeCard (file:///srv/app/tasks/charge_card.js:77:18)",
);
const memoryError = stack(
  "RangeError: Array buffer allocation failed",
  "new ArrayBuffer (<anonymous>)",
  "decode (/srv/app/node_modules/image-codec/dist/decode.js:210:15)",
  "async resizeImage (file:///srv/app/tasks/resize_image.js:19:17)",
);

export const sampleTasks: readonly SampleTask[] = [
  {
    identifier: "send_email",
    maxAttempts: 6,
    priority: -5,
    errors: [smtpError, "Error: getaddrinfo EAI_AGAIN smtp.example.com"],
    payload: (random, n) => ({
      to: mail(random),
      name: pick(random, people),
      template: pick(random, ["welcome", "order_confirmation", "password_reset"]),
      locale: pick(random, ["en", "de", "pt-BR", "ja"]),
      order_id: 40_000 + n,
    }),
  },
  {
    identifier: "resize_image",
    maxAttempts: 4,
    flags: ["memory-heavy"],
    errors: [memoryError, "Error: unsupported image format: image/heic"],
    payload: (random, n) => ({
      key: `uploads/2026/${1 + random(12)}/photo-${n}.jpg`,
      sizes: [320, 640, 1280],
      format: pick(random, ["webp", "avif"]),
    }),
  },
  {
    identifier: "sync_crm",
    queueName: "crm",
    maxAttempts: 10,
    errors: [refusedError, "Error: 429 Too Many Requests (retry after 60 s)"],
    payload: (random) => ({ contact: { name: pick(random, people), city: pick(random, cities) } }),
  },
  {
    identifier: "charge_card",
    queueName: "payments",
    priority: -10,
    maxAttempts: 3,
    errors: [declinedError],
    payload: (random, n) => ({
      // This id has more digits than a JavaScript number stores exactly. It shows that payloads are stored exactly.
      charge_id: 9_140_523_887_126_000_000n + BigInt(n * 7 + random(7)),
      amount: { value: `${5 + random(400)}.${10 + random(90)}`, currency: "EUR" },
    }),
  },
  {
    identifier: "generate_report",
    queueName: "reports",
    priority: 10,
    maxAttempts: 5,
    errors: ["error: canceling statement due to statement timeout"],
    payload: (random) => ({
      report: pick(random, ["monthly_revenue", "churn", "stock_levels"]),
      period: `2026-${String(1 + random(12)).padStart(2, "0")}`,
      filters: { regions: ["EMEA", "APAC"], include_tests: false, minimum: null },
    }),
  },
  {
    identifier: "deliver_webhook",
    maxAttempts: 12,
    errors: [
      "Error: POST https://hooks.example.org/orders answered 502 Bad Gateway",
      "Error: certificate has expired (CERT_HAS_EXPIRED)",
    ],
    payload: (random, n) => ({
      url: "https://hooks.example.org/orders",
      event: pick(random, ["order.paid", "order.shipped", "order.refunded"]),
      order_id: 40_000 + n,
      signature: `sha256=${random(2 ** 30).toString(16)}${random(2 ** 30).toString(16)}`,
    }),
  },
  {
    identifier: "index_document",
    maxAttempts: 8,
    errors: ["Error: mapper_parsing_exception: failed to parse field [price] of type [long]"],
    payload: (random, n) => ({ index: "products", id: `sku-${n}`, version: random(40) }),
  },
  {
    identifier: "transcode_video",
    queueName: "video",
    priority: 5,
    maxAttempts: 2,
    flags: ["gpu", "memory-heavy"],
    errors: ["Error: ffmpeg exited with code 137\nmoov atom not found\nin.mp4: Invalid data found"],
    payload: (random, n) => ({
      source: `s3://media/raw/${n}.mp4`,
      height: pick(random, [720, 1080]),
    }),
  },
  {
    identifier: "moderate_comment",
    maxAttempts: 5,
    errors: ["Error: model overloaded, try again later"],
    payload: (random, n) => ({ id: n, author: pick(random, people), text: pick(random, comments) }),
  },
  {
    identifier: "import_csv",
    queueName: "imports",
    maxAttempts: 2,
    errors: ["Error: line 4,117: expected 12 columns, found 11"],
    payload: (random) => [
      `inbox/${random(900) + 100}.csv`,
      { delimiter: ";", rows: random(90_000) },
    ],
  },
  {
    identifier: "expire_sessions",
    priority: 20,
    errors: ["error: deadlock detected"],
    payload: () => ({ _cron: { ts: "2026-01-01T00:00:00.000Z", backfilled: false } }),
  },
  {
    identifier: "issue_invoice",
    queueName: "payments",
    errors: ["Error: no VAT rate for country XK"],
    payload: (random, n) => ({
      order_id: 40_000 + n,
      lines: 1 + random(9),
      city: pick(random, cities),
    }),
  },
];
