import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, ['--conditions=@platform/source', file, ...args], { cwd: root, encoding: 'utf8' });

test.each(['conformance/src/fault.ts', 'bench/src/main.ts', 'apps/cloud/src/tabular/testing/pushdown/main.ts'])(
  '%s answers --help and an unknown option with its usage, without a stack',
  (file) => {
    const help = run(file, '--help');
    expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: npm run .*--seed N/s), stderr: '' });
    const wrong = run(file, '--bogus');
    expect(wrong).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/Unknown option '--bogus'\n\nUsage: npm run/),
    });
    expect(wrong.stderr).not.toMatch(/^ +at /m);
  },
);
