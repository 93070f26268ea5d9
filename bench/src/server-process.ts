import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** The first JSON line on standard output that has this event. */
  event(name: string): Promise<Readonly<Record<string, unknown>>>;
}

/** Starts a program whose standard output is JSON lines with `event`; disposing sends SIGTERM and waits, then kills. */
export function startProcess(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ServerProcess {
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const closed = once(child, 'close');
  const seen: Readonly<Record<string, unknown>>[] = [];
  const errors: string[] = [];
  let arrived = Promise.withResolvers<void>();
  const wakeUp = (): void => {
    arrived.resolve();
    arrived = Promise.withResolvers();
  };
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    if (errors.push(line) > 20) errors.shift();
  });
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    if (line.startsWith('{')) seen.push(JSON.parse(line));
    wakeUp();
  });
  child.once('close', wakeUp);
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
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await closed;
      clearTimeout(kill);
    },
  };
}
