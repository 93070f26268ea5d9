/**
 * One command, or a shell that reads its commands from the caller, without a terminal: output and errors apart, for scripts. The end of the
 * caller's messages is the end of the input. Output is text; invalid UTF-8 is replaced.
 */
import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Clock } from '@platform/base';
import type { ShellRequest } from '@platform/proto/platform/service/shell/v1/shell';
import { startProcess } from '../../../hardware/start-program.ts';

export interface Output {
  readonly dataOut?: string;
  readonly dataErr?: string;
  readonly eof?: boolean;
  /** Our own, with `eof`; absent if the shell has closed its terminal and still runs. */
  readonly exitCode?: number;
}

export interface RunProgramOptions {
  readonly shell: string;
  /** Undefined: the shell reads its commands from the input. */
  readonly command: string | undefined;
  readonly requests: AsyncIterable<ShellRequest>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Pieces of output that wait for the caller, besides the buffers of the pipes. */
const waitingPieces = 4;

/** A slow reader slows the program down. Everything that the program has started ends with the call. */
export async function* runProgram({
  shell,
  command,
  requests,
  clock,
  signal,
}: RunProgramOptions): AsyncGenerator<Output, void> {
  const args = command === undefined ? ['-s'] : ['-c', command];
  await using program = await startProcess({ command: shell, args, clock });
  const output = new PassThrough({ objectMode: true, highWaterMark: waitingPieces });
  const over = new AbortController();
  const fail = (): void => void output.destroy(signal.reason);
  signal.addEventListener('abort', fail, { once: true });
  if (signal.aborted) fail();
  try {
    void feed(requests, program.stdin);
    void collect(program, output, over.signal);
    yield* output as AsyncIterable<Output>;
    yield { eof: true, exitCode: (await program.ended).exitCode };
  } finally {
    signal.removeEventListener('abort', fail);
    over.abort();
    output.destroy();
  }
}

/** Never rejects: the output shows why a call ended. */
async function feed(requests: AsyncIterable<ShellRequest>, stdin: Writable): Promise<void> {
  try {
    for await (const { dataIn } of requests) {
      if (stdin.destroyed) return;
      if (dataIn !== '' && !stdin.write(dataIn))
        await new Promise<void>((resolve) => stdin.once('drain', resolve).once('close', resolve));
    }
    stdin.end();
  } catch {
    // The caller has disconnected, which ends the program.
  }
}

async function collect(
  { stdout, stderr }: { readonly stdout: Readable; readonly stderr: Readable },
  output: PassThrough,
  over: AbortSignal,
): Promise<void> {
  const each = async (stream: Readable, field: 'dataOut' | 'dataErr'): Promise<void> => {
    stream.setEncoding('utf8');
    for await (const text of stream as AsyncIterable<string>)
      if (!output.write({ [field]: text })) await once(output, 'drain', { signal: over });
  };
  try {
    await Promise.all([each(stdout, 'dataOut'), each(stderr, 'dataErr')]);
    output.end();
  } catch {
    // The call is over.
    output.end();
  }
}
