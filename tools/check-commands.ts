/**
 * Checks that commands in documents and help run as printed: each `platform …` line parses with the real command line, and each npm script
 * and each file given to `node` exists. A command between backticks in text may be incomplete, but its subcommands and options must exist.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../apps/cli/src/create-program.ts';
import { withLoginDefault } from '../apps/cli/src/invocation/login-default.ts';
import { read, report, root, walk } from './repository.ts';

type Command = ReturnType<typeof createProgram>;

export interface PrintedCommand {
  readonly words: readonly string[];
  /** From 1. */
  readonly line: number;
  /** Printed as a complete command. */
  readonly isWhole: boolean;
  /** The command or group whose help contains it, which must be the one that it runs, or contain it. */
  readonly of?: string;
}

const ours = /^(platform|npm|node)$/;
/** Errors that are allowed in a mentioned command: values are missing or placeholders, as in `--port N`. */
const incomplete = /^commander\.(optionMissingArgument|invalidArgument|help)$/;

/** Our commands in fenced shell blocks and between backticks. */
export function commandsIn(markdown: string): PrintedCommand[] {
  let fence: string | undefined;
  return markdown.split('\n').flatMap((text, index): PrintedCommand[] => {
    const [, language] = /^```(\w*)/.exec(text) ?? [];
    if (language !== undefined) fence = fence === undefined ? language : undefined;
    if (language !== undefined || (fence !== undefined && fence !== 'sh')) return [];
    const line = index + 1;
    if (fence === 'sh') return commandsOfLine(text).map((words) => ({ words, line, isWhole: true }));
    return [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
      // An ellipsis stands for an omission, and a|b for one of several.
      const [printed = ''] = code.split('…');
      return commandsOfLine(printed.replaceAll(/\|[\w|]+/g, '')).map((words) => ({ words, line, isWhole: false }));
    });
  });
}

/** The words of each of our commands in a shell line, without assignments, comments and redirections. */
export function commandsOfLine(text: string): string[][] {
  const inner = [...text.matchAll(/[$<]\((platform [^)]*)\)/g)].flatMap(([, command = '']) => commandsOfLine(command));
  const commands: string[][] = [[]];
  let isTarget = false;
  const tokens = text
    .replaceAll(/[$<]\(platform [^)]*\)/g, 'X')
    .matchAll(/\s#.*|[|;&]+|[<>]+|(?:"[^"]*"|'[^']*'|[^\s"'|;&<>])+/g);
  for (const [token] of tokens) {
    if (token.trim().startsWith('#')) break;
    if (/^[|;&]/.test(token)) commands.push([]);
    else if (/^[<>]/.test(token)) isTarget = true;
    else if (isTarget) isTarget = false;
    else if (commands.at(-1)?.length !== 0 || !/^[A-Z_]+=/.test(token))
      commands.at(-1)?.push(token.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  return [...inner, ...commands].filter(([program = '']) => ours.test(program));
}

/** Checks commands against the command line, the scripts of package.json and the files of this repository. */
export function createChecker(scripts: ReadonlySet<string>): (command: PrintedCommand) => string | undefined {
  const ran: string[] = [];
  const printed = createParser(ran);
  const mentioned = createParser(ran);
  requireNothing(mentioned);
  const platform = (words: readonly string[], { isWhole, of }: PrintedCommand): string | undefined => {
    ran.length = 0;
    try {
      // Like run.ts: a bare --json takes no argument.
      const argv = words.map((word) => (word === '--json' && words[0] !== 'up' ? '--json=' : word));
      (isWhole ? printed : mentioned).parse(withLoginDefault(['', '', ...argv]));
    } catch (caught) {
      const { code, message } = caught as { code: string; message: string };
      return code === 'commander.helpDisplayed' || (!isWhole && incomplete.test(code)) ? undefined : message;
    }
    return of === undefined || `${ran[0]} `.startsWith(`${of} `) ? undefined : `runs ${ran[0]}`;
  };
  return (command) => {
    const [first = '', ...rest] = command.words;
    if (first === 'platform') return platform(rest, command);
    const [second = '', third = '', ...args] = rest;
    if (first === 'node') {
      if (second === 'tools/run.js' && !third.endsWith('.ts'))
        return platform([third, ...args].filter(Boolean), command);
      const file = second === 'tools/run.js' ? third : second;
      return existsSync(join(root, file)) ? undefined : `${file} does not exist`;
    }
    // `npm start -- …` is `platform up …`.
    if (second === 'start') return platform(['up', ...args], command);
    if (second !== 'run' && second !== 'test') return undefined;
    const script = second === 'run' ? third : second;
    return scripts.has(script) ? undefined : `package.json has no script "${script}"`;
  };
}

/** The command line with commands that only record that they ran, and with errors as exceptions. */
function createParser(ran: string[]): Command {
  const replace = (command: Command, path: string): void => {
    command.exitOverride().configureOutput({ writeOut() {}, writeErr() {}, outputError() {} });
    if (command.commands.length === 0) command.action(() => void ran.push(path));
    for (const one of command.commands) replace(one, `${path} ${one.name()}`);
  };
  const program = createProgram();
  replace(program, program.name());
  return program;
}

function requireNothing(command: Command): void {
  for (const option of command.options) option.mandatory = false;
  for (const argument of command.registeredArguments) argument.required = false;
  for (const one of command.commands) requireNothing(one);
}

/** The examples of every help page. */
function examplesOf(command: Command, path: string): { path: string; words: readonly string[] }[] {
  const help = command.createHelp().formatHelp(command, command.createHelp());
  const own = [...help.matchAll(/^ {2}\$ (.*)$/gm)].flatMap(([, text = '']) => commandsOfLine(text));
  const below = command.commands.flatMap((one) => examplesOf(one, `${path} ${one.name()}`));
  return [...own.map((words) => ({ path, words })), ...below];
}

export function main(): void {
  const examples = examplesOf(createProgram(), 'platform');
  const scripts = new Set(Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts));
  const check = createChecker(scripts);
  const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...walk(['docs'], (path) => path.endsWith('.md'))];
  const printed = documents.flatMap((document) =>
    commandsIn(read(document)).map((one) => ({ ...one, place: `${document}:${one.line}` })),
  );
  const shown = examples.map(({ path, words }) => ({
    words,
    line: 0,
    isWhole: true,
    of: path,
    place: `${path} --help`,
  }));
  const problems = [...printed, ...shown].flatMap((command) => {
    const problem = check(command);
    return problem === undefined ? [] : [`${command.place}: ${command.words.join(' ')}: ${problem}`];
  });
  if (printed.length < 100 || shown.length < 100)
    problems.push(`expected at least 100 commands each, found ${printed.length} and ${shown.length}`);
  report(
    'commands',
    problems,
    `${printed.length} commands in ${documents.length} documents, ${shown.length} examples in help`,
  );
}

if (import.meta.main) main();
