/** Turns a definition into a command: shared options, help with examples, JSON fields and exit codes, errors as exit codes. */
import { deadlineExceeded, invalidArgument, unavailable } from '@platform/base/refusals';
import { asPlatformError, isAnswer, PlatformError, systemClock } from '@platform/sdk/cloud';
import { Command, type OptionValues } from 'commander';
import { invocationOf } from '../settings.ts';
import { connectionTrouble } from './connection-trouble.ts';
import { type Context, createContext, demoSource, type GlobalFlags } from './context.ts';
import { exitCodeOf } from './exit-codes.ts';
import { type CommandHelp, examplesOf, setHelp } from './help.ts';
import { spanMs } from './parse-time.ts';
import { whyNoCloud } from './require-cloud.ts';
import { readRunningCloud } from './running-cloud.ts';

export type { CommandHelp } from './help.ts';

export type Flags = Readonly<OptionValues>;

export type Run = (context: Context, flags: Flags, ...args: (string | undefined)[]) => Promise<void>;

/** A command that talks to a cloud. @param run receives the arguments as strings, in order; missing optional ones as undefined */
export function defineCommand(command: Command, help: CommandHelp, run: Run): Command {
  command
    .optionsGroup('Global options:')
    .option(
      '--profile <name>',
      'login to use (default: the one bound to this directory, otherwise the default profile)',
    )
    .option('--url <url>', 'address of the cloud')
    .option('--key-id <id>', 'API key to use instead of the login; requires --key-file')
    .option(
      '--key-file <file>',
      'file that contains the API key, or JSON with its id and key, as "api-keys create --json" prints it; - reads standard input',
    )
    .option('--organization <name>', 'name or id of the organization (default: that of the login, or the only one)')
    .option('--timeout <span>', 'stop after this time, such as 10s or 2m');
  return defineLocalCommand(command, help, run);
}

/** A command that needs no login, and therefore has no options for cloud and credentials. */
export function defineLocalCommand(command: Command, help: CommandHelp, run: Run): Command {
  command
    .optionsGroup('Global options:')
    .option('--quiet', 'print only results and errors')
    .option('--yes', 'answer yes to all questions')
    .option('--no-input', 'never ask; fail instead');
  const json =
    help.fields === undefined
      ? 'print errors as JSON; the command has no other result'
      : 'print JSON, always if PLATFORM_OUTPUT=json is set; a list selects fields';
  command.option('--json [fields]', json);
  setHelp(command, help);
  return command.action(async () => {
    const flags = command.opts<GlobalFlags>();
    const invocation = invocationOf(command);
    const stop = new AbortController();
    const interrupt = (): void => stop.abort(new PlatformError('canceled', 'interrupted'));
    invocation.once('SIGINT', interrupt);
    invocation.once('SIGTERM', interrupt);
    await using context = createContext(flags, invocation, stop.signal);
    try {
      if (Array.isArray(context.out.style.json)) requireKnown(context.out.style.json, help.fields ?? []);
      if (flags.timeout !== undefined) endAfter(flags.timeout, stop);
      await run(context, command.opts(), ...command.processedArgs.map((arg) => arg as string | undefined));
    } catch (caught) {
      // Work in progress fails in many ways when the command is stopped; the reason for the stop is what matters.
      const error = stop.signal.aborted ? keptEdit(caught, stop.signal) : await withAdvice(caught, context);
      const { message } = error;
      if (context.out.style.json === false) context.out.warn(`${fullName(command)}: ${message}`);
      else context.out.warn(JSON.stringify({ error: { code: error.code, message } }));
      invocation.exitCode = exitCodeOf(error.code);
    } finally {
      stop.abort();
      invocation.off('SIGINT', interrupt);
      invocation.off('SIGTERM', interrupt);
    }
  });
}

/** Before anything is changed. Lists that help describes in words (`the columns of the rows`) depend on the data. */
function requireKnown(selected: readonly string[], known: readonly string[]): void {
  if (known.some((name) => name.includes(' '))) return;
  const unknown = selected.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const expected =
    known.length === 0 ? 'no list, because the command has no JSON result' : `some of ${known.join(', ')}`;
  throw invalidArgument(`--json: expected ${expected}; found "${unknown}"`);
}

const unreachableHint =
  'Is the cloud running, and is the address correct? "platform admin status" shows the address of a cloud on this computer, "platform profiles list" those of your logins; use --url for a different one';

/** Adds advice to errors that concern the connection. */
async function withAdvice(caught: unknown, { reached, login, settings }: Context): Promise<PlatformError> {
  const error = asPlatformError(caught);
  const other = reached === undefined ? undefined : await whyNoCloud(error, reached);
  if (other !== undefined) return other;
  const trouble =
    reached === undefined
      ? undefined
      : connectionTrouble({ error, url: reached.url, hasAuthority: reached.ca !== undefined });
  if (trouble !== undefined) return unavailable(trouble, error);
  if (error.code === 'permission_denied' && (await login().catch(() => undefined))?.source === demoSource) {
    const hint = `The command ran as the demo of this computer, which may only read; log in with: platform login --url ${reached?.url ?? 'URL'}`;
    return new PlatformError(error.code, `${error.message}. ${hint}`, error);
  }
  if (error.code !== 'unavailable' || isAnswer(error)) return error;
  const tried = reached === undefined || error.message.includes(reached.url) ? '' : `${reached.url}: `;
  const running = await readRunningCloud(settings.homeDir);
  const hint =
    running === undefined || running.url === reached?.url
      ? unreachableHint
      : `The cloud that runs on this computer is at ${running.url}; log in there with platform login --url ${running.url}`;
  return unavailable(`${tried}${error.message}. ${hint}`, error);
}

/** The reason for the stop, and where an edit or an export is kept, if any. */
function keptEdit(caught: unknown, { reason }: AbortSignal): PlatformError {
  const why = asPlatformError(reason);
  const kept = /\n(?:Your edit|What was exported) is kept in .*$/.exec(asPlatformError(caught).message)?.[0] ?? '';
  return new PlatformError(why.code, why.message + kept, caught);
}

function endAfter(text: string, stop: AbortController): void {
  const ms = spanMs(text, '--timeout');
  const why = `expected the command to finish within ${text} (--timeout), found it still running`;
  systemClock.sleep(ms, stop.signal).then(
    () => stop.abort(deadlineExceeded(why)),
    () => {},
  );
}

/** A command that only groups others. It shows one example of each of its first commands. */
export function group(name: string, summary: string, commands: readonly Command[]): Command {
  const made = new Command(name)
    .description(summary)
    .usage('<command> [options]')
    .helpCommand('help [command]', 'show the help for a command');
  for (const command of commands) made.addCommand(command);
  setHelp(made, { examples: commands.slice(0, 4).flatMap((command) => examplesOf(command).slice(0, 1)) });
  return made;
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
