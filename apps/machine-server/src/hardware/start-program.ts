/** Starts a program in its own process group, so that everything it starts ends with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type Clock, notFound, permissionDenied } from '@platform/base';
import { createLines } from './lines.ts';

export interface ProgramOptions {
  /** A path, or a name to look up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the directory of the machine-server. */
  readonly directory?: string | undefined;
  readonly onOutput: (chunk: Uint8Array) => void;
  /** Called with lines of standard error; lines that are too long are dropped. */
  readonly onErrorLine: (line: string) => void;
  readonly clock: Clock;
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** How it ended: `exit code 1` or `signal SIGSEGV`. Never rejects. */
  readonly ended: Promise<Ending>;
}

export interface Ending {
  readonly isSuccess: boolean;
  readonly text: string;
}

const maxErrorLineBytes = 4_096;
/** Time between the request to end and the kill. */
const graceMs = 2_000;

/**
 * Disposing ends the whole process group: SIGTERM, and SIGKILL after 2 s.
 *
 * @throws not_found or permission_denied if the program cannot be started
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { command, args, directory, onOutput, onErrorLine, clock } = options;
  const child = spawn(command, [...args], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const errors = createLines(maxErrorLineBytes, onErrorLine, () => {});
  child.stdout.on('data', onOutput);
  child.stderr.on('data', (chunk: Uint8Array) => errors.push(chunk));
  // It may end before it has read its input.
  child.stdin.on('error', () => {});
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) =>
      resolve({ isSuccess: code === 0, text: signal === null ? `exit code ${code}` : `signal ${signal}` }),
    );
  });
  await started(child, command, directory);
  const { pid = 0 } = child;
  let disposed: Promise<void> | undefined;
  // Only once: later the id may belong to another process.
  return { pid, ended, [Symbol.asyncDispose]: () => (disposed ??= endGroup(pid, child, ended, clock)) };
}

function started(child: ChildProcess, command: string, directory: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (caught: NodeJS.ErrnoException) => {
      const where = directory === undefined ? '' : ` in ${directory}`;
      reject(
        caught.code === 'EACCES'
          ? permissionDenied(`${command}: permission denied; make it executable (chmod +x)`)
          : notFound(
              `${command}: this program could not be started${where} (${caught.code}); install it, or write its whole path`,
            ),
      );
    });
  });
}

async function endGroup(pid: number, child: ChildProcess, ended: Promise<Ending>, clock: Clock): Promise<void> {
  signalGroup(pid, constants.signals.SIGTERM);
  const late = new AbortController();
  const kill = clock.sleep(graceMs, late.signal).then(
    () => signalGroup(pid, constants.signals.SIGKILL),
    () => {},
  );
  await Promise.race([ended, kill]);
  late.abort();
  // Child processes of the program may outlive it.
  signalGroup(pid, constants.signals.SIGKILL);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  await ended;
}

function signalGroup(pid: number, signal: number): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
