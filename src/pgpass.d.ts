// The package comes without types.
declare module "pgpass" {
  /** Looks the connection up in PGPASSFILE or ~/.pgpass; undefined where there is no such line. */
  export default function pgpass(
    connection: {
      readonly host?: string;
      readonly port?: number;
      readonly database?: string;
      readonly user?: string;
    },
    found: (password: string | undefined) => void,
  ): void;
}
