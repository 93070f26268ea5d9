/** Remotes that a machine cannot use: without a name or an address, or with the name of another one. */
import type { Problem } from '@platform/base';
import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';

/** `:` and `/` divide names of resources. */
const validName = /^[^:/\p{Cc}]{1,200}$/u;

/** Values of another type are reported with their fields. */
export function remoteProblems(remotes: readonly unknown[], problems: Problem[]): void {
  const seen = new Set<string>();
  for (const [index, remote] of remotes.entries()) {
    if (!isObject(remote)) continue;
    const { name, address } = remote;
    const error = (key: string, message: string): void =>
      void problems.push({ path: `remotes[${index}]${key}`, level: 'error', message });
    if (name === undefined) error('', 'expected a name, found none; add "name"');
    if (typeof name === 'string') {
      if (!validName.test(name))
        error('.name', `expected a name of 1 to 200 characters without ":" and "/", found ${formatValue(name)}`);
      else if (seen.has(name)) error('.name', `expected each name once, found ${formatValue(name)} again`);
      seen.add(name);
    }
    if (address === undefined || address === '')
      error(
        address === '' ? '.address' : '',
        'expected the full name of a machine or host:port, found none; add "address"',
      );
  }
}
