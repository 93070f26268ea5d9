export interface FailingCalls {
  /** Only calls on this file or folder fail. */
  readonly path: string;
  /** Names of system calls, as strace knows them, such as `openat` or `fdatasync`. */
  readonly calls: readonly string[];
  readonly error: 'EIO' | 'ENOSPC' | 'EMFILE';
  /** In each thread: `1`, only the first; `2+`, all from the second; default: all. */
  readonly when?: string;
}

/** Words to prepend to a command, whose calls then fail; they need strace. In Node, UV_THREADPOOL_SIZE=1 makes it one thread. */
export function failingCalls({ path, calls, error, when }: FailingCalls): readonly string[] {
  const inject = `inject=${calls.join(',')}:error=${error}${when === undefined ? '' : `:when=${when}`}`;
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-P', path, '-e', `trace=${calls.join(',')}`, '-e', inject];
}
