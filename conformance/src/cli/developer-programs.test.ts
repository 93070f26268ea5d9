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

test.each([
  ['link', ''],
  ['memory', ''],
  ['link', '7'],
])(
  'npm run fault -- %s runs for 600 s if it is link, for 300 s if it is memory, unless --seconds says another time: %s',
  (kind, asked) => {
    // The process that would run the tests tells what it was given, and ends.
    const told = `if (process.argv[1].endsWith('vitest.mjs')) {
    console.error('given', process.env.${kind === 'link' ? 'FAULT_LINK_SECONDS' : 'FAULT_SECONDS'});
    process.exit(0);
  }`;
    const args = [kind, ...(asked === '' ? [] : ['--seconds', asked])];
    const { stderr } = spawnSync(
      process.execPath,
      ['--conditions=@platform/source', 'conformance/src/fault.ts', ...args],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(told)}` },
      },
    );
    const usual = kind === 'link' ? '600' : '300';
    expect(stderr).toContain(`given ${asked === '' ? usual : asked}\n`);
  },
);
