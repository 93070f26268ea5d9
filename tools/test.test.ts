import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { root } from './repository.ts';

const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, ['--conditions=@platform/source', file, ...args], { cwd: root, encoding: 'utf8' });

test.each(['tools/test.ts', 'tools/check.ts'])(
  '%s answers --help with its usage, and an unknown option with that and exit code 2',
  (file) => {
    const help = run(file, '--help');
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toContain('  npm ');
    const wrong = run(file, '--bogus');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toContain("Unknown option '--bogus'");
    expect(wrong.stderr).toContain(help.stdout);
  },
);
