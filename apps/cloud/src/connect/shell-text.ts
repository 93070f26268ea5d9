/** In texts of scripts, a backslash keeps TypeScript from replacing what is the shell's. */
export function shell(text: string): string {
  return text.replaceAll('\\${', '${');
}

/** A function of both scripts: stops the machine-server that was started as a process in `dir`. */
export const stopRunning = `
stop_running() {
  [ -f "$dir/pid" ] || return 0
  pid=$(cat "$dir/pid")
  # Another program may have its number now.
  if kill -0 "$pid" 2>/dev/null && ps -o args= -p "$pid" 2>/dev/null | grep -q "$dir/keep-running"; then
    kill "$pid" 2>/dev/null || true
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 90 ]; do
      sleep 1
      tries=$((tries + 1))
    done
  fi
  rm -f "$dir/pid"
}
`;
