/** Makes a command of the command line: the options that all share, help with examples, JSON fields and exit codes, errors as exit codes. */
import { asPlatformError } from '@platform/sdk/cloud';
import { Command, type OptionValues } from 'commander';
import { colours, fromEnvironment } from '../settings.ts';
import { type Context, createContext, type GlobalFlags } from './context.ts';
import { exitCodeOf, exitCodesHelp } from './exit-codes.ts';

export interface LeafHelp {
  /** Whole command lines, the most common first. */
  readonly examples: readonly string[];
  /** Names of the fields with --json; absent: the command has no JSON. */
  readonly fields?: readonly string[];
}

export type Flags = Readonly<OptionValues>;

/** @param run gets the arguments as text, in order; optional ones that are missing as undefined. */
export function leaf(
  command: Command,
  help: LeafHelp,
  run: (context: Context, flags: Flags, ...args: (string | undefined)[]) => Promise<void>,
): Command {
  command
    .optionsGroup('Global options:')
    .option('--profile <name>', 'login to use (default: the one bound to this directory, else the default one)')
    .option('--url <url>', 'address of the cloud')
    .option('--key-id <id>', 'API key to use instead of the login, with --key-file')
    .option('--key-file <file>', 'file with the API key, or JSON with keyId and key; - reads standard input')
    .option('--organization <name>', 'organization, by name or id (default: that of the login, or the only one)')
    .option('--quiet', 'no messages for people, only results and errors')
    .option('--yes', 'go ahead without asking')
    .option('--no-input', 'never ask');
  if (help.fields !== undefined) command.option('--json [fields]', 'JSON on standard output; a list picks fields');
  command.addHelpText('after', () => helpAfter(help));
  return command.action(async () => {
    const flags = command.opts<GlobalFlags>();
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    process.once('SIGINT', interrupt);
    await using context = createContext(flags, colours, stop.signal);
    try {
      await run(context, command.opts(), ...command.processedArgs.map((arg) => arg as string | undefined));
    } catch (caught) {
      const error = asPlatformError(caught);
      const code = stop.signal.aborted ? 'canceled' : error.code;
      if (context.out.style.json === false) context.out.warn(`${fullName(command)}: ${error.message}`);
      else process.stderr.write(`${JSON.stringify({ error: { code, message: error.message } })}\n`);
      process.exitCode = exitCodeOf(code);
    } finally {
      process.off('SIGINT', interrupt);
    }
  });
}

/** A command that only holds others. */
export function group(name: string, summary: string, commands: readonly Command[]): Command {
  const made = new Command(name).description(summary);
  for (const command of commands) made.addCommand(command);
  return made;
}

function helpAfter({ examples, fields }: LeafHelp): string {
  const shown = [`\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`];
  if (fields !== undefined) shown.push(`JSON fields: ${fields.join(', ')}`);
  shown.push(exitCodesHelp);
  if (fromEnvironment.output === '' && fields !== undefined) shown.push('PLATFORM_OUTPUT=json makes JSON the default.');
  return shown.join('\n\n');
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
