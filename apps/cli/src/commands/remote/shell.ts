/** `platform machines part shell`: a shell on the computer of a machine, through the cloud. */
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { PlatformError } from '@platform/sdk/cloud';
import { openShell, type ShellSession, type WindowSize } from '@platform/sdk/machine';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import type { Invocation, OutputStream } from '../../settings.ts';
import { partArgument } from '../config/configuration.ts';
import { shellOf } from './only-resource.ts';

/** Ctrl-]: ends a shell that does not answer any more. */
const leave = '\u001d';

export function shellCommand(): Command {
  return defineCommand(
    new Command('shell')
      .description(
        'open a shell on the computer of a machine through the cloud, as the user of its machine-server; Ctrl-] leaves it. With a command, or without a terminal: run it with this input and output, and exit with its exit code. The machine needs a shell service; only owners may use it',
      )
      .argument(...partArgument)
      .argument('[command]', 'what to run there, in quotes (default: an interactive shell)')
      .option('--resource <name>', 'name of the shell service (default: the only one)'),
    {
      examples: [
        'platform machines part shell press-7',
        "platform machines part shell press-7 'uname -a; df -h'",
        'platform machines part shell press-7 < script.sh',
      ],
    },
    async ({ cloud, find, signal, invocation, progress, out }, flags, text = '', command) => {
      const { id } = await find.part(text);
      using machine = (await cloud()).machine(id, { session: false });
      const name = await shellOf(machine, flags['resource'], 'shell');
      const { stdin, stdout } = invocation;
      const isTerminal = command === undefined && stdin.isTTY === true && stdout.isTTY === true;
      const stop = new AbortController();
      const session = openShell(machine, {
        ...{ name, command },
        ...(isTerminal && { terminal: sizeOf(stdout) }),
        signal: AbortSignal.any([signal, stop.signal]),
      });
      if (isTerminal) out.note(`a shell on ${text}; Ctrl-] leaves it`);
      // Something else uses the terminal.
      progress.pause();
      try {
        using _typing = isTerminal
          ? typeOnTerminal(session, invocation, () => stop.abort(new PlatformError('canceled', 'left the shell')))
          : typeInput(session, invocation);
        for await (const { out: written, err } of session.output) {
          await write(invocation.stdout, written);
          await write(invocation.stderr, err);
        }
      } catch (caught) {
        throw stop.signal.aborted ? stop.signal.reason : caught;
      }
      invocation.exitCode = (await session.exitCode) ?? 0;
    },
  );
}

/** Some terminals say 0 by 0. */
function sizeOf({ columns, rows }: OutputStream): WindowSize {
  return { columns: columns || 80, rows: rows || 24 };
}

async function write(stream: OutputStream, text: string): Promise<void> {
  if (text !== '' && !stream.write(text)) await once(stream, 'drain');
}

/** Every key goes to the machine, Ctrl-C as well. Disposing gives the terminal back. */
function typeOnTerminal(session: ShellSession, { stdin, stdout }: Invocation, left: () => void): Disposable {
  const resize = (): void => session.resize(sizeOf(stdout));
  stdout.on('resize', resize);
  stdin.setRawMode?.(true);
  const input = typeInput(session, { stdin }, (text) => {
    if (text.includes(leave)) left();
  });
  return {
    [Symbol.dispose]() {
      input[Symbol.dispose]();
      stdin.setRawMode?.(false);
      stdout.off('resize', resize);
    },
  };
}

/** Reads only as fast as the machine takes it. Disposing stops reading. */
function typeInput(
  session: ShellSession,
  { stdin }: Pick<Invocation, 'stdin'>,
  onText: (text: string) => void = () => {},
): Disposable {
  const decoder = new StringDecoder();
  const take = (chunk: Buffer | string): void => {
    const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
    onText(text);
    if (text === '') return;
    stdin.pause();
    void session.write(text).then(() => {
      if (!isOver) stdin.resume();
    });
  };
  let isOver = false;
  const end = (): void => session.end();
  stdin.on('data', take).once('end', end).once('error', end).resume();
  return {
    [Symbol.dispose]() {
      isOver = true;
      stdin.off('data', take).off('end', end).pause();
    },
  };
}
