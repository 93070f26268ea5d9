/** The steps of the gate except tests: each is one command, run from the root. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestCount } from './closing-line.ts';
import { root } from './repository.ts';

export interface Step {
  readonly name: string;
  /** A program of node_modules/.bin, or a TypeScript file in tools/, with its arguments. */
  readonly command: readonly string[];
  /** Advice for a failure, if its output does not give any. */
  readonly remedy?: string;
}

const typed = ['apps', 'packages', 'tools', 'bench', 'conformance'];

/**
 * Every step, those that take longest first. @param changed paths relative to the root: only what they can affect is checked; undefined
 * checks everything.
 */
export function stepsOf(changed?: readonly string[]): Step[] {
  const touches = (pattern: RegExp): boolean => changed?.some((path) => pattern.test(path)) ?? true;
  const present = changed?.filter((path) => existsSync(join(root, path)));
  const formatted = present?.filter((path) => /\.(ts|js|json|svelte|css)$/.test(path)) ?? ['.'];
  const awaited = present?.filter((path) => /\.[tj]s$/.test(path) && typed.includes(path.split('/')[0] ?? '')) ?? typed;
  const steps: (Step | false)[] = [
    // Tests and tools take the types of packages from the declarations that the first project makes of them.
    // One checker: several check what they share again, each for itself, and another step runs beside it.
    { name: 'types', command: ['tsc', '-b', 'tsconfig.json', 'tsconfig.tests.json', '--checkers', '1'] },
    awaited.length > 0 && { name: 'promises', command: ['oxlint', '--type-aware', ...awaited] },
    touches(/^packages\/proto\/|^package(-lock)?\.json$|^tools\/generate-proto\.ts$/) && {
      name: 'generated files',
      command: ['tools/generate-proto.ts', '--check'],
    },
    touches(/^apps\/web\/|^packages\/(base|machine-config|proto)\/|^(package-lock|tsconfig\.base)\.json$/) && {
      name: 'types of the web UI',
      command: ['tools/check-web-ui.ts'],
    },
    formatted.length > 0 && {
      name: 'format and lint',
      command: ['biome', 'check', '--no-errors-on-unmatched', ...formatted],
      remedy: 'npm run fix fixes what is marked FIXABLE and what is not formatted',
    },
    changed === undefined && { name: 'unused code', command: ['knip', '--no-config-hints'] },
    { name: 'sources and documents', command: ['tools/check-sources.ts'] },
    { name: 'lockfile', command: ['tools/complete-lockfile.ts', '--check'] },
  ];
  return steps.filter((step) => step !== false);
}

/** Runs as many steps at once as there are processors. Prints each when it ends, with its whole output if it failed. */
export async function runSteps(steps: readonly Step[], atOnce: number = availableParallelism()): Promise<TestCount> {
  const waiting = steps.values();
  const count = { passed: 0, failed: 0 };
  const runInTurn = async (): Promise<void> => {
    for (const step of waiting) count[(await runStep(step)) ? 'passed' : 'failed']++;
  };
  await Promise.all(Array.from({ length: atOnce }, runInTurn));
  return count;
}

/** For programs in Go, such as the type checker: a third less processor time for little more memory. */
const rarelyCollecting = { GOGC: '400' };

async function runStep({ name, command: [program = '', ...args], remedy }: Step): Promise<boolean> {
  const started = performance.now();
  const bin = join(root, 'node_modules', '.bin');
  const [file, all] = program.endsWith('.ts')
    ? [process.execPath, [...process.execArgv, join(root, program), ...args]]
    : [join(bin, program), args];
  // The programs of node_modules/.bin start `node`, which must be the one that runs this process, not an older one.
  const env = { ...process.env, ...rarelyCollecting, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  const child = spawn(file, all, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, complained]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => complained.push(chunk));
  const ended = Promise.withResolvers<number | null>();
  child.on('close', ended.resolve).on('error', (error) => {
    complained.push(Buffer.from(`${error}\n`));
    ended.resolve(null);
  });
  const passed = (await ended.promise) === 0;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (!passed) console.log(`${Buffer.concat([...said, ...complained])}${remedy ?? ''}`);
  return passed;
}

/** Paths of files with uncommitted changes, deleted ones too, relative to the root. */
export function changedFiles(): string[] {
  const args = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];
  const lines = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  return lines.map((line) => line.slice(3)).filter((path) => path !== '');
}
