/** The command line of the developers' programs: faults and benches. Each kind of run has its own options; a mistake shows the usage. */
import { parseArgs } from 'node:util';

export interface CommandOption {
  readonly help: string;
  /** `number` is a whole number from 0; `numbers` a list of positive numbers, separated by commas. */
  readonly value: 'number' | 'numbers' | 'text' | 'switch';
  readonly default?: string;
}

export interface Kind {
  readonly help: string;
  /** Names of its options. */
  readonly options: readonly string[];
  /** What its option `--only` selects, as a list with commas. */
  readonly parts?: readonly string[];
}

export interface CommandLine {
  /** The command, such as `npm run fault --`. */
  readonly program: string;
  /** Empty: the program has no kinds, and takes all options. */
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly options: Readonly<Record<string, CommandOption>>;
}

export type CommandRequest =
  | { readonly kinds: readonly string[]; readonly values: Readonly<Record<string, string>> }
  | { readonly help: string }
  | { readonly mistake: string };

/** Parses the arguments: kinds (`all` means each of them) with the values of their options, help, or a mistake with the usage. */
export function readCommandLine(line: CommandLine, args: readonly string[]): CommandRequest {
  const shown = (mistake: string): CommandRequest => ({ mistake: `${mistake}\n\n${usageOf(line)}` });
  const asHelp = args.some((arg) => arg === '--help' || arg === '-h');
  const known = Object.keys(line.kinds);
  let parsed: { values: Record<string, string | boolean | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: args.filter((arg) => arg !== '--help' && arg !== '-h'),
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(line.options).map(([name, { value }]) => [
          name,
          { type: value === 'switch' ? ('boolean' as const) : ('string' as const) },
        ]),
      ),
    });
  } catch (caught) {
    if (asHelp) return { help: usageOf(line) };
    // The first sentence says what is wrong; the others say how to pass such a text.
    return shown(String(caught instanceof Error ? caught.message : caught).replace(/\. .*$/s, ''));
  }
  const asked = parsed.positionals;
  if (asHelp)
    return {
      help: usageOf(
        line,
        known.filter((name) => asked.includes(name)),
      ),
    };
  const expected = known.length === 0 ? 'only options' : `some of all, ${known.join(', ')}`;
  const unknown = asked.filter((name) => known.length === 0 || (name !== 'all' && !known.includes(name)));
  if (unknown.length > 0) return shown(`expected ${expected}; found ${unknown.join(', ')}`);
  if (known.length > 0 && asked.length === 0) return shown(`expected ${expected}; found none`);
  const kinds = asked.includes('all') ? known : [...new Set(asked)];
  const values: Record<string, string> = {};
  for (const [name, option] of Object.entries(line.options)) {
    const given = parsed.values[name];
    if (given !== undefined && !optionsOf(line, kinds).includes(name))
      return shown(`--${name} has no effect on ${kinds.join(', ')}`);
    const value = given === undefined ? option.default : String(given);
    if (value === undefined) continue;
    const mistake = mistakeIn(option, value);
    if (mistake !== undefined) return shown(`--${name}: expected ${mistake}, found ${JSON.stringify(value)}`);
    values[name] = value;
  }
  for (const name of kinds) {
    const { parts } = line.kinds[name] as Kind;
    const other = (values['only'] || undefined)?.split(',').filter((part) => parts?.includes(part) === false) ?? [];
    if (other.length > 0)
      return shown(`--only of ${name}: expected some of ${parts?.join(',')}, found ${other.join(',')}`);
  }
  return { kinds, values };
}

/** Reads the arguments of this process; after printing help or a mistake, exits (code 0 or 2). */
export function commandLineOf(line: CommandLine): Extract<CommandRequest, { kinds: unknown }> {
  const request = readCommandLine(line, process.argv.slice(2));
  if ('kinds' in request) return request;
  if ('help' in request) console.log(request.help);
  else console.error(request.mistake);
  process.exit('help' in request ? 0 : 2);
}

function optionsOf(line: CommandLine, kinds: readonly string[]): string[] {
  if (Object.keys(line.kinds).length === 0) return Object.keys(line.options);
  const names = new Set([...kinds.flatMap((name) => line.kinds[name]?.options ?? [])]);
  return Object.keys(line.options).filter((name) => names.has(name));
}

/** The usage of some kinds, or of all if none is named. */
function usageOf(line: CommandLine, some: readonly string[] = []): string {
  const kinds = some.length > 0 ? some : Object.keys(line.kinds);
  const lines = [`Usage: ${line.program} ${kinds.length > 0 ? 'KIND… ' : ''}[OPTION…]`];
  if (kinds.length > 0) lines.push('');
  if (some.length === 0 && kinds.length > 0) lines.push('Kinds (all: each of them):');
  for (const name of kinds) {
    const { help, options, parts } = line.kinds[name] as Kind;
    lines.push(`  ${name.padEnd(12)} ${help}`);
    if (options.length > 0) lines.push(`${' '.repeat(15)}options: ${options.map((each) => `--${each}`).join(', ')}`);
    if (parts !== undefined) lines.push(`${' '.repeat(15)}--only some of ${parts.join(',')}`);
  }
  lines.push('', 'Options:');
  for (const name of optionsOf(line, kinds)) {
    const { value, help, default: byDefault } = line.options[name] as CommandOption;
    const form = { number: ' N', numbers: ' N,N…', text: ' TEXT', switch: '' }[value];
    lines.push(
      `  ${`--${name}${form}`.padEnd(18)} ${help}${(byDefault ?? '') === '' ? '' : ` (default: ${byDefault})`}`,
    );
  }
  return lines.join('\n');
}

function mistakeIn({ value: kind }: CommandOption, value: string): string | undefined {
  if (kind === 'number' && !/^\d{1,15}$/.test(value)) return 'a whole number';
  const isNumbers = value.split(',').every((each) => /^\d+(\.\d+)?$/.test(each) && Number(each) > 0);
  if (kind === 'numbers' && !isNumbers) return 'positive numbers, separated by commas';
  return undefined;
}
