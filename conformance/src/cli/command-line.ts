/** Runs the real command line as a process with its own home and directory, and checks that its output contains no secrets. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { program } from '../../../tools/bundles/program.ts';

const main = program('platform');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const compileCache = join(tmpdir(), 'platform-command-line-cache');

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
  /** Below the command line's own directory. */
  readonly directory?: string;
  /** The result is a secret. */
  readonly reveals?: boolean;
}

export interface Running {
  readonly child: ChildProcess;
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

  const start = (args: readonly string[], options: RunOptions = {}): Running => {
    const leak = args.find((arg) => [...secrets].some((secret) => arg.includes(secret)));
    if (leak !== undefined) throw new Error(`the arguments contain a secret: ${args.join(' ')}`);
    const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
      cwd: join(directory, options.directory ?? '.'),
      env: { ...own, ...options.env },
    });
    child.stdin.on('error', () => {});
    if (options.keepOpen !== true) child.stdin.end(options.input ?? '');
    const said = { stdout: '', stderr: '' };
    const watchers = new Set<() => void>();
    let isClosed = false;
    for (const output of ['stdout', 'stderr'] as const) {
      child[output].setEncoding('utf8').on('data', (text: string) => {
        said[output] += text;
        for (const watch of watchers) watch();
      });
    }
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        isClosed = true;
        for (const watch of watchers) watch();
        const { stdout, stderr } = said;
        const told = options.reveals === true ? stderr : stdout + stderr;
        const secret = [...secrets].find((one) => told.includes(one));
        if (secret === undefined) resolve({ code, stdout, stderr, json: <T>() => JSON.parse(stdout) as T });
        else reject(new Error(`platform ${args.join(' ')} printed the secret ${secret}`));
      });
    });
    ended.catch(() => {});
    return {
      child,
      ended,
      said,
      matching: (output, pattern) =>
        new Promise((resolve, reject) => {
          const watch = (): void => {
            const found = pattern.exec(said[output]);
            if (found === null && !isClosed) return;
            watchers.delete(watch);
            if (found !== null) resolve(found);
            else reject(new Error(`platform ${args.join(' ')} ended without ${pattern}: ${said.stdout}${said.stderr}`));
          };
          watchers.add(watch);
          watch();
        }),
    };
  };
  const run = (args: readonly string[], options?: RunOptions): Promise<Ran> => start(args, options).ended;
  return {
    directory,
    home,
    secrets,
    start,
    run,
    async ok(args, options) {
      const ran = await run(args, options);
      if (ran.code === 0) return ran;
      throw new Error(`platform ${args.join(' ')}: exit code ${ran.code}\n${ran.stdout}${ran.stderr}`);
    },
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}
