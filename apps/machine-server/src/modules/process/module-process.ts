/**
 * The process of a module, in its own process group.
 *
 * States: running → (stop requested) SIGTERM to the process → SIGTERM to its group → SIGKILL to its group → gone. However the process ends,
 * the rest of its group is killed.
 */
import { spawn } from 'node:child_process';
import { type Clock, failedPrecondition, openRegular, type PlatformError } from '@platform/base';
import { logOutput, type ModuleLines } from './module-output.ts';

export interface ProcessOptions {
  readonly path: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly lines: ModuleLines;
  readonly clock: Clock;
}

export interface ModuleProcess {
  readonly pid: number;
  /** Resolves when it has ended, to a text that says how: `it ended with exit code 1`. */
  readonly ended: Promise<string>;
  /** Requests it to end, then kills it. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Time between two steps of a stop. */
const stepMs = 3_300;

/** @throws failed_precondition if it cannot be started, with the reason */
export async function startProcess(options: ProcessOptions): Promise<ModuleProcess> {
  const { path, args, cwd, env, lines, clock } = options;
  await checkProgram(path, cwd);
  const child = spawn(path, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  child.once('spawn', () => started.resolve());
  child.once('error', (error: NodeJS.ErrnoException) => started.reject(cannotStart(error, path, cwd)));
  const { pid } = child;
  const signalGroup = (signal: NodeJS.Signals): void => {
    if (pid !== undefined) signalTo(-pid, signal);
  };
  // However this server ends, its modules end with it.
  const onExit = (): void => signalGroup('SIGKILL');
  process.once('exit', onExit);
  child.once('exit', (code, signal) => {
    process.off('exit', onExit);
    signalGroup('SIGKILL');
    ended.resolve(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`);
  });
  const output = Promise.all([
    logOutput(child.stdout, 'info', lines, clock),
    logOutput(child.stderr, 'error', lines, clock),
  ]);
  try {
    await started.promise;
  } catch (caught) {
    process.off('exit', onExit);
    throw caught;
  }
  // The last lines often say why it ended. A process outside its group may hold the pipe open; this does not wait for it.
  const over = ended.promise.then(async (how) => {
    await Promise.race([output, clock.sleep(500)]);
    child.stdout.destroy();
    child.stderr.destroy();
    return how;
  });
  return {
    pid: pid ?? -1,
    ended: over,
    async stop() {
      const isOver = new AbortController();
      void over.then(() => isOver.abort());
      const within = (): Promise<unknown> => Promise.race([over, clock.sleep(stepMs, isOver.signal).catch(() => {})]);
      child.kill('SIGTERM');
      await within();
      if (isOver.signal.aborted) return;
      signalGroup('SIGTERM');
      await within();
      if (isOver.signal.aborted) return;
      signalGroup('SIGKILL');
      await over;
    },
  };
}

/** The system would run a file that is not a program in a shell, line by line. For an unreadable file, the start reports the reason. */
async function checkProgram(path: string, cwd: string): Promise<void> {
  if (process.platform !== 'linux') return;
  await using file = await openRegular(path, { followsLinks: true }).catch(() => undefined);
  const bytes = Buffer.alloc(4);
  const read = await file?.read(bytes, 0).catch(() => undefined);
  if (read === undefined) return;
  const start = bytes.toString('latin1', 0, read);
  if (start.startsWith('#!') || start === '\x7fELF') return;
  throw cannotStart({ code: 'ENOEXEC', message: '' }, path, cwd);
}

function cannotStart(
  { code, message }: Pick<NodeJS.ErrnoException, 'code' | 'message'>,
  path: string,
  cwd: string,
): PlatformError {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: `found no such file, or its interpreter or the folder ${cwd} does not exist`,
    EACCES: 'it may not be executed: make it executable with chmod +x',
    ENOEXEC:
      'it is not a program for this computer: build it for this system, or begin a script with a line such as #!/usr/bin/env node',
  };
  return failedPrecondition(
    `expected a program at ${path}, ${reasons[code ?? ''] ?? `which could not be started: ${message}`}`,
  );
}

/** The process may be gone already. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
