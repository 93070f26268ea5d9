import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** The first JSON line on standard output that has this event. */
  event(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** Calls `listener` with each further JSON line, which `event` then no longer finds. */
  onLine(listener: (line: Readonly<Record<string, unknown>>) => void): void;
  /** Writes a line to its standard input. */
  write(line: string): void;
}

/** Starts a program whose standard output is JSON lines with `event`; disposing sends SIGTERM and waits, then kills. */
export function startProcess(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  errorsTo: 'kept' | 'inherit errors' = 'kept',
): ServerProcess {
  const child: ChildProcess = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const closed = once(child, 'close');
  const seen: Readonly<Record<string, unknown>>[] = [];
  const errors: string[] = [];
  const listeners: ((line: Readonly<Record<string, unknown>>) => void)[] = [];
  let arrived = Promise.withResolvers<void>();
  const wakeUp = (): void => {
    arrived.resolve();
    arrived = Promise.withResolvers();
  };
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    if (errors.push(line) > 20) errors.shift();
    if (errorsTo === 'inherit errors') process.stderr.write(`${line}\n`);
  });
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    if (line.startsWith('{')) {
      const message = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (listeners.length === 0) seen.push(message);
      for (const listener of listeners) listener(message);
    }
    wakeUp();
  });
  child.once('close', wakeUp);
  // A process that has ended no longer reads.
  child.stdin?.on('error', () => {});
  return {
    pid: child.pid ?? -1,
    async event(name) {
      for (;;) {
        const found = seen.find(({ event }) => event === name);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`${args.join(' ')} ended before "${name}":\n${errors.join('\n')}`);
        }
        await arrived.promise;
      }
    },
    onLine: (listener) => void listeners.push(listener),
    write: (line) => void child.stdin?.write(`${line}\n`),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await closed;
      clearTimeout(kill);
    },
  };
}
