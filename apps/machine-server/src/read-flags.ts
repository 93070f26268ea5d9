/** The options of the command line: their names, kinds and parsing (D16). */
import { invalidArgument, type PlatformError } from '@platform/base';
import { closestName } from './closest-name.ts';

/** `on`: a flag that is set unless it is given as `-name=false`. */
type Kind = 'flag' | 'on' | 'text';

export const flags: Readonly<Record<string, Kind>> = {
  'allow-insecure-creds': 'flag',
  config: 'text',
  cpuprofile: 'text',
  debug: 'flag',
  'disable-mdns': 'flag',
  'dump-resources': 'text',
  ftdc: 'on',
  'log-file': 'text',
  'network-check': 'flag',
  'no-tls': 'flag',
  'output-telemetry': 'flag',
  'reveal-sensitive-config-diffs': 'flag',
  shareddir: 'text',
  'untrusted-env': 'flag',
  version: 'flag',
  webprofile: 'flag',
  webrtc: 'on',
};

export interface Flags {
  /** Whether a flag is set. */
  on(name: string): boolean;
  text(name: string): string | undefined;
}

/** One dash or two; the value after a space or an equals sign. @throws PlatformError invalid_argument with the option */
export function readFlags(args: readonly string[]): Flags {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const [, name = '', , value] = /^--?([a-z-]+)(=(.*))?$/s.exec(arg) ?? [];
    const kind = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (kind === undefined) throw unknown(arg, args[i - 1]);
    if (kind === 'text') {
      const text = value ?? args[++i];
      if (text === undefined || text === '') throw invalidArgument(`option -${name}: expected a value, found none`);
      given.set(name, text);
      continue;
    }
    if (value !== undefined && value !== 'true' && value !== 'false')
      throw invalidArgument(`option -${name}: expected true or false, found "${value}"`);
    given.set(name, value ?? 'true');
  }
  return {
    on: (name) => (given.get(name) ?? String(flags[name] === 'on')) === 'true',
    text: (name) => given.get(name),
  };
}

function unknown(arg: string, before: string | undefined): PlatformError {
  const help = '-help says what the options do';
  const names = Object.keys(flags);
  if (!arg.startsWith('-')) {
    // `-debug false` is a common mistake: the value of a flag needs an equals sign.
    const flag = before?.replace(/^--?/, '') ?? '';
    const isValue = /^(true|false)$/.test(arg) && Object.hasOwn(flags, flag);
    const hint = isValue ? `write -${flag}=${arg}` : help;
    return invalidArgument(`expected an option, found "${arg}"; ${hint}`);
  }
  const name = arg.replace(/^--?/, '').replace(/=.*$/s, '');
  const closest = closestName(name, names);
  const hint =
    closest === undefined ? `known: ${names.map((each) => `-${each}`).join(' ')}.` : `did you mean -${closest}?`;
  return invalidArgument(`unknown option "${arg}"; ${hint} ${help}`);
}
