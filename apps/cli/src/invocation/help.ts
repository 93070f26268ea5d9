/** Formats help: usage, description, examples, arguments, options, JSON fields, global options, exit codes; at most 80 columns. */
import { asStarted } from '@platform/base/as-started';
import { printable } from '@platform/sdk/cloud';
import { type Argument, type Command, Help } from 'commander';
import { wrapped } from '../results/text-width.ts';
import { commandName, type Invocation } from '../settings.ts';
import { exitCodesHelp } from './exit-codes.ts';
import { globalOptions } from './globals-last.ts';
import { nearest } from './nearest.ts';

export interface CommandHelp {
  /** Complete command lines, the most common first. */
  readonly examples: readonly string[];
  /** Names of the JSON fields; absent: the command has no JSON result. */
  readonly fields?: readonly string[];
  /** Environment variables: name, and meaning with default. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A further section: its title, and entries that are broken into lines. */
  readonly section?: { readonly title: string; readonly entries: readonly string[] };
}

const width = 80;
const helpOf = new WeakMap<Command, CommandHelp>();

export function setHelp(command: Command, help: CommandHelp): void {
  helpOf.set(command, help);
}

/** Those that `setHelp` set. */
export function examplesOf(command: Command): readonly string[] {
  return helpOf.get(command)?.examples ?? [];
}

/** Sets the format of help and errors for this command and all its subcommands. @param jsonErrors errors as JSON, like other failures */
export function configureHelp(command: Command, jsonErrors: boolean, invocation: Invocation): void {
  const started = commandName(invocation.env);
  command
    .helpOption('-h, --help', 'show this help')
    .configureHelp({
      helpWidth: width,
      formatHelp(of, helper) {
        return withExamples(Help.prototype.formatHelp.call(helper, of, helper), helpOf.get(of), of, started);
      },
      commandUsage: (of) => `${pathOf(of)} ${of.usage()}`,
      optionTerm: (option) => option.flags.replace(' [fields]', helpOf.get(command)?.fields ? '[=fields]' : ''),
      subcommandTerm: (of) => [of.name(), ...of.registeredArguments.map(argumentTerm)].join(' '),
    })
    .showHelpAfterError(jsonErrors ? false : '(see --help for usage)')
    .configureOutput({
      writeOut: (text) => void invocation.stdout.write(text),
      writeErr: (text) => void invocation.stderr.write(text),
      outputError: (text, write) => {
        const message = withSuggestion(asTyped(text.trimEnd()));
        const error = { code: 'invalid_argument', message: message.replace(/^error: /, '') };
        write(`${printable(jsonErrors ? JSON.stringify({ error }) : message)}\n`);
      },
    });
  for (const inner of command.commands) configureHelp(inner, jsonErrors, invocation);
}

/** In angle brackets if it is required, otherwise in square brackets. */
function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** A bare `--json` reaches the parser as `--json=`; errors quote what was typed. */
function asTyped(text: string): string {
  return text.replaceAll("'--json='", "'--json'");
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The parser knows only the options of the command; global ones may precede it. */
function withSuggestion(text: string): string {
  const [, option = ''] = /^error: unknown option '(--[\w-]+)[^']*'$/.exec(text) ?? [];
  const [near] = option === '' ? [] : nearest(option, globalOptions);
  return near === undefined ? text : `${text}\n(Did you mean ${near}?)`;
}

/** Examples come after usage and description; the parts common to all commands come last. */
function withExamples(text: string, help: CommandHelp | undefined, of: Command, started: string): string {
  if (help === undefined) return text;
  const [usage = '', description = '', ...rest] = text.trimEnd().split('\n\n');
  // A group has no options except --help.
  const last = of.commands.length > 0 ? 'Options:' : 'Global options:';
  const isLast = (section: string): boolean => section.startsWith(last);
  const sections = [
    ...[
      usage,
      description,
      `Examples:\n${help.examples.map((example) => `  $ ${asStarted(example, started)}`).join('\n')}`,
    ],
    ...rest.filter((section) => !isLast(section)),
    ...(help.fields === undefined ? [] : [wrappedFields(help.fields)]),
    ...(help.environment === undefined ? [] : [environmentText(help.environment)]),
    ...(help.section === undefined ? [] : [sectionText(help.section)]),
    ...rest.filter(isLast),
    ...(of.commands.length > 0 ? [] : [exitCodesHelp]),
  ];
  return `${sections.join('\n\n')}\n`;
}

function wrappedFields(names: readonly string[]): string {
  return wrapped(`JSON fields: ${names.join(', ')}`, width - 2).join('\n  ');
}

function sectionText({ title, entries }: NonNullable<CommandHelp['section']>): string {
  const lines = entries.flatMap((entry) =>
    wrapped(entry, width - 6).map((line, at) => `  ${at === 0 ? '' : '    '}${line}`),
  );
  return [`${title}:`, ...lines].join('\n');
}

/** Names and their meanings in two columns. */
function environmentText(variables: Readonly<Record<string, string>>): string {
  const nameWidth = Math.max(...Object.keys(variables).map((name) => name.length)) + 2;
  const lines = Object.entries(variables).flatMap(([name, meaning]) =>
    wrapped(meaning, width - 2 - nameWidth).map((line, at) => `  ${(at === 0 ? name : '').padEnd(nameWidth)}${line}`),
  );
  return ['Environment:', ...lines].join('\n');
}
