/** The steps of the gate except tests: each is one command, run from the root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from './repository.ts';

export interface Step {
  readonly name: string;
  /** A program of node_modules/.bin, or a TypeScript file in tools/, with its arguments. */
  readonly command: readonly string[];
  /** Advice for a failure, if its output does not give any. */
  readonly remedy?: string;
}

/** Every step; with `changed`, steps check only changed files where they can. */
export function stepsOf(changed: boolean): Step[] {
  const files = changed ? changedFiles() : [];
  const format = changed && files.length > 0 ? files : ['.'];
  return [
    {
      name: 'format and lint',
      command: ['biome', 'check', '--no-errors-on-unmatched', ...format],
      remedy: 'npm run fix fixes what is marked FIXABLE and what is not formatted',
    },
    { name: 'types', command: ['tsc', '-b'] },
    { name: 'types of tests and tools', command: ['tsc', '-p', 'tsconfig.tests.json'] },
    { name: 'types of the web UI', command: ['tools/check-web-ui.ts'] },
    { name: 'promises', command: ['oxlint', '--type-aware', 'apps', 'packages', 'tools', 'bench', 'conformance'] },
    { name: 'layers', command: ['tools/check-layers.ts'] },
    { name: 'cycles', command: ['tools/check-cycles.ts'] },
    { name: 'tables', command: ['tools/check-tables.ts'] },
    { name: 'side effects', command: ['tools/check-side-effects.ts'] },
    { name: 'invariants', command: ['tools/check-invariants.ts'] },
    { name: 'references', command: ['tools/check-references.ts'] },
    { name: 'commands', command: ['tools/check-commands.ts'] },
    { name: 'generated files', command: ['tools/generate-proto.ts', '--check'] },
    { name: 'lockfile', command: ['tools/complete-lockfile.ts', '--check'] },
    ...(changed ? [] : [{ name: 'unused code', command: ['knip', '--no-config-hints'] }]),
  ];
}

/** Runs one step; its output is shown only on failure. */
export function runStep({ name, command: [program = '', ...args], remedy }: Step): boolean {
  const started = performance.now();
  const bin = join(root, 'node_modules', '.bin');
  const [file, all] = program.endsWith('.ts')
    ? [process.execPath, [...process.execArgv, join(root, program), ...args]]
    : [join(bin, program), args];
  // The programs of node_modules/.bin start `node`, which must be the one that runs this process, not an older one.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  const result = spawnSync(file, all, { cwd: root, encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const passed = result.status === 0;
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (!passed) console.log(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}${remedy ?? ''}`);
  return passed;
}

function changedFiles(): string[] {
  const lines = execFileSync('git', ['status', '--porcelain', '-z', '--untracked-files=all'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\0');
  return lines
    .map((line) => line.slice(3))
    .filter((path) => /\.(ts|js|json|svelte|css)$/.test(path) && existsSync(join(root, path)));
}
