#!/bin/bash
# Runs inside the virtual machine of vm.ts, as root, with systemd as PID 1. Installs worker with the commands of
# docs/deploy.md, and checks the units and the container image. machine.ts reads the console lines that begin with @@:
# "@@ ok …", "@@ failed …" with the output of the check on the next lines, "@@ figure …", and at the end "@@ end".
cd /mnt || exit
exec 3>/dev/ttyS0
say() { echo "@@ $*" >&3; }
check() {
  local title=$1 out
  shift
  if out=$("$@" 2>&1); then say "ok $title"; else
    say "failed $title"
    sed 's/^/@@   /' <<<"$out" | tail -n 25 >&3
  fi
}
now() { date +%s%N; }
since() { echo $((($(now) - $1) / 1000000)) ms; }
until_true() { # seconds, command…
  local end=$((SECONDS + $1))
  shift
  until seen=$("$@" 2>&1); do
    if [ $SECONDS -ge $end ]; then
      echo "in vain: $* ($seen)"
      return 1
    fi
    sleep 0.2
  done
}
of() { systemctl show --value -p "$2" "$1"; }
# For the commands of worker. jobs() and the functions that call it query the queue as the user postgres instead.
export DATABASE_URL=postgres://user:password@host:5432/database
jobs() { su postgres -c "psql -XAtd database -c \"$1\""; }
left() { jobs "select count(*) from worker.jobs where task_identifier = '$1'"; }
gone() { [ "$(left "$1")" = 0 ]; }
runs() { [ "$(jobs "select count(*) from worker.jobs where locked_at is not null")" -gt 0 ]; }
ask() { curl -sS --max-time 120 -u admin:a-password-of-your-own "$@"; }
restarted() {
  systemctl show -p NRestarts -p ActiveState -p SubState -p Result worker
  [ "$(of worker NRestarts)" -gt "$1" ] && systemctl is-active -q worker
}

database() {
  echo 127.0.0.1 host >>/etc/hosts
  # The cluster was created in a chroot, and got another port if 5432 was in use on that machine.
  sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf
  systemctl restart postgresql
  until_true 60 su postgres -c 'psql -XAtc "select 1"'
  su postgres -c "psql -Xqc \"create role \\\"user\\\" login password 'password'\" -c 'create database database owner \"user\"'"
}

tasks() {
  install -d /srv/worker/tasks
  cat >/srv/worker/tasks/greet.ts <<'T'
export default async ({ name }: { name: string }, { addJob, logger }: any) => {
  logger.info(`hello ${name}`);
  await addJob("count", { name });
  await addJob("archive", { name });
};
T
  cat >/srv/worker/tasks/count.py <<'T'
#!/usr/bin/env python3
import json, sys
print(len(json.load(sys.stdin)["payload"]["name"]))
T
  printf '#!/bin/sh\ncat\n' >/srv/worker/tasks/archive
  printf '#!/bin/sh\nsleep "$(sed "s/[^0-9]//g")"\n' >/srv/worker/tasks/rest
  echo 'export default (ms) => { const end = Date.now() + ms; while (Date.now() < end); };' >/srv/worker/tasks/block.mjs
  chmod +x /srv/worker/tasks/count.py /srv/worker/tasks/archive /srv/worker/tasks/rest
}

# ---- from an empty machine to the first jobs done: install.sh contains the commands of docs/deploy.md
check "A database is created." database
tasks
began=$(now)
install -m 755 /mnt/worker /usr/local/bin/worker
check "The block of docs/deploy.md installs and starts both services." bash -e /mnt/install.sh
check "A job in TypeScript, which adds jobs in Python and shell, is added." bash -c "worker add greet '{\"name\": \"ada\"}'"
for task in greet count archive; do check "The job of the task $task is done." until_true 180 gone $task; done
say "figure unit file, from the executable to the first jobs done: $(since "$began")"

# ---- Type=notify
has_status() { systemctl show -p StatusText worker && [ "$(of worker StatusText)" = "5 tasks" ]; }
check "The worker reports its number of tasks to systemd." has_status
check "The admin reports to systemd that it is ready." test "$(of worker-admin ActiveState)/$(of worker-admin SubState)" = active/running
check "The admin answers on the socket that systemd has opened." ask -f http://127.0.0.1:5678/api/overview
check "A wrong password is rejected." test "$(curl -s -o /dev/null -w '%{http_code}' -u admin:wrong http://127.0.0.1:5678/api/overview)" = 401
no_secret() { ! tr '\0' '\n' <"/proc/$(of "$1" MainPID)/environ" | grep -E 'password|NOTIFY_SOCKET=.+secret'; }
check "The environment of the worker contains no secret." no_secret worker
check "The environment of the admin contains no secret." no_secret worker-admin
uid() { [ "$(awk '/^Uid/{print $2}' "/proc/$(of "$1" MainPID)/status")" -ge 61184 ]; }
check "The worker runs as a dynamic user." uid worker
# systemd puts stdout into the journal, too. The admin prints its URL and login there as text, which is left out here.
json_lines() {
  journalctl -q -o cat _SYSTEMD_UNIT="$1.service" _PID="$(of "$1" MainPID)" |
    grep -vE '^(worker admin |  (URL|User|Password|Token|Header) )' | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin if line.strip()]
assert lines and all("msg" in line and "level" in line for line in lines), lines[:3]'
}
check "Every line of the worker in the journal is JSON." json_lines worker
check "Every line of the admin in the journal is JSON." json_lines worker-admin
check "The journal contains no secret." bash -c '! journalctl -q -o cat -u worker -u worker-admin | grep -E "a-password-of-your-own|user:password@"'
exposure() { systemd-analyze security "$1.service" --no-pager | tail -n 1 | grep -oE '[0-9]+\.[0-9]'; }
say "figure exposure of worker $(exposure worker), of worker-admin $(exposure worker-admin)"
exposed() { awk -v is="$(exposure "$1")" -v said="$(cat /mnt/exposure)" 'BEGIN { exit !(is != "" && is <= said) }'; }
check "The exposure of the worker is at most the number in docs/deploy.md." exposed worker
check "The exposure of the admin is at most the number in docs/deploy.md." exposed worker-admin

# ---- socket activation
systemctl stop worker-admin.service 2>/dev/null
check "A request while the admin is stopped starts it, and is answered." ask -f http://127.0.0.1:5678/healthz
before=$(of worker-admin MainPID)
kill -9 "$before"
check "A request right after a kill -9 of the admin waits, and is answered." ask -f http://127.0.0.1:5678/healthz
check "systemd has started the admin again." test "$(of worker-admin MainPID)" != "$before"

# ---- stop, kill, watchdog
worker add rest 4 >/dev/null
until_true 120 runs
began=$(now)
check "systemctl stop succeeds while a job runs." systemctl stop worker
say "figure stop with a job of 4 s: $(since "$began")"
check "The job is done after the stop." gone rest
check "The result of the stopped worker is success." test "$(of worker Result)" = success
systemctl start worker
worker add rest 900 >/dev/null
until_true 120 runs
began=$(now)
systemctl stop worker
say "figure stop with a job of 900 s: $(since "$began")"
check "A job that does not end is given back within TimeoutStopSec." test "$(of worker Result)/$(jobs "select count(*) from worker.jobs where locked_at is not null")" = success/0
check "The program of that job has ended." bash -c '! pgrep -x sleep'
jobs "delete from worker._private_jobs" >/dev/null
systemctl start worker
worker add rest 3 >/dev/null
until_true 120 runs
before=$(of worker NRestarts)
kill -9 "$(of worker MainPID)"
began=$(now)
check "After kill -9 systemd starts the worker again." until_true 240 restarted "$before"
check "The job of the killed worker is run." until_true 240 gone rest
say "figure kill -9 to its job done: $(since "$began")"
install -d /etc/systemd/system/worker.service.d
printf '[Service]\nWatchdogSec=4s\n' >/etc/systemd/system/worker.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart worker
before=$(of worker NRestarts)
check "The watchdog does not end an idle worker." bash -c 'sleep 10; systemctl is-active worker'
check "The idle worker was not restarted." test "$(of worker NRestarts)" = "$before"
worker add block 120000 --max-attempts 1 >/dev/null
check "If a task blocks its process beyond WatchdogSec, the worker is restarted." until_true 300 restarted "$before"
check "The journal names the watchdog." bash -c 'journalctl -q -u worker | grep -iq watchdog'

# ---- TLS by the admin, and its reload
install -d /etc/worker/tls /etc/systemd/system/worker-admin.service.d /etc/systemd/system/worker-admin.socket.d
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -addext subjectAltName=IP:127.0.0.1 -keyout /etc/worker/tls/privkey.pem -out /etc/worker/tls/fullchain.pem 2>/dev/null
  chgrp ssl-cert /etc/worker/tls/*.pem && chmod 0640 /etc/worker/tls/*.pem
}
shown() { openssl s_client -connect 127.0.0.1:5678 </dev/null 2>/dev/null | openssl x509 -noout -subject; }
getent group ssl-cert >/dev/null || groupadd -r ssl-cert
certificate first
cp /mnt/deploy/systemd/worker-admin-tls.conf /etc/systemd/system/worker-admin.service.d/tls.conf
systemctl daemon-reload
check "The admin starts with the certificate of worker-admin-tls.conf." systemctl restart worker-admin.service
check "The admin serves TLS with this certificate." bash -c "openssl s_client -connect 127.0.0.1:5678 </dev/null 2>/dev/null | grep -q 'CN = first'"
check "worker healthcheck suggests --insecure for a self-signed certificate." bash -c 'worker healthcheck https://127.0.0.1:5678 2>&1 | grep -q -- --insecure'
check "worker healthcheck accepts it with --insecure." worker healthcheck https://127.0.0.1:5678 --insecure
before=$(of worker-admin MainPID)
certificate second
check "systemctl reload succeeds after the certificate has changed." systemctl reload worker-admin
is_second() { shown | grep -q 'CN = second'; }
check "The admin serves the new certificate." until_true 20 is_second
check "The admin is still the same process." test "$(of worker-admin MainPID)" = "$before"
systemctl stop worker worker-admin.service worker-admin.socket

# ---- the image, with Debian's container engine, on a base of this machine's libraries
if command -v podman >/dev/null; then
  mkdir -p /etc/containers
  printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers"\ngraphroot = "/var/lib/containers"\n' >/etc/containers/storage.conf
  printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n' >/etc/containers/containers.conf
  base() {
    (ldd /mnt/worker | grep -oE '/[^ ]+ \(0x' | cut -d' ' -f1) |
      tar -C / -ch --transform 's,^/,,' -T - -f - 2>/dev/null | podman import - localhost/base:1
  }
  context() {
    mkdir -p /root/image/dist && cp /mnt/worker /mnt/THIRD_PARTY_NOTICES /root/image/dist/ && cp -r /mnt/deploy /root/image/
  }
  check "A base image with only glibc and libstdc++ is created." base
  check "The context of the image's build is created." context
  began=$(now)
  check "podman builds the Dockerfile." podman build --format docker --network none --build-arg BASE=localhost/base:1 -f /root/image/deploy/container/Dockerfile -t worker:0.1.0 /root/image
  say "figure image built: $(since "$began")"
  began=$(now)
  check "worker migrate succeeds in the image." podman run --rm --network host -e DATABASE_URL worker:0.1.0 migrate
  check "The image starts the admin on a read-only root." podman run -d --name admin --read-only --network host -e DATABASE_URL -e WORKER_ADMIN_PASSWORD=a-password-of-your-own worker:0.1.0
  check "The HEALTHCHECK of the container succeeds." until_true 180 podman healthcheck run admin
  check "The admin in the container answers." ask -f http://127.0.0.1:5678/api/overview
  say "figure image, from the build to an answer: $(since "$began")"
  check "The admin in the container runs as user 65532." test "$(awk '/^Uid/{print $2}' "/proc/$(podman inspect -f '{{.State.Pid}}' admin)/status")" = 65532
  began=$(now)
  check "The container stops on its signal." podman stop -t 15 admin
  say "figure container stopped: $(since "$began")"
  check "The exit status of the container is 0." test "$(podman inspect -f '{{.State.ExitCode}}' admin)" = 0
fi
say end
