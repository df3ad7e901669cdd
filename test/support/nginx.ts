// Debian's nginx in front of several admins, with a configuration based on deploy/proxy/nginx.conf. The admins get
// requests in turn. An admin that has failed to answer a request gets no requests for a second.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { waitUntil } from "./until.ts";

export interface NginxOptions {
  /** The directory for nginx's files. The caller removes it. */
  readonly directory: string;
  /** The address on which nginx listens, such as `127.0.0.1:8080`. */
  readonly listen: string;
  /** The addresses of the admins, such as `127.0.0.1:5678`. */
  readonly upstreams: readonly string[];
  /** The words before `nginx` in the command, such as `ip netns exec NAME` for a network namespace. Default: none. */
  readonly command?: readonly string[];
}

export interface Nginx {
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { directory, listen, command = [] } = options;
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "nginx.conf");
  writeFileSync(path, configuration(options));
  const words = [...command, "nginx", "-e", join(directory, "error.log"), "-c", path];
  const child = spawn(words[0] ?? "", words.slice(1), {
    env: { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` },
    stdio: "ignore",
  });
  const [host = "", port = ""] = listen.split(":");
  await waitUntil("nginx listens", () => takesConnections(host, Number(port)));
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

function configuration({ directory, listen, upstreams }: NginxOptions): string {
  const servers = upstreams.map((one) => `server ${one} max_fails=1 fail_timeout=1s;`);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${directory}/${kind};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `${user} daemon off; pid ${directory}/nginx.pid;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  access_log off;
  ${places.join(" ")}
  upstream admins { ${servers.join(" ")} keepalive 16; }
  server {
    listen ${listen};
    location / {
      proxy_pass http://admins;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_connect_timeout 1s;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}

function takesConnections(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = net.connect({ host, port });
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
