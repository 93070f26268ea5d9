/** The machine-server as a process, started with one option, variable or attribute to observe its effect. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ResourceStatus, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { program } from '../../../../../tools/bundles/program.ts';
import { until } from '../start-test-server.ts';

const main = program('machine-server');
const nodeArgs = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

export interface Given {
  /** The whole configuration, or the part besides `cloud`. Default: one fake sensor. */
  readonly document?: object;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Omits `-config`. */
  readonly bare?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** A directory for one row, and the processes started in it. */
export class Machine implements AsyncDisposable {
  readonly home: string;
  readonly #stack = new AsyncDisposableStack();

  private constructor(home: string) {
    this.home = home;
    this.#stack.defer(() => rm(home, { recursive: true, force: true }));
  }

  static async create(): Promise<Machine> {
    return new Machine(await mkdtemp(join(tmpdir(), 'options-')));
  }

  /** A path below the home. */
  path(...names: string[]): string {
    return join(this.home, ...names);
  }

  /** Runs it until it ends by itself. */
  async end(given: Given): Promise<Ended> {
    const process = await this.launch(given);
    return process.ended;
  }

  /** Runs it until it reports that it is running: every resource was built or failed once. */
  async run(given: Given = {}): Promise<Run> {
    return this.#runUntil(given, /"msg":"running".*"port":(\d+)/);
  }

  /** Runs it until its port answers. */
  async serve(given: Given): Promise<Run> {
    return this.#runUntil(given, /"msg":"serving".*"address":"[^"]*:(\d+)"/);
  }

  /** Runs it with its log in files, one of which contains the port. @param file the log file */
  async runLogging(given: Given, file: string): Promise<Run> {
    const process = await this.launch(given);
    const text = (): Promise<string> => readFile(file, 'utf8').catch(() => '');
    await until('the log says that it runs', async () => / running /.test(await text()) || process.hasEnded());
    const port = Number(/ running .*port=(\d+)/.exec(await text())?.[1]);
    const run = new Run(port, process);
    this.#stack.defer(() => run.stop().then(() => {}));
    return run;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #runUntil(given: Given, line: RegExp): Promise<Run> {
    const process = await this.launch(given);
    await until(`a line with ${line}`, () => line.test(process.text()) || process.hasEnded());
    const port = line.exec(process.text())?.[1];
    if (port === undefined) throw new Error(`it ended instead of running: ${(await process.ended).error}`);
    const run = new Run(Number(port), process);
    this.#stack.defer(() => run.stop().then(() => {}));
    return run;
  }

  /** Starts it. */
  async launch({ document = oneSensor, args = [], env = {}, bare = false }: Given): Promise<Process> {
    const file = this.path('machine.json');
    await writeFile(file, JSON.stringify(document));
    const child = spawn(process.execPath, [...nodeArgs, main, ...(bare ? [] : ['-config', file]), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...{ ...process.env, PLATFORM_HOME: this.home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
        ...env,
      },
    });
    let [out, error, code] = ['', '', undefined as number | null | undefined];
    createInterface({ input: child.stdout }).on('line', (line) => {
      out += `${line}\n`;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text;
    });
    const ended = once(child, 'close').then(([found]: (number | null)[]): Ended => {
      code = found ?? null;
      return { code, out, error };
    });
    this.#stack.defer(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return {
      pid: child.pid ?? 0,
      text: () => out,
      error: () => error,
      hasEnded: () => code !== undefined,
      ended,
      signal: () => child.kill('SIGTERM'),
    };
  }
}

export interface Process {
  readonly pid: number;
  /** Standard output so far. */
  readonly text: () => string;
  /** Standard error so far. */
  readonly error: () => string;
  readonly hasEnded: () => boolean;
  readonly ended: Promise<Ended>;
  readonly signal: () => void;
}

/** A running server. */
export class Run {
  readonly url: string;
  readonly port: number;
  readonly #process: Process;
  #link: Link | undefined;

  constructor(port: number, process: Process) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#process = process;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Standard output so far. */
  get out(): string {
    return this.#process.text();
  }

  get link(): Link {
    this.#link ??= connect({ baseUrl: this.url });
    return this.#link;
  }

  /** Writes a line into its log, as a client does. */
  async log(level: string, message: string, times = 1): Promise<void> {
    const line = { level, loggerName: 'probe', message };
    await this.link.client(RobotService).log({ logs: Array.from({ length: times }, () => line) });
  }

  /** How many lines of its output contain this. */
  count(text: string): number {
    return this.out.split('\n').filter((line) => line.includes(text)).length;
  }

  async says(text: string | RegExp): Promise<void> {
    const found = (): boolean => (typeof text === 'string' ? this.out.includes(text) : text.test(this.out));
    await until(`a line with ${String(text)}`, found);
  }

  /** The errors of its resources, by name; empty for those that run. */
  async errors(): Promise<Record<string, string>> {
    const resources = await this.resources();
    return Object.fromEntries(resources.map(({ name, error }) => [name?.name ?? '', error]));
  }

  async resources(): Promise<readonly ResourceStatus[]> {
    return (await this.link.client(RobotService).getMachineStatus({})).resources;
  }

  async get(path: string): Promise<{ status: number; body: string }> {
    const response = await fetch(`${this.url}${path}`);
    return { status: response.status, body: await response.text() };
  }

  async stop(): Promise<Ended> {
    await this.#link?.[Symbol.asyncDispose]();
    this.#link = undefined;
    this.#process.signal();
    return this.#process.ended;
  }
}

export const oneSensor: object = {
  components: [
    { name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake', attributes: { readings: { t: 21.5 } } },
  ],
};
