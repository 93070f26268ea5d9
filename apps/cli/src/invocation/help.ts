/** The format of help: usage, description, examples, options, JSON fields, exit codes; at most 80 columns. */
import { type Argument, type Command, Help } from 'commander';
import { exitCodesHelp } from './exit-codes.ts';
import { printable } from './printable.ts';

export interface CommandHelp {
  /** Complete command lines, the most common first. */
  readonly examples: readonly string[];
  /** Names of the JSON fields; absent: the command has no JSON result. */
  readonly fields?: readonly string[];
  /** Environment variables: name, and meaning with default. */
  readonly environment?: Readonly<Record<string, string>>;
}

const width = 80;
const helpOf = new WeakMap<Command, CommandHelp>();

export function setHelp(command: Command, help: CommandHelp): void {
  helpOf.set(command, help);
}

/** Sets the format of help and errors for this command and all its subcommands. @param jsonErrors errors as JSON, like other failures */
export function configureHelp(command: Command, jsonErrors = false): void {
  command
    .helpOption('-h, --help', 'show this help')
    .configureHelp({
      helpWidth: width,
      formatHelp(of, helper) {
        return withExamples(Help.prototype.formatHelp.call(helper, of, helper), helpOf.get(of));
      },
      optionTerm: (option) => option.flags.replace(' [fields]', helpOf.get(command)?.fields ? '[=fields]' : ''),
      subcommandTerm: (of) => [of.name(), ...of.registeredArguments.map(argumentTerm)].join(' '),
    })
    .showHelpAfterError(jsonErrors ? false : '(see --help for usage)')
    .configureOutput({
      outputError: (text, write) => {
        const message = asTyped(text.trimEnd());
        const error = { code: 'invalid_argument', message: message.replace(/^error: /, '') };
        write(`${printable(jsonErrors ? JSON.stringify({ error }) : message)}\n`);
      },
    });
  for (const inner of command.commands) configureHelp(inner, jsonErrors);
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

/** Examples come after usage and description, before the options. */
function withExamples(text: string, help: CommandHelp | undefined): string {
  if (help === undefined) return text;
  const [usage = '', description = '', ...rest] = text.trimEnd().split('\n\n');
  const after = [exitCodesHelp];
  if (help.environment !== undefined) after.unshift(environmentText(help.environment));
  if (help.fields !== undefined) {
    after.unshift(wrapped(`JSON fields: ${help.fields.join(', ')}`));
    after.push('Setting PLATFORM_OUTPUT=json in the environment has the same effect as --json.');
  }
  const examples = `Examples:\n${help.examples.map((example) => `  $ ${example}`).join('\n')}`;
  return `${[usage, description, examples, ...rest, ...after].join('\n\n')}\n`;
}

function environmentText(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, meaning]) => wrapped(`${name} ${meaning}`, '  ', '    '));
  return ['Environment:', ...lines].join('\n');
}

/** @param first prefix of the first line. @param rest prefix of all other lines. */
function wrapped(text: string, first = '', rest = '  '): string {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    const isEmpty = line.trim() === '';
    if (!isEmpty && line.length + word.length >= width) lines.push(line);
    line = isEmpty ? line + word : line.length + word.length < width ? `${line} ${word}` : rest + word;
  }
  return [...lines, line].join('\n');
}
