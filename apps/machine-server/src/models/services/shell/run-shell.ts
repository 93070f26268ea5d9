/** One interactive shell on its own terminal, or one program without a terminal: see run-program.ts. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import type { ShellRequest } from '@platform/proto/platform/service/shell/v1/shell';
import type { Kernel } from '../../../hardware/kernel.ts';
import { startProgram } from '../../../hardware/start-program.ts';
import { openTerminal, type Terminal } from '../../../hardware/terminal.ts';
import { type Output, runProgram } from './run-program.ts';

export interface RunShellOptions {
  readonly shell: string;
  /**
   * The typed text. `extra` `{"message": "window-change", "cols": 80, "rows": 24}`, also in a list `messages`, as the public command line
   * sends it at the start, sets the size of the window; `{"message": "run"}` in the first one asks for no terminal, and `"command"` beside it
   * for that command instead of commands from the input.
   */
  readonly requests: AsyncIterable<ShellRequest>;
  readonly kernel: () => Promise<Kernel>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The program opens its terminal itself, as the leader of a new session, so that this becomes its controlling terminal (Ctrl-C, SIGHUP).
 */
const onTerminal = 'exec "$0" -i <>"$1" >&0 2>&0';
const mostColumns = 10_000;

/** How long a shell that has closed its terminal may take to end. */
const endingMs = 2_000;

/** The shell's output, as it is read: a slow reader slows the shell down. */
export async function* runShell(options: RunShellOptions): AsyncGenerator<Output, void> {
  const messages = options.requests[Symbol.asyncIterator]();
  const first = await messages.next();
  const requests = resumed(first, messages);
  const extra = first.done === true ? undefined : first.value.extra;
  if (extra?.['message'] !== 'run') return yield* onOwnTerminal({ ...options, requests });
  const { shell, clock, signal } = options;
  const command = extra['command'];
  yield* runProgram({ shell, command: typeof command === 'string' ? command : undefined, requests, clock, signal });
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T, void> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}

async function* onOwnTerminal({
  shell,
  requests,
  kernel,
  clock,
  signal,
}: RunShellOptions): AsyncGenerator<Output, void> {
  const terminal = await openTerminal(await kernel());
  const { stream, path } = terminal;
  const end = (): void => void stream.destroy();
  try {
    terminal.resize(80, 24);
    await using program = await startProgram({
      command: 'env',
      args: ['TERM=xterm-256color', 'sh', '-c', onTerminal, shell, path],
      onOutput: () => {},
      onErrorLine: () => {},
      clock,
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    void type(requests, terminal);
    stream.setEncoding('utf8');
    try {
      for await (const dataOut of stream as AsyncIterable<string>) yield { dataOut };
    } catch (caught) {
      // Reading the terminal fails after the shell has closed it.
      if (signal.aborted) throw signal.reason;
      if (!isEnd(caught)) throw caught;
    }
    const late = Promise.withResolvers<undefined>();
    using _limit = clock.after(endingMs, () => late.resolve(undefined));
    const ending = await Promise.race([program.ended, late.promise]);
    yield { eof: true, ...(ending && { exitCode: ending.exitCode }) };
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Runs until the caller stops typing, or the terminal ends. Never rejects: the output shows why a call ended. */
async function type(requests: AsyncIterable<ShellRequest>, { stream, resize }: Terminal): Promise<void> {
  try {
    for await (const { dataIn, extra } of requests) {
      if (stream.destroyed) return;
      for (const { message, cols, rows } of messagesIn(extra))
        if (message === 'window-change') resize(sizeOf(cols), sizeOf(rows));
      if (dataIn !== '' && !stream.write(dataIn))
        await new Promise<void>((resolve) => stream.once('drain', resolve).once('close', resolve));
    }
  } catch {
    // The caller has disconnected.
    stream.destroy();
  }
}

function messagesIn(extra: JsonObject | undefined): readonly JsonObject[] {
  const listed = extra?.['messages'];
  const all: readonly (JsonValue | undefined)[] = [extra, ...(Array.isArray(listed) ? listed : [])];
  return all.filter((one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one));
}

function sizeOf(value: unknown): number {
  return typeof value === 'number' && value >= 1 ? Math.min(mostColumns, Math.floor(value)) : 1;
}

function isEnd(caught: unknown): boolean {
  return (
    caught instanceof Error &&
    'code' in caught &&
    (caught.code === 'EIO' || caught.code === 'ERR_STREAM_PREMATURE_CLOSE')
  );
}
