// The names, environment variables and supported values of libpq's connection parameters (PostgreSQL documentation,
// "Database Connection Control Functions"), and parameters of other clients that are supported or ignored.

export interface ConnectionParameter {
  /** The environment variable with the parameter's value. */
  readonly env?: string;
  /** The supported values. Default: any. */
  readonly choices?: readonly string[];
  /** Whether unsupported values are ignored, because the parameter protects nothing. Default: they are errors. */
  readonly isTuning?: boolean;
  /** Returns a value in the spelling of `choices`. */
  readonly spelling?: (text: string) => string;
}

const lettersAndDigits = (text: string) => text.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();

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
  channel_binding: { env: "PGCHANNELBINDING", choices: ["disable", "prefer", "require"] },
  requiressl: { env: "PGREQUIRESSL", choices: ["0", "1"] },
  // Of these parameters, only values that change nothing here are supported.
  gssencmode: { env: "PGGSSENCMODE", choices: ["disable", "prefer"] },
  sslcompression: { env: "PGSSLCOMPRESSION", choices: ["0"], isTuning: true },
  sslsni: { env: "PGSSLSNI", choices: ["1"], isTuning: true },
  client_encoding: {
    choices: ["auto", "utf8", "unicode"],
    spelling: lettersAndDigits,
    isTuning: true,
  },
  replication: { choices: ["false", "off", "no", "0"] },
  min_protocol_version: { env: "PGMINPROTOCOLVERSION", choices: ["3.0"] },
  sslaccept: { choices: ["accept_invalid_certs"] },
  // These parameters demand guarantees that are not supported here, so they must not be ignored.
  require_auth: { env: "PGREQUIREAUTH", choices: [] },
  sslcrldir: { env: "PGSSLCRLDIR", choices: [] },
  requirepeer: { env: "PGREQUIREPEER", choices: [] },
  sslcertmode: { env: "PGSSLCERTMODE", choices: ["allow"] },
  // JDBC, pg
  ssl: { choices: ["true", "1", "false", "0", "no-verify"] },
  uselibpqcompat: { choices: ["true", "false"] },
  statement_timeout: {},
  lock_timeout: {},
  idle_in_transaction_session_timeout: {},
  query_timeout: {},
} as const satisfies Readonly<Record<string, ConnectionParameter>>;

export type ParameterName = keyof typeof parameters;

/** Parameters that occur in URLs, have no effect here and protect nothing. */
const ignored = new Set([
  ...["keepalives_interval", "keepalives_count", "tcp_user_timeout", "krbsrvname", "gsslib"],
  ...["gssdelegation", "authtype", "tty", "max_protocol_version", "sslkeylogfile"],
  ...["scram_client_key", "scram_server_key", "oauth_issuer", "oauth_client_id"],
  ...["oauth_client_secret", "oauth_scope"],
  // Prisma, Supabase
  ...["pgbouncer", "connection_limit", "pool_timeout", "schema", "socket_timeout", "pool_mode"],
  ...["statement_cache_size", "single_use_connections", "max_connection_lifetime", "supa"],
  ...["max_idle_connection_lifetime", "workaround"],
  // pg, postgres.js, TypeORM, Sequelize
  ...["max", "min", "max_lifetime", "idle_timeout", "max_pool", "pool", "poolSize", "fetch_types"],
  ...["idleTimeoutMillis", "connectionTimeoutMillis", "keepAlive", "keepAliveInitialDelayMillis"],
  ...["prepare", "encoding", "binary", "max_connections", "maxConnections"],
  // SQLAlchemy, Django, Rails, Doctrine
  ...["pool_size", "max_overflow", "pool_recycle", "pool_pre_ping", "conn_max_age", "charset"],
  ...["checkout_timeout", "reaping_frequency", "prepared_statements", "statement_limit"],
  ...["serverVersion", "server_version", "search_path", "timezone", "TimeZone"],
  // JDBC
  ...["ApplicationName", "currentSchema", "prepareThreshold", "preparedStatementCacheQueries"],
  ...["reWriteBatchedInserts", "tcpKeepAlive", "loginTimeout", "connectTimeout", "socketTimeout"],
  ...["stringtype", "binaryTransfer", "defaultRowFetchSize"],
  // pgx
  ...["pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time"],
  ...["pool_health_check_period", "default_query_exec_mode", "statement_cache_capacity"],
  ...["description_cache_capacity", "prefer_simple_protocol"],
]);

export const isIgnored = (name: string): boolean => ignored.has(name);

/** A value and where it was set, such as `PGSSLMODE` or `sslmode in the database URL`. */
export interface SourcedText {
  readonly text: string;
  readonly where: string;
}

export type ParameterSet = Partial<Record<ParameterName, SourcedText>>;

export function isParameter(name: string): name is ParameterName {
  return Object.hasOwn(parameters, name);
}

/** Returns the parameters that the environment sets. */
export function parametersOfEnvironment(env: NodeJS.ProcessEnv): ParameterSet {
  const found: ParameterSet = {};
  for (const [name, { env: variable }] of Object.entries<ConnectionParameter>(parameters)) {
    const text = variable === undefined ? undefined : env[variable];
    if (text) found[name as ParameterName] = { text, where: variable ?? name };
  }
  return found;
}
