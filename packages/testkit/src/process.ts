/** Child processes for tests: started, read line by line, killed, measured. */
import { type ChildProcess as NodeChild, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface SpawnOptions {
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Disposing kills it. */
export interface ChildProcess extends AsyncDisposable {
  readonly pid: number;
  /** Lines of stdout that are JSON objects, in order. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** All of stderr so far. */
  readonly stderr: string;
  readonly exited: Promise<ExitStatus>;
  /** The first JSON line, past ones included, that matches; rejects with stderr if the process ends without one. */
  waitForLine(fits: (line: Readonly<Record<string, unknown>>) => boolean): Promise<Readonly<Record<string, unknown>>>;
  writeLine(line: unknown): void;
  /** Default SIGKILL. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<ExitStatus>;
}

export function spawnChild(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const { cwd, env = {} } = options;
  const child: NodeChild = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: Record<string, unknown>[] = [];
  const checks = new Set<() => void>();
  let stderr = '';
  let ended = false;

  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin?.on('error', () => {});
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parseObject(text);
      if (!line) return;
      lines.push(line);
      for (const check of checks) check();
    });
  }
  const exited = new Promise<ExitStatus>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      ended = true;
      resolve({ code, signal });
      for (const check of checks) check();
    });
  });

  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<ExitStatus> => {
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? -1,
    lines,
    get stderr() {
      return stderr;
    },
    exited,
    waitForLine: (fits) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const line = lines.find(fits);
          if (line) resolve(line);
          else if (ended) reject(new Error(`${command} ended before the expected line; stderr: ${stderr}`));
          else return;
          checks.delete(check);
        };
        checks.add(check);
        check();
      }),
    writeLine: (line) => void child.stdin?.write(`${JSON.stringify(line)}\n`),
    kill,
    async [Symbol.asyncDispose]() {
      if (!ended) await kill();
    },
  };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Resident memory of a process in bytes; 0 if it is gone. Linux. */
export function rssBytes(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
