/** A shell of a machine, over any connection to the machine. */
import type { JsonObject } from '@bufbuild/protobuf';
import { shell as shellType } from '@platform/resources/types';
import type { Machine } from './open-machine.ts';
import { createOutbox } from './outbox.ts';

export interface ShellOptions {
  /** The name of the machine's shell service. */
  readonly name: string;
  /** A command to run without a terminal; undefined: commands from the input. */
  readonly command?: string | undefined;
  /** The size of the window, in characters, for an interactive shell on a terminal; undefined: no terminal. */
  readonly terminal?: WindowSize | undefined;
  /** Ends the shell. */
  readonly signal?: AbortSignal;
}

export interface WindowSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ShellSession {
  /** What it writes; a terminal has all of it in `out`. A slow reader slows it down. @throws the error that ended it */
  readonly output: AsyncIterable<{ readonly out: string; readonly err: string }>;
  /** How it ended, after the end of `output`; undefined if the machine did not say. Never rejects. */
  readonly exitCode: Promise<number | undefined>;
  /** Resolves once it can take more. */
  write(text: string): Promise<void>;
  resize(size: WindowSize): void;
  /** Without a terminal: the end of the input. */
  end(): void;
}

/** Public machine-servers always use a terminal, and tell no exit code. */
export function openShell(
  machine: Pick<Machine, 'client'>,
  { name, command, terminal, signal }: ShellOptions,
): ShellSession {
  const { messages, send, end } = createOutbox<{ name?: string; dataIn?: string; extra?: JsonObject }>();
  const size = ({ columns, rows }: WindowSize): JsonObject => ({ message: 'window-change', cols: columns, rows });
  const asProgram = { message: 'run', ...(command !== undefined && { command }) };
  void send({ name, extra: terminal === undefined ? asProgram : size(terminal) });
  const exitCode = Promise.withResolvers<number | undefined>();
  const answers = machine.client(shellType.service).shell(messages, signal && { signal });
  async function* output(): AsyncGenerator<{ out: string; err: string }, void> {
    let code: number | undefined;
    try {
      for await (const { dataOut, dataErr, eof, exitCode: found } of answers) {
        if (dataOut !== '' || dataErr !== '') yield { out: dataOut, err: dataErr };
        if (!eof) continue;
        code = found;
        return;
      }
    } finally {
      end();
      exitCode.resolve(code);
    }
  }
  return {
    output: output(),
    exitCode: exitCode.promise,
    write: (text) => send({ dataIn: text }),
    resize: (to) => void send({ extra: size(to) }),
    end,
  };
}
