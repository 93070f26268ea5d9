/**
 * The script that undoes the installation script, step by step: POSIX sh, kept on the computer because nothing else of the platform may be
 * there. `home`, `service` and `units` precede it.
 */
import { shell, stopRunning } from './shell-text.ts';

/** Names in the home of a machine-server: it may be that of a cloud, too. `cache/compile` is made again by whatever needs it. */
const ownData =
  'capture capture_alive capture_written capture_directories.json cached_cloud_config_*.json cached_local_config_*.json certificate_*.json docdb_queue ftdc gaps.jsonl log_queue machine-server.lock module-data packages sent_files.jsonl cache/compile';

export const uninstaller: string = `own_data='${ownData}'${stopRunning}${shell(String.raw`
set -eu

fail() {
  printf 'uninstall: %s\n' "$*" >&2
  exit 1
}

# As the account whose files they are: root must not remove anything where another account may put links.
as_account() {
  if [ "$service" = yes ]; then
    su -s /bin/sh machine-server -c "$1"
  else
    sh -c "$1"
  fi
}

confirm_data() {
  [ "$yes" = no ] || return 0
  printf 'Remove everything that the machine-server stored in %s, including readings that were not sent? [y/N] ' "$home" >&2
  read -r answer || answer=
  case $answer in
    y|Y|yes) ;;
    *) fail "nothing was removed" ;;
  esac
}

main() {
  data=no
  yes=no
  for option in "$@"; do
    case $option in
      --data) data=yes ;;
      --yes) yes=yes ;;
      *) fail "expected --data, --yes or no option, found $option" ;;
    esac
  done
  dir=$home/machine-server
  if [ "$service" = yes ]; then
    [ "$(id -u)" = 0 ] || fail "expected root, found $(id -un): put sudo before the command"
  fi
  if [ "$data" = yes ]; then confirm_data; fi
  if [ "$service" = yes ]; then
    if [ -f "$units/machine-server.service" ]; then
      systemctl disable --now machine-server >/dev/null 2>&1 || true
      rm -f "$units/machine-server.service"
      systemctl daemon-reload
    fi
    echo "removed the service machine-server"
  else
    stop_running
    echo "stopped the machine-server"
  fi
  export home dir own_data
  as_account 'if [ -d "$dir" ]; then cd "$dir" && rm -rf node npm program new old run keep-running log error machine-server.tar.gz credentials.json pid; fi'
  echo "removed its programs and its credentials from $dir"
  if [ "$data" = no ]; then
    echo "What it stored stays in $home: readings that were not sent, configuration, packages. To remove it as well: $0 --data"
    return
  fi
  as_account 'cd "$home" && rm -rf $own_data && rm -f machine-server/uninstall && rmdir cache machine-server 2>/dev/null || true'
  rmdir "$home" 2>/dev/null || true
  echo "removed what it stored in $home"
  if [ "$service" = yes ]; then
    userdel machine-server
    echo "removed the account machine-server"
    rm -f "$0"
  fi
}

main "$@"
`)}`;
