import { readFileSync } from 'node:fs';
import { defaultRequestLimits, maxAnswerElements, openRequestLimits } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { requestLimits } from './request-limits.ts';

const serverBytes = 32 * 1024 * 1024;

/** As the page writes it: `4.5 MiB`, `20,000`, `∞`. */
const bytes = (count: number): string =>
  count >= 1024 * 1024 ? `${count / 1024 / 1024} MiB` : `${Math.round(count / 1024)} KiB`;
const number = (count: number): string => (Number.isFinite(count) ? count.toLocaleString('en') : '∞');

function row(name: string, given: Partial<typeof defaultRequestLimits>): string {
  const limits = { ...defaultRequestLimits, ...given };
  const maxBytes = limits.maxRequestBytes ?? serverBytes;
  const json = bytes(Math.min(maxBytes, limits.maxJsonBytes));
  return `| ${name} | ${bytes(maxBytes)} | ${number(limits.maxElements)} | ${json} | ${number(limits.maxMessages)} |`;
}

test('D48 docs/specs/request-limits.md lists the limits of every method', () => {
  const page = readFileSync(new URL('../../../docs/specs/request-limits.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('| method or service ');
  const [, , ...rows] = table.slice(0, table.indexOf('\n\n')).split('\n');

  expect(rows).toEqual([
    row('default', {}),
    row('without credentials: health, reflection, `Authenticate`', openRequestLimits),
    row('answers that a server reads: of machines, modules, the cloud', { maxElements: maxAnswerElements }).replace(
      '4.5 MiB',
      '–',
    ),
    ...Object.entries(requestLimits).map(([name, limits]) => row(`\`${name}\``, limits)),
  ]);
});
