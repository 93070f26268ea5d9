/** Runs a program under strace and returns its operations on the files of one directory, in order, to simulate power failures. */
import { execFile } from 'node:child_process';
import { open, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The operations of the program. `fd` 1 and 2 are files with the paths `stdout` and `stderr`. */
export type Syscall =
  | { readonly kind: 'create'; readonly path: string }
  | { readonly kind: 'mkdir'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly path: string; readonly length: number }
  /** Returned successfully; covers the operations before the call `startedAt` in this list. */
  | { readonly kind: 'sync'; readonly path: string; readonly startedAt: number }
  /** Returned an error: the operations before it never count as synced, even after a later success. */
  | { readonly kind: 'failed-sync'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  /** A second name for a file. */
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string };

export interface RecordOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Only files below it are recorded, besides stdout and stderr. */
  readonly directory: string;
  /** The output file of strace; outside `directory`. */
  readonly traceFile: string;
  /** In each thread, the sync with this number fails with EIO; the program may then fail. Default: none. */
  readonly failedSync?: number;
}

const traced =
  'openat,open,creat,close,dup,dup2,dup3,write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat';

/** Throws if strace is missing or the program fails. Does not see writes through mmap (SQLite's -shm). */
export async function recordSyscalls(options: RecordOptions): Promise<Syscall[]> {
  const { command, args, directory, traceFile, failedSync } = options;
  const run = promisify(execFile);
  const failing = failedSync === undefined ? [] : ['-e', `inject=fsync,fdatasync:error=EIO:when=${failedSync}`];
  const reader = new TraceReader(resolve(directory));
  for (const name of await readdir(directory, { recursive: true })) reader.knows(join(resolve(directory), name));
  const strace = ['-f', '-xx', '-s', '10000000', '-e', `trace=${traced}`, '-e', 'signal=none', '-o', traceFile];
  try {
    await run('strace', [...strace, ...failing, command, ...args], { maxBuffer: 64 * 1024 * 1024 });
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') {
      throw new Error('strace is needed to record what is written and synced; install it (apt-get install strace)', {
        cause: caught,
      });
    }
    if (failedSync === undefined) throw caught;
  }
  const file = await open(traceFile);
  for await (const line of file.readLines({ encoding: 'latin1' })) reader.line(line);
  return reader.calls;
}

interface OpenFile {
  readonly path: string;
  /** Position for write(), which states no offset. */
  position: number;
}

class TraceReader {
  readonly calls: Syscall[] = [];
  readonly #directory: string;
  readonly #open = new Map<number, OpenFile>([
    [1, { path: 'stdout', position: 0 }],
    [2, { path: 'stderr', position: 0 }],
  ]);
  readonly #known = new Set<string>();
  /** Calls of other threads that have not returned yet: their text, and how many calls came before them. */
  readonly #unfinished = new Map<string, { readonly text: string; readonly startedAt: number }>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** It existed before the recording. */
  knows(path: string): void {
    this.#known.add(path);
  }

  line(line: string): void {
    const match = /^(\d+) +(.*)$/.exec(line);
    if (!match) return;
    const thread = match[1] as string;
    const text = match[2] as string;
    if (text.endsWith('<unfinished ...>')) {
      const begun = text.slice(0, -'<unfinished ...>'.length).trimEnd();
      const name = begun.slice(0, begun.indexOf('('));
      const startedAt = this.calls.length;
      this.#unfinished.set(thread, { text: begun, startedAt });
      // A write may reach the disk before it returns, so it counts from its start; its length is in its arguments.
      if (isWrite(name)) this.#write(name, begun);
      // Another thread may get the same number before the call returns.
      if (name === 'close') this.#close(begun);
      return;
    }
    const resumed = /^<\.\.\. (\w+) resumed>/.exec(text);
    if (resumed) {
      const begun = this.#unfinished.get(thread);
      this.#unfinished.delete(thread);
      if (!begun || isWrite(resumed[1] as string) || resumed[1] === 'close') return;
      this.#call(begun.text + text.slice(resumed[0].length), begun.startedAt);
      return;
    }
    this.#call(text, this.calls.length);
  }

  #call(text: string, startedAt: number): void {
    const name = text.slice(0, text.indexOf('('));
    const result = Number(/\) += (-?\d+)/.exec(text)?.[1] ?? Number.NaN);
    if (result === -1 && /^f(data)?sync\(/.test(text)) {
      const file = this.#open.get(Number(/\((\d+)/.exec(text)?.[1]));
      if (file) this.calls.push({ kind: 'failed-sync', path: file.path });
    }
    if (!(result >= 0)) return;
    if (isWrite(name)) {
      this.#write(name, text);
      return;
    }
    const fd = Number(/^\w+\((\d+)/.exec(text)?.[1] ?? -1);
    switch (name) {
      case 'open':
      case 'openat':
      case 'creat':
        this.#opened(result, strings(text)[0], text);
        return;
      case 'close':
        this.#close(text);
        return;
      case 'dup':
      case 'dup2':
      case 'dup3': {
        const file = this.#open.get(fd);
        if (file) this.#open.set(result, file);
        return;
      }
      case 'fsync':
      case 'fdatasync': {
        const file = this.#open.get(fd);
        if (file) this.calls.push({ kind: 'sync', path: file.path, startedAt });
        return;
      }
      case 'ftruncate': {
        const file = this.#open.get(fd);
        if (file) this.calls.push({ kind: 'truncate', path: file.path, length: Number(/, (\d+)\)/.exec(text)?.[1]) });
        return;
      }
      default:
        this.#named(name, text);
        return;
    }
  }

  #close(text: string): void {
    this.#open.delete(Number(/^close\((\d+)/.exec(text)?.[1] ?? -1));
  }

  #opened(fd: number, named: string | undefined, text: string): void {
    const path = this.#real(named);
    this.#open.delete(fd);
    if (path === undefined || !this.#inside(path)) return;
    if (text.includes('O_CREAT') && !this.#known.has(path)) {
      this.#known.add(path);
      this.calls.push({ kind: 'create', path });
    }
    if (text.includes('O_TRUNC')) this.calls.push({ kind: 'truncate', path, length: 0 });
    this.#open.set(fd, { path, position: 0 });
  }

  /** Below an open folder, files are named `/proc/self/fd/NUMBER/…`. */
  #real(path: string | undefined): string | undefined {
    const [, fd, rest = ''] = /^\/proc\/self\/fd\/(\d+)(.*)$/.exec(path ?? '') ?? [];
    const folder = fd === undefined ? undefined : this.#open.get(Number(fd));
    return folder === undefined ? path : folder.path + rest;
  }

  #named(name: string, text: string): void {
    const [path, to] = strings(text).map((named) => this.#real(named));
    if (path === undefined || !this.#inside(path)) return;
    if (name.startsWith('mkdir')) {
      this.calls.push({ kind: 'mkdir', path });
      return;
    }
    if (name.startsWith('link')) {
      if (to === undefined) return;
      this.#known.add(to);
      this.calls.push({ kind: 'link', path, to });
      return;
    }
    this.#known.delete(path);
    if (name.startsWith('unlink')) this.calls.push({ kind: 'unlink', path });
    else if (to !== undefined) {
      this.#known.add(to);
      this.calls.push({ kind: 'rename', path, to });
    }
  }

  #write(name: string, text: string): void {
    const file = this.#open.get(Number(/^\w+\((\d+)/.exec(text)?.[1] ?? -1));
    if (!file) return;
    const bytes = Buffer.concat(strings(text, 'latin1').map((part) => Buffer.from(part, 'latin1')));
    let offset = file.position;
    if (name.startsWith('pwrite')) {
      const last = /, (\d+)\)?(?: += -?\d+)?$/.exec(text);
      if (!last) throw new Error(`expected an offset in ${text.slice(0, 40)}… ${text.slice(-40)}`);
      offset = Number(last[1]);
    } else {
      file.position += bytes.length;
    }
    this.calls.push({ kind: 'write', path: file.path, offset, bytes });
  }

  #inside(path: string): boolean {
    return path === this.#directory || dirname(path).startsWith(this.#directory);
  }
}

function isWrite(name: string): boolean {
  return name.startsWith('write') || name.startsWith('pwrite');
}

/** The quoted strings of a call; `-xx` writes all their characters as \xNN. */
function strings(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) =>
    Buffer.from((match[1] as string).replaceAll('\\x', ''), 'hex').toString(encoding),
  );
}
