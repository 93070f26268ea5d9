/**
 * Runs the real command line with its own home and directory, and checks that its output contains no secrets.
 *
 * Commands run in the process of the test, because a start takes half a second of processor time. A process of its own is for what only
 * a process shows: a reading command of each group (`every-command.test.ts`), signals, pipes, permissions of files.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { temporaryDirectory } from '@platform/testkit';
import { program } from '../../../tools/bundles/program.ts';
import { type InProcess, startInProcess } from './in-process.ts';

const main = program('platform');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const compileCache = join(tmpdir(), 'platform-command-line-cache');
/** The library that completes commands prints and exits by itself; `up` runs for weeks. */
const onlyAsProcess = ['complete', 'completion', 'up'];

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The result, which is JSON. */
  json<T = Record<string, unknown>>(): T;
}

export interface RunOptions {
  /** Standard input; default: empty. */
  readonly input?: string;
  /** Standard input stays open. */
  readonly keepOpen?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Below the command line's own directory. Runs in different directories must not overlap, except as processes. */
  readonly directory?: string;
  /** The result is a secret. */
  readonly reveals?: boolean;
  /** Runs as a process of its own. */
  readonly asProcess?: boolean;
  /** Input and output are a terminal of this size; not for a process of its own. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
}

export interface Running {
  readonly stdin: Writable;
  readonly ended: Promise<Ran>;
  /** All output so far. */
  readonly said: { stdout: string; stderr: string };
  /** The first match in one of its outputs. @throws if it ends without one */
  matching(output: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
}

export interface CommandLine extends AsyncDisposable {
  /** Its own working directory. */
  readonly directory: string;
  /** PLATFORM_HOME. */
  readonly home: string;
  /** Texts that no output may contain, unless they were requested. */
  readonly secrets: Set<string>;
  start(args: readonly string[], options?: RunOptions): Running;
  startProcess(args: readonly string[], options?: RunOptions): Running & { readonly child: ChildProcess };
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs a command that must succeed; on failure, reports its output. */
  ok(args: readonly string[], options?: RunOptions): Promise<Ran>;
}

/** @param env for every run, such as PLATFORM_URL. */
export async function openCommandLine(env: Readonly<Record<string, string>> = {}): Promise<CommandLine> {
  const temporary = await temporaryDirectory('command-line-');
  const home = join(temporary.path, 'home');
  const directory = join(temporary.path, 'work');
  mkdirSync(directory, { recursive: true });
  const secrets = new Set<string>();
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(PLATFORM_|EDITOR$|VISUAL$|VITEST|CI$)/.test(name),
  );
  const own = { ...Object.fromEntries(inherited), PLATFORM_HOME: home, NODE_COMPILE_CACHE: compileCache, ...env };
  const inProcess = new Set<InProcess>();

  const whereOf = (options: RunOptions) => ({
    env: { ...own, ...options.env },
    directory: join(directory, options.directory ?? '.'),
  });
  const startProcess: CommandLine['startProcess'] = (args, options = {}) => {
    const running = follow(args, options, secrets, (onOutput) => {
      const { env: runEnv, directory: cwd } = whereOf(options);
      const child = spawn(process.execPath, [...nodeFlags, main, ...args], { cwd, env: runEnv });
      for (const output of ['stdout', 'stderr'] as const)
        child[output].setEncoding('utf8').on('data', (text: string) => onOutput(output, text));
      const ended = new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      return { child, stdin: child.stdin, ended };
    });
    return { ...running, child: running.begun.child };
  };
  const start: CommandLine['start'] = (args, options = {}) => {
    if (options.asProcess === true || onlyAsProcess.includes(args[0] ?? '')) return startProcess(args, options);
    return follow(args, options, secrets, (onOutput) => {
      const started = startInProcess(args, { ...whereOf(options), onOutput, terminal: options.terminal });
      inProcess.add(started);
      const forget = (): void => void inProcess.delete(started);
      started.ended.then(forget, forget);
      return started;
    });
  };
  const run: CommandLine['run'] = (args, options) => start(args, options).ended;
  return {
    directory,
    home,
    secrets,
    start,
    startProcess,
    run,
    async ok(args, options) {
      const ran = await run(args, options);
      if (ran.code === 0) return ran;
      throw new Error(`platform ${args.join(' ')}: exit code ${ran.code}\n${ran.stdout}${ran.stderr}`);
    },
    async [Symbol.asyncDispose]() {
      for (const { stop } of inProcess) stop();
      await Promise.allSettled([...inProcess].map(({ ended }) => ended));
      await temporary[Symbol.asyncDispose]();
    },
  };
}

type OnOutput = (output: 'stdout' | 'stderr', text: string) => void;

/** Follows what `begin` starts until its exit code. */
function follow<T extends { readonly stdin: Writable; readonly ended: Promise<number | null> }>(
  args: readonly string[],
  options: RunOptions,
  secrets: ReadonlySet<string>,
  begin: (onOutput: OnOutput) => T,
): Running & { readonly begun: T } {
  const secretIn = (text: string): string | undefined => [...secrets].find((secret) => text.includes(secret));
  const command = `platform ${args.join(' ')}`;
  if (args.some((arg) => secretIn(arg) !== undefined)) throw new Error(`the arguments contain a secret: ${command}`);
  const said = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  let isClosed = false;
  const begun = begin((output, text) => {
    said[output] += text;
    for (const watch of watchers) watch();
  });
  begun.stdin.on('error', () => {});
  if (options.keepOpen !== true) begun.stdin.end(options.input ?? '');
  const closed = begun.ended.finally(() => {
    isClosed = true;
    for (const watch of watchers) watch();
  });
  const ended = closed.then((code): Ran => {
    const { stdout, stderr } = said;
    const secret = secretIn(options.reveals === true ? stderr : stdout + stderr);
    if (secret !== undefined) throw new Error(`${command} printed the secret ${secret}`);
    return { code, stdout, stderr, json: <J>() => JSON.parse(stdout) as J };
  });
  ended.catch(() => {});
  return {
    begun,
    stdin: begun.stdin,
    ended,
    said,
    matching: (output, pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = pattern.exec(said[output]);
          if (found === null && !isClosed) return;
          watchers.delete(watch);
          if (found !== null) resolve(found);
          else reject(new Error(`${command} ended without ${pattern}: ${said.stdout}${said.stderr}`));
        };
        watchers.add(watch);
        watch();
      }),
  };
}
