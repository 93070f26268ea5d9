import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';

const priorities = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { runForQueries } from '${new URL('./priority.ts', import.meta.url)}';
  runForQueries();
  console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))));
`;

test.runIf(existsSync('/proc/self/task'))('every thread gets the priority, also those that Node started before', () => {
  const args = [...process.execArgv, '--input-type=module', '--eval', priorities];
  const found: number[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(found.length).toBeGreaterThan(1);
  expect(new Set(found)).toEqual(new Set([Math.max(getPriority(), 10)]));
});
