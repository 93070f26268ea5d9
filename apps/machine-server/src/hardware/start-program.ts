/** Starts a program in its own process group, so that everything it starts ends with it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { type Clock, notFound, permissionDenied } from '@platform/base';
import { createLines } from './lines.ts';

export interface ProcessOptions {
  /** A path, or a name to look up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the directory of the machine-server. */
  readonly directory?: string | undefined;
  readonly clock: Clock;
}

export interface ProgramOptions extends ProcessOptions {
  readonly onOutput: (chunk: Uint8Array) => void;
  /** Called with lines of standard error; lines that are too long are dropped. */
  readonly onErrorLine: (line: string) => void;
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** How it ended: `exit code 1` or `signal SIGSEGV`. Never rejects. */
  readonly ended: Promise<Ending>;
}

/** A program whose streams the caller reads and writes at its own pace. */
export interface Process extends Program {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

export interface Ending {
  readonly isSuccess: boolean;
  /** As shells have it: 128 and the number of the signal, if one ended it. */
  readonly exitCode: number;
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
export async function startProgram({ onOutput, onErrorLine, ...options }: ProgramOptions): Promise<Program> {
  const { stdout, stderr, ...program } = await startProcess(options);
  const errors = createLines(maxErrorLineBytes, onErrorLine, () => {});
  stdout.on('data', onOutput);
  stderr.on('data', (chunk: Uint8Array) => errors.push(chunk));
  return program;
}

/** Like `startProgram`, with the streams of the program. */
export async function startProcess({ command, args, directory, clock }: ProcessOptions): Promise<Process> {
  const child = spawn(command, [...args], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const { stdin, stdout, stderr } = child;
  // It may end before it has read its input.
  stdin.on('error', () => {});
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) =>
      resolve(
        signal === null
          ? { isSuccess: code === 0, exitCode: code ?? 1, text: `exit code ${code}` }
          : { isSuccess: false, exitCode: 128 + constants.signals[signal], text: `signal ${signal}` },
      ),
    );
  });
  await started(child, command, directory);
  const { pid = 0 } = child;
  let disposed: Promise<void> | undefined;
  // Only once: later the id may belong to another process.
  const end = (): Promise<void> => (disposed ??= endGroup(pid, child, ended, clock));
  return { pid, stdin, stdout, stderr, ended, [Symbol.asyncDispose]: end };
}

function started(child: ChildProcessWithoutNullStreams, command: string, directory: string | undefined): Promise<void> {
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

async function endGroup(
  pid: number,
  child: ChildProcessWithoutNullStreams,
  ended: Promise<Ending>,
  clock: Clock,
): Promise<void> {
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
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  await ended;
}

function signalGroup(pid: number, signal: number): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
