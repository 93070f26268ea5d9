/**
 * `platform up`: starts the cloud, then the machine-server, shows what flows, and stops them in reverse.
 *
 * States: starting (until the cloud is ready) → running → stopping (asked to, or a process died) → stopped.
 */
import { join } from 'node:path';
import { localAddress } from './local-address.ts';
import type { Output, Ready } from './output.ts';
import { type Demo, readDemo, writeCredentials } from './read-demo.ts';
import { showFlow } from './show-flow.ts';
import { type Child, type ChildExit, startChild } from './start-child.ts';

export interface UpOptions {
  readonly dataDir: string;
  /** 0: a free one. */
  readonly port: number;
  /** Where the cloud listens. Default 127.0.0.1. */
  readonly host?: string;
  /** Options of the cloud about TLS, as it takes them. */
  readonly tlsArgs?: readonly string[];
  /** Also run a machine-server for this computer, and show what it sends. */
  readonly demo: boolean;
  /** file: URLs of the main modules. */
  readonly cloudEntry: string;
  readonly machineEntry: string;
  /** Environment of the processes. */
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Aborted: stop everything. */
  readonly signal: AbortSignal;
  /** How long a process may take to stop before it is killed. Default 10 s. */
  readonly graceMs?: number;
}

/** Runs until stopped; returns the exit code: 0 when asked to stop, else that of the process that failed, or 1. */
export async function runUp(options: UpOptions): Promise<number> {
  const { output, signal } = options;
  const asked = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let wasReady = false;
  let exit: ChildExit | undefined;
  {
    await using children = new AsyncDisposableStack();
    const cloud = children.use(startCloud(options));
    const first = await Promise.race([cloud.ready.then((event) => ({ event })), cloud.exited, asked]);
    if (first && 'event' in first) {
      wasReady = true;
      const ready = first.event as unknown as Ready;
      const demo = options.demo ? await demoOf(options, ready) : undefined;
      output.ready(ready, options.dataDir, demo !== undefined);
      exit = await (demo === undefined
        ? Promise.race([cloud.exited, asked])
        : runDemo(options, ready, demo, cloud, children, asked));
    } else {
      exit = first;
    }
    if (exit && !signal.aborted) output.failed(sentenceOf(exit, wasReady), tailOf(exit, wasReady));
    else if (wasReady) output.stopping();
  }
  if (wasReady) output.stopped();
  return !exit || signal.aborted ? 0 : exit.code || 1;
}

/** What the demo needs; without it, the cloud runs alone, and it is said why. */
async function demoOf({ dataDir, output }: UpOptions, { demoProblem }: Ready): Promise<Demo | undefined> {
  try {
    if (demoProblem !== undefined) throw new Error(demoProblem);
    return await readDemo(dataDir);
  } catch (caught) {
    output.failed(`The demo does not run, the cloud does. ${caught instanceof Error ? caught.message : caught}`, []);
    return undefined;
  }
}

/** With a machine-server and the display; returns when asked to stop, or with the process that ended. */
async function runDemo(
  options: UpOptions,
  ready: Ready,
  demo: Demo,
  cloud: Child,
  children: AsyncDisposableStack,
  asked: Promise<undefined>,
): Promise<ChildExit | undefined> {
  const { dataDir, machineEntry, env, output, graceMs = 10_000 } = options;
  const startedAt = new Date();
  const { url, ca } = await localAddress(ready, options.host);
  const machineHome = join(dataDir, 'machine');
  const machine = children.use(
    startChild({
      name: 'machine-server',
      entry: machineEntry,
      args: ['-config', await writeCredentials(machineHome, url, ca, demo)],
      // Its usual port is the one at which the command line looks for a cloud.
      env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', ...env, PLATFORM_HOME: machineHome },
      onLog: (line) => output.logged('machine-server', line),
      graceMs,
    }),
  );
  const stopShow = new AbortController();
  const show = showFlow({
    url,
    ...(ca === undefined ? {} : { ca }),
    demo,
    startedAt,
    nowMs: () => performance.now(),
    output,
    signal: stopShow.signal,
  }).catch((error: unknown) => output.logged('platform', `cannot show what flows: ${String(error)}`));
  children.defer(async () => {
    stopShow.abort();
    await show;
  });
  return await Promise.race([cloud.exited, machine.exited, asked]);
}

/**
 * The calls of a fleet are over before the young generation is full; promoted one by one, they made a heap of 650 MB whose
 * collection stopped 10,000 machines for more than a second. It begins to grow once the cloud is ready: what is loaded until then
 * would make it large for good.
 */
const cloudFlags: readonly string[] = ['--max-semi-space-size=8'];

function startCloud({
  cloudEntry,
  dataDir,
  port,
  host = '127.0.0.1',
  tlsArgs = [],
  env,
  output,
  graceMs = 10_000,
}: UpOptions): Child {
  let isReady = false;
  const child = startChild({
    name: 'cloud',
    entry: cloudEntry,
    flags: cloudFlags,
    args: ['--data', dataDir, '--port', String(port), '--host', host, '--json', ...tlsArgs],
    env,
    // Plain words before it is ready say why it cannot start: they are shown as that, once.
    onLog: (line) => {
      if (isReady || line.startsWith('{')) output.logged('cloud', line);
    },
    graceMs,
  });
  child.ready.then(
    () => {
      isReady = true;
    },
    () => {},
  );
  return child;
}

/** Before it was ready the process's own sentence says it all; later the process is named too. */
function sentenceOf(exit: ChildExit, wasReady: boolean): string {
  const said = exit.tail.findLast((line) => !line.startsWith('{'));
  if (!wasReady && said) return said;
  const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
  return `The ${exit.name} ${how}; everything is stopped. Its last lines:`;
}

function tailOf(exit: ChildExit, wasReady: boolean): readonly string[] {
  const plain = exit.tail.some((line) => !line.startsWith('{'));
  return !wasReady && plain ? [] : exit.tail;
}
