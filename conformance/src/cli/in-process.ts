/** Runs the command line in the process of the test: the program itself, with its own environment, streams, exit code and signals. */
import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { programs } from '../../../apps/cli/src/programs.ts';
import { run } from '../../../apps/cli/src/run.ts';
import type { Invocation } from '../../../apps/cli/src/settings.ts';
import { program } from '../../../tools/bundles/program.ts';

// What it starts are the bundles that users run, which take a third of the processor time of the sources to start.
Object.assign(programs, { admin: pathToFileURL(program('admin-main')).href });

export interface InProcess {
  readonly stdin: Writable;
  /** Resolves with the exit code; rejects where a process would end with a stack trace. */
  readonly ended: Promise<number>;
  /** Ctrl-C, and the end of its input. */
  stop(): void;
}

export interface InProcessOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The working directory. */
  readonly directory: string;
  readonly onOutput: (output: 'stdout' | 'stderr', text: string) => void;
  /** Input and output are a terminal of this size. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined;
}

/** @throws if a run in another directory has not ended: the working directory belongs to the process */
export function startInProcess(
  args: readonly string[],
  { env, directory, onOutput, terminal }: InProcessOptions,
): InProcess {
  const written = (output: 'stdout' | 'stderr'): Writable => {
    const decoder = new TextDecoder();
    return new Writable({
      write(chunk: Buffer, _encoding, done) {
        onOutput(output, decoder.decode(chunk, { stream: true }));
        done();
      },
    });
  };
  const stdin = Object.assign(new PassThrough(), terminal && { isTTY: true, setRawMode: () => {} });
  const stdout = Object.assign(written('stdout'), terminal && { isTTY: true, ...terminal });
  const invocation: Invocation & EventEmitter = Object.assign(new EventEmitter(), {
    ...{ env, stdin, stdout, stderr: written('stderr') },
    exitCode: undefined,
  });
  const leave = enter(directory);
  const ended = run(['node', 'platform', ...args], invocation)
    .then(() => Number(invocation.exitCode ?? 0))
    .finally(() => {
      stdin.destroy();
      leave();
    });
  const stop = (): void => {
    // One that does not listen yet is stopped when it begins to.
    if (!invocation.emit('SIGINT'))
      invocation.on('newListener', (name, listener) => name === 'SIGINT' && queueMicrotask(() => listener()));
    stdin.destroy();
  };
  return { stdin, ended, stop };
}

/** The directory of the runs that have not ended. */
const current = { directory: '', before: '', runs: 0 };

function enter(directory: string): () => void {
  if (current.runs > 0 && current.directory !== directory)
    throw new Error(`expected no other run, found one in ${current.directory}: await it, or start a process`);
  if (current.runs === 0) {
    Object.assign(current, { directory, before: process.cwd() });
    process.chdir(directory);
  }
  current.runs++;
  return () => {
    current.runs--;
    if (current.runs === 0) process.chdir(current.before);
  };
}
