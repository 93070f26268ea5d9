/**
 * `platform up`: starts the cloud, then the machine-server, shows what arrives, and stops them in reverse order.
 *
 * States: starting (until the cloud is ready) → running → stopping (on request, or because the cloud died) → stopped. A machine-server that
 * ends is restarted: it also ends when the cloud asks it to restart.
 */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFlags as machineServerFlags } from '@platform/machine-server/node-flags';
import { type Demo, readDemo } from '../invocation/read-demo.ts';
import { recordRunningCloud } from '../invocation/running-cloud.ts';
import { cloudFlags } from './cloud-flags.ts';
import { keepRunning } from './keep-running.ts';
import { localAddress } from './local-address.ts';
import type { Output, Ready } from './output.ts';
import { showFlow } from './show-flow.ts';
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
  readonly tlsArgs?: readonly string[];
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

/** Runs until stopped. Returns the exit code: 0 after a stop request, otherwise that of the process that failed, or 1. */
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
      const { url, ca } = await localAddress(ready, options.host);
      const { homeDir, dataDir } = options;
      children.use(await recordRunningCloud(homeDir, { url, ca, dataDir }));
      const demo = options.demo ? await demoOf(options, ready) : undefined;
      output.ready(ready, dataDir, demo !== undefined);
      exit = await (demo === undefined
        ? Promise.race([cloud.exited, asked])
        : runDemo(options, { url, ca }, demo, cloud, children, asked));
    } else {
      exit = first;
    }
    if (exit && !signal.aborted) output.failed(sentenceOf(exit, wasReady), tailOf(exit, wasReady));
    else if (wasReady) output.stopping();
  }
  if (wasReady) output.stopped();
  return !exit || signal.aborted ? 0 : exit.code || 1;
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

/** Runs the machine-server and the display; returns on a stop request, or when the cloud ends. */
async function runDemo(
  options: UpOptions,
  { url, ca }: { readonly url: string; readonly ca: string | undefined },
  demo: Demo,
  cloud: Child,
  children: AsyncDisposableStack,
  asked: Promise<undefined>,
): Promise<ChildExit | undefined> {
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
    else output.failed(`${howEnded(exit)}. Restarting it in ${pauseMs / 1_000} s. Its last lines:`, exit.tail);
  };
  const nowMs = (): number => performance.now();
  children.use(keepRunning({ start, onEnded, nowMs }));
  const stopShow = new AbortController();
  const show = showFlow({
    url,
    ca,
    demo,
    startedAt,
    nowMs,
    output,
    signal: stopShow.signal,
  }).catch((error: unknown) => output.logged('platform', `cannot show the readings: ${String(error)}`));
  children.defer(async () => {
    stopShow.abort();
    await show;
  });
  return await Promise.race([cloud.exited, asked]);
}

function startCloud({
  cloudEntry,
  machineEntry,
  webUi,
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
    env: {
      PLATFORM_MACHINE_SERVER: fileURLToPath(machineEntry),
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

/** If the process was not ready, its own text is the message; otherwise the message also names the process. */
function sentenceOf(exit: ChildExit, wasReady: boolean): string {
  const reason = exit.tail.findLast((line) => !line.startsWith('{'));
  if (!wasReady && reason) return reason;
  const said = exit.tail.length === 0 ? 'It said nothing before.' : 'Its last lines:';
  return `${howEnded(exit)}, so everything was stopped. ${said}`;
}

function howEnded({ name, code, signal }: ChildExit): string {
  return `The ${name} ${signal ? `was killed by ${signal}` : `exited with code ${code}`}`;
}

function tailOf(exit: ChildExit, wasReady: boolean): readonly string[] {
  const plain = exit.tail.some((line) => !line.startsWith('{'));
  return !wasReady && plain ? [] : exit.tail;
}
