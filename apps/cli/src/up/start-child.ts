import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { jsonIn } from '@platform/base/json-in';
import { pause } from './pause.ts';

export interface ChildOptions {
  /** Its name in messages. */
  readonly name: string;
  /** file: URL of its main module. */
  readonly entry: string;
  readonly args: readonly string[];
  /** Node flags, in addition to those of this process. */
  readonly flags?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Receives each of its log lines, from standard error or (the machine-server) standard output. */
  readonly onLog: (line: string) => void;
  /** How long it may take to stop before it is killed. */
  readonly graceMs: number;
}

export interface ChildExit {
  readonly name: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its last log lines, oldest first. */
  readonly tail: readonly string[];
}

export interface Child extends AsyncDisposable {
  readonly pid: number | undefined;
  /** Settles when the process has ended and its output is read. */
  readonly exited: Promise<ChildExit>;
  /** Its first line of JSON on standard output with `"event":"ready"`; never settles if there is none. */
  readonly ready: Promise<Readonly<Record<string, unknown>>>;
}

const tailLines = 20;

/**
 * Starts one of our processes with this Node and its flags. It has its own process group: Ctrl-C in the terminal reaches only
 * `platform up`, which stops its processes in order. Disposing asks it to stop, then kills its group. It also has a channel to this
 * process: when the channel closes, this process has ended.
 */
export function startChild(options: ChildOptions): Child {
  const { name, entry, args, flags = [], env, onLog, graceMs } = options;
  const tail: string[] = [];
  const child = spawn(process.execPath, [...process.execArgv, ...flags, fileURLToPath(entry), ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    env,
  });
  const keep = (line: string): void => {
    if (tail.push(line) > tailLines) tail.shift();
    onLog(line);
  };
  eachLine(child.stderr, keep);
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    eachLine(child.stdout, (line) => {
      const event = jsonIn(line) as Record<string, unknown> | null | undefined;
      if (event?.['event'] === 'ready') resolve(event);
      else keep(line);
    });
  });
  const exited = exitOf(child, name, tail);
  return {
    pid: child.pid,
    ready,
    exited,
    async [Symbol.asyncDispose]() {
      const done = new AbortController();
      const gone = exited.then(() => done.abort());
      child.kill('SIGTERM');
      if (await pause(graceMs, done.signal)) killGroup(child);
      await gone;
    },
  };
}

async function exitOf(child: ChildProcess, name: string, tail: string[]): Promise<ChildExit> {
  try {
    const [code, signal] = await once(child, 'close');
    return { name, code, signal, tail };
  } catch (error) {
    return { name, code: 1, signal: null, tail: [...tail, String(error)] };
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

function eachLine(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  if (stream) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', take);
}
