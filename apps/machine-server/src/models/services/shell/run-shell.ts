/** One interactive shell on its own terminal. */
import type { Clock } from '@platform/base';
import type { ShellRequest } from '@platform/proto/platform/service/shell/v1/shell';
import type { Kernel } from '../../../hardware/kernel.ts';
import { startProgram } from '../../../hardware/start-program.ts';
import { openTerminal, type Terminal } from '../../../hardware/terminal.ts';

export interface RunShellOptions {
  readonly shell: string;
  /** The typed text; `extra` `{"message": "window-change", "cols": 80, "rows": 24}` sets the size of the window. */
  readonly requests: AsyncIterable<ShellRequest>;
  readonly kernel: () => Promise<Kernel>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface Output {
  readonly dataOut?: string;
  readonly eof?: boolean;
}

/**
 * The program opens its terminal itself, as the leader of a new session, so that this becomes its controlling terminal (Ctrl-C, SIGHUP).
 */
const onTerminal = 'exec "$0" -i <>"$1" >&0 2>&0';
const mostColumns = 10_000;

/** The shell's output, as it is read: a slow reader slows the shell down. */
export async function* runShell({
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
    await using _program = await startProgram({
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
    yield { eof: true };
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
      if (extra?.['message'] === 'window-change') resize(sizeOf(extra['cols']), sizeOf(extra['rows']));
      if (dataIn !== '' && !stream.write(dataIn))
        await new Promise<void>((resolve) => stream.once('drain', resolve).once('close', resolve));
    }
  } catch {
    // The caller has disconnected.
    stream.destroy();
  }
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
