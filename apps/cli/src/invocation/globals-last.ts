/** Allows global options before the command: `platform --quiet machines list`. */

const withValue = new Set(['--profile', '--url', '--key-id', '--key-file', '--organization', '--timeout']);
const alone = new Set(['--quiet', '--yes', '--no-input', '--json']);

export const globalOptions: readonly string[] = [...withValue, ...alone];

/**
 * Moves global options from before the command to the end, before `--`, where each command accepts them.
 * @param argv as in process.argv: the first two elements stay first
 */
export function globalsLast(argv: readonly string[]): string[] {
  let at = 2;
  for (let next = argv[at]; next !== undefined; next = argv[at]) {
    const [name = ''] = next.split('=', 1);
    if (withValue.has(next) && argv[at + 1] !== undefined) at += 2;
    else if (alone.has(next) || (next.includes('=') && (withValue.has(name) || name === '--json'))) at += 1;
    else break;
  }
  // Without a command, the parser reports what is missing.
  if (at === 2 || at === argv.length) return [...argv];
  const rest = argv.slice(at);
  const end = rest.indexOf('--');
  const place = end === -1 ? rest.length : end;
  return [...argv.slice(0, 2), ...rest.slice(0, place), ...argv.slice(2, at), ...rest.slice(place)];
}
