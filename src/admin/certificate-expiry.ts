// While the admin runs, warns if its certificate has expired or expires soon.
import { backgroundClock, type Clock, now } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Certificate } from "../http/listen/certificate.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const SOON_MS = 7 * DAY_MS;
const EVERY_MS = DAY_MS / 2;

/** Logs a warning if the certificate has expired or expires within a week. */
export function warnOfExpiry(
  { expiresAt }: Pick<Certificate, "expiresAt">,
  logger: Pick<Logger, "warn">,
): void {
  const leftMs = expiresAt.getTime() - now();
  const fields = { expires: expiresAt };
  if (leftMs < 0) logger.warn(fields, "the certificate has expired; browsers reject it");
  else if (leftMs < SOON_MS) logger.warn(fields, "the certificate expires within a week");
}

/** Checks the certificate in use, now and every 12 hours. Returns a function that ends the checks. */
export function watchExpiry(
  certificate: Pick<Certificate, "expiresAt">,
  logger: Pick<Logger, "warn">,
  clock: Clock = backgroundClock,
): () => void {
  let cancel = () => {};
  const check = () => {
    warnOfExpiry(certificate, logger);
    cancel = clock.after(EVERY_MS, check);
  };
  check();
  return () => cancel();
}
