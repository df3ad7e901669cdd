// libpq's connection parameters (PostgreSQL documentation, "Database Connection Control Functions"): the
// names in a URL, in "key=value" text and in service files, and the variables that stand for them.

export interface Parameter {
  /** The environment variable. */
  readonly env?: string;
  /** All that it may say; what is left out is not possible here. */
  readonly choices?: readonly string[];
}

export const sslModes = [
  ...["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"],
] as const;

export const sessionAttributes = [
  ...["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
] as const;

const tlsVersions = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

export const parameters = {
  host: { env: "PGHOST" },
  hostaddr: { env: "PGHOSTADDR" },
  port: { env: "PGPORT" },
  dbname: { env: "PGDATABASE" },
  user: { env: "PGUSER" },
  password: { env: "PGPASSWORD" },
  passfile: { env: "PGPASSFILE" },
  service: { env: "PGSERVICE" },
  servicefile: { env: "PGSERVICEFILE" },
  options: { env: "PGOPTIONS" },
  application_name: { env: "PGAPPNAME" },
  fallback_application_name: {},
  connect_timeout: { env: "PGCONNECT_TIMEOUT" },
  target_session_attrs: { env: "PGTARGETSESSIONATTRS", choices: sessionAttributes },
  load_balance_hosts: { env: "PGLOADBALANCEHOSTS", choices: ["disable", "random"] },
  keepalives: { choices: ["0", "1"] },
  keepalives_idle: {},
  sslmode: { env: "PGSSLMODE", choices: sslModes },
  sslnegotiation: { env: "PGSSLNEGOTIATION", choices: ["postgres", "direct"] },
  sslrootcert: { env: "PGSSLROOTCERT" },
  sslcert: { env: "PGSSLCERT" },
  sslkey: { env: "PGSSLKEY" },
  sslpassword: {},
  sslcrl: { env: "PGSSLCRL" },
  ssl_min_protocol_version: { env: "PGSSLMINPROTOCOLVERSION", choices: tlsVersions },
  ssl_max_protocol_version: { env: "PGSSLMAXPROTOCOLVERSION", choices: tlsVersions },
  // What only these values of are what happens anyway.
  channel_binding: { env: "PGCHANNELBINDING", choices: ["disable", "prefer"] },
  gssencmode: { env: "PGGSSENCMODE", choices: ["disable", "prefer"] },
  sslcompression: { env: "PGSSLCOMPRESSION", choices: ["0"] },
  sslsni: { env: "PGSSLSNI", choices: ["1"] },
  client_encoding: { choices: ["auto", "UTF8", "utf8", "UTF-8", "utf-8"] },
  // What is asked for by these cannot be promised, and must not be passed over.
  require_auth: { env: "PGREQUIREAUTH", choices: [] },
  requirepeer: { env: "PGREQUIREPEER", choices: [] },
  sslcertmode: { env: "PGSSLCERTMODE", choices: ["allow"] },
  // Names of JDBC and of pg, which stand in many URLs.
  ssl: { choices: ["true", "1", "false", "0", "no-verify"] },
  uselibpqcompat: { choices: ["true", "false"] },
  statement_timeout: {},
  lock_timeout: {},
  idle_in_transaction_session_timeout: {},
  query_timeout: {},
} as const satisfies Readonly<Record<string, Parameter>>;

export type ParameterName = keyof typeof parameters;

/** A value, and where it stands: `sslmode in the database URL`, `PGSSLMODE`. */
export interface Said {
  readonly text: string;
  readonly where: string;
}

export type SaidParameters = Partial<Record<ParameterName, Said>>;

export function isParameter(name: string): name is ParameterName {
  return Object.hasOwn(parameters, name);
}

/** What the environment says; an empty variable says nothing, as with libpq. */
export function parametersOfEnvironment(env: NodeJS.ProcessEnv): SaidParameters {
  const said: SaidParameters = {};
  for (const [name, { env: variable }] of Object.entries<Parameter>(parameters)) {
    const text = variable === undefined ? undefined : env[variable];
    if (text) said[name as ParameterName] = { text, where: variable ?? name };
  }
  return said;
}
