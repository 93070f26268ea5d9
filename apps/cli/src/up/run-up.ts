/**
 * `platform up`: starts the cloud, then the machine-server, shows what arrives, and stops them in reverse order.
 *
 * States: starting (until the cloud is ready) → running → stopping (on request) → stopped. A cloud that cannot start ends everything with its
 * reason. Once it has run, a cloud that ends is restarted, whatever the reason: its watchdog ends it when it no longer answers. A
 * machine-server is restarted, too: it also ends when the cloud asks it to restart.
 */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFlags as machineServerFlags } from '@platform/machine-server/node-flags';
import { type Demo, readDemo } from '../invocation/read-demo.ts';
import { recordRunningCloud } from '../invocation/running-cloud.ts';
import { commandName } from '../settings.ts';
import { cloudFlags } from './cloud-flags.ts';
import { keepRunning } from './keep-running.ts';
import { localAddress } from './local-address.ts';
import { type Output, type Ready, restartSentence } from './output.ts';
import { type ShowFlowOptions, showFlow } from './show-flow.ts';
import { type Child, type ChildExit, startChild } from './start-child.ts';
import { writeCredentials } from './write-credentials.ts';

export interface UpOptions {
  /** PLATFORM_HOME: other commands find the address of the cloud there. */
  readonly homeDir: string;
  readonly dataDir: string;
  /** 0: a free port. */
  readonly port: number;
  /** The address on which the cloud listens. Default 127.0.0.1. */
  readonly host?: string;
  /** The cloud's TLS options. */
  readonly networkArgs?: readonly string[];
  /** Also run a machine-server on this computer, and show what it sends. */
  readonly demo: boolean;
  /** file: URLs of the main modules. */
  readonly cloudEntry: string;
  readonly machineEntry: string;
  /** Directory of the built web UI. Absent: the cloud shows its status page. */
  readonly webUi?: string | undefined;
  /** Environment of the processes. */
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Stops everything. */
  readonly signal: AbortSignal;
  /** How long a process may take to stop before it is killed. Default 10 s. */
  readonly graceMs?: number;
}

/** Runs until stopped. Returns the exit code: 0 after a stop request, otherwise that of a cloud that could not start, or 1. */
export async function runUp(options: UpOptions): Promise<number> {
  const { output, signal } = options;
  const asked = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let wasReady = false;
  let failure: ChildExit | undefined;
  {
    await using children = new AsyncDisposableStack();
    const cloud = children.use(startCloud(options));
    const first = await Promise.race([cloud.ready.then((event) => ({ event })), cloud.exited, asked]);
    if (first && 'event' in first) {
      wasReady = true;
      const ready = first.event as unknown as Ready;
      const { url, ca } = await localAddress(ready, options.host);
      const { homeDir, dataDir } = options;
      children.use(await recordRunningCloud(homeDir, { url, ca, dataDir }));
      const demo = options.demo ? await demoOf(options, ready) : undefined;
      output.ready(ready, dataDir, demo !== undefined);
      const starts = keepCloudRunning(options, ready, cloud, children);
      const isFirst = ready.key !== undefined;
      if (demo !== undefined) await runDemo(options, { url, ca, starts, isFirst }, demo, children);
      await asked;
      output.stopping();
    } else if (first && !signal.aborted) {
      failure = first;
      output.failed(reasonOf(first), tailOf(first));
    }
  }
  if (wasReady) output.stopped();
  return failure === undefined ? 0 : failure.code || 1;
}

/** Restarts the cloud at the same address whenever it ends. Returns a function that tells how often it was started. */
function keepCloudRunning(
  options: UpOptions,
  { url }: Ready,
  first: Child,
  children: AsyncDisposableStack,
): () => number {
  const { output } = options;
  const port = options.port || Number(new URL(url).port);
  let starts = 1;
  const start = (): Child => {
    const child = startCloud({ ...options, port });
    child.ready.then(
      (event) => {
        starts += 1;
        output.readyAgain(event as unknown as Ready);
      },
      () => {},
    );
    return child;
  };
  children.use(
    keepRunning({
      first,
      start,
      onEnded: (exit, pauseMs) => output.cloudEnded(howEnded(exit), pauseMs, exit.tail),
      nowMs,
    }),
  );
  return () => starts;
}

/** Prepares the demo. Undefined, after reporting the reason, if the cloud runs without it. */
async function demoOf({ dataDir, output }: UpOptions, { demoProblem }: Ready): Promise<Demo | undefined> {
  try {
    if (demoProblem !== undefined) throw new Error(demoProblem);
    return await readDemo(dataDir);
  } catch (caught) {
    output.failed(
      `The cloud is running, but the demo is not. ${caught instanceof Error ? caught.message : caught}`,
      [],
    );
    return undefined;
  }
}

/** Starts the machine-server and the display. */
async function runDemo(
  options: UpOptions,
  { url, ca, starts, isFirst }: Pick<ShowFlowOptions, 'url' | 'ca' | 'starts' | 'isFirst'>,
  demo: Demo,
  children: AsyncDisposableStack,
): Promise<void> {
  const { dataDir, machineEntry, env, output, graceMs = 10_000 } = options;
  const startedAt = new Date();
  const machineHome = join(dataDir, 'machine');
  const credentials = await writeCredentials(machineHome, url, ca, demo);
  const start = (): Child =>
    startChild({
      name: 'machine-server',
      entry: machineEntry,
      flags: machineServerFlags,
      args: ['-config', credentials],
      // The machine-server's usual port is the one where the command line expects a cloud.
      env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', ...env, PLATFORM_HOME: machineHome },
      onLog: (line) => output.logged('machine-server', line),
      graceMs,
    });
  const onEnded = (exit: ChildExit, pauseMs: number): void => {
    if (pauseMs === 0) output.logged('platform', 'the machine-server restarts on request');
    else output.failed(restartSentence(howEnded(exit), pauseMs), exit.tail);
  };
  children.use(keepRunning({ start, onEnded, nowMs }));
  const stopShow = new AbortController();
  const show = showFlow({
    url,
    ca,
    demo,
    isFirst,
    startedAt,
    starts,
    nowMs,
    output,
    signal: stopShow.signal,
  }).catch((error: unknown) => output.logged('platform', `cannot show the readings: ${String(error)}`));
  children.defer(async () => {
    stopShow.abort();
    await show;
  });
}

function nowMs(): number {
  return performance.now();
}

function startCloud({
  cloudEntry,
  machineEntry,
  webUi,
  dataDir,
  port,
  host = '127.0.0.1',
  networkArgs = [],
  env,
  output,
  graceMs = 10_000,
}: UpOptions): Child {
  let isReady = false;
  const child = startChild({
    name: 'cloud',
    entry: cloudEntry,
    flags: cloudFlags,
    args: ['--data', dataDir, '--port', String(port), '--host', host, '--json', ...networkArgs],
    env: {
      PLATFORM_MACHINE_SERVER: fileURLToPath(machineEntry),
      PLATFORM_COMMAND: commandName(env),
      ...(webUi !== undefined && { PLATFORM_WEB_UI: webUi }),
      ...env,
    },
    // Plain text before it is ready is the reason why it cannot start, and is shown once.
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

/** Why the cloud could not start: its own text, if it said something; of an uncaught error, which Node prints, its first line. */
function reasonOf(exit: ChildExit): string {
  const texts = textsOf(exit);
  const reason = texts.find((line) => /^\w*Error\b/.test(line)) ?? texts.at(-1);
  return reason ?? `${howEnded(exit)}. ${exit.tail.length === 0 ? 'It said nothing before.' : 'Its last lines:'}`;
}

function howEnded({ name, code, signal }: ChildExit): string {
  return `The ${name} ${signal ? `was killed by ${signal}` : `exited with code ${code}`}`;
}

/** What is shown below the reason: the stack of an uncaught error, or all if it gave no reason. */
function tailOf(exit: ChildExit): readonly string[] {
  const texts = textsOf(exit);
  return texts.length > 0 ? texts.filter((line) => /^ +at /.test(line)) : exit.tail;
}

/** What it said in plain text, without what Node adds to an uncaught error. */
function textsOf({ tail }: ChildExit): readonly string[] {
  return tail.filter((line) => line !== '' && !line.startsWith('{') && !/^Node\.js v\d/.test(line));
}
