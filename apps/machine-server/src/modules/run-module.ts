/** One process of a module, from its start to its end. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, LogLevel } from '@platform/base';
import { modulePrefix } from '@platform/machine-config/log-pattern';
import type { Link } from '@platform/rpc/client';
import type { Model } from '../graph/model.ts';
import { modelsOf } from './handler-map.ts';
import { type ModuleConfig, tcpModeWarning } from './module-config.ts';
import { ModuleResources } from './module-resources.ts';
import type { ModulesDeps, ParentPort } from './modules-deps.ts';
import { connectModule } from './process/connect-module.ts';
import { environmentOf } from './process/environment.ts';
import { firstRun } from './process/first-run.ts';
import { freePort } from './process/free-port.ts';
import { endLeftover, recordProcess } from './process/leftover-process.ts';
import { versionInMeta } from './process/meta-json.ts';
import type { ModuleLines } from './process/module-output.ts';
import { type ModuleProcess, startProcess } from './process/module-process.ts';
import { programOf } from './process/program-of.ts';
import { readProcess } from './process/read-process.ts';
import type { SocketDirectory } from './process/socket-path.ts';
import { waitReady } from './process/wait-ready.ts';

export interface RunModuleOptions {
  readonly module: ModuleConfig;
  readonly deps: ModulesDeps;
  readonly sockets: SocketDirectory;
  readonly parent: ParentPort;
  readonly lines: ModuleLines;
  readonly log: Log;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

export interface RunningModule {
  readonly models: readonly Model[];
  /** That of its package, or in its `meta.json`; empty: not known. */
  readonly version: string;
  /** Resolves when its process has ended, to a text that says how. */
  readonly ended: Promise<string>;
  /** Tells it the levels of its resources that have changed. */
  setLevels(): void;
  /** Removes its resources, and ends the process. */
  stop(): Promise<void>;
}

/** Starts the process and waits until it is ready; if that fails, stops it again. */
export async function runModule(options: RunModuleOptions): Promise<RunningModule> {
  const { module, deps, sockets, parent, lines, log, signal } = options;
  const { clock, configureTimeoutMs, startupTimeoutMs } = deps;
  const all = join(deps.home, 'module-data', deps.identity().partId || 'local');
  const dataDirectory = join(all, module.name);
  // No name of a module begins with a dot.
  const statePath = join(all, `.${module.name}`);
  await mkdir(dataDirectory, { recursive: true, mode: 0o750 });
  if (await endLeftover(statePath)) log.warn(`module "${module.name}": ended a process of an earlier machine-server`);
  const inPackage = deps.packageWith(module.executablePath);
  const { path, folder } = await programOf(module, inPackage?.folder, `${statePath}.unpacked`);
  const version = inPackage?.version ?? (await versionInMeta(folder));
  const root = module.env['PLATFORM_MODULE_ROOT'] ?? module.env['VIAM_MODULE_ROOT'] ?? folder;
  const address = module.tcpMode ? `127.0.0.1:${await freePort()}` : sockets.next();
  const { name, moduleId, noApiKey } = module;
  const identity = { name, moduleId, noApiKey, home: deps.home, machine: deps.identity() };
  const env = environmentOf({ ...identity, dataDirectory, address, root }, deps.environment, module.env);
  await firstRun({ module, root, statePath, env, lines, clock, log, signal });
  const { logLevel } = module;
  const args = [
    address,
    ...(logLevel === '' ? [] : [`--log-level=${logLevel}`]),
    ...(module.tcpMode ? ['--tcp-mode'] : []),
  ];
  signal.throwIfAborted();

  const process = await startProcess({ path, args, cwd: root, env, lines, clock });
  log.info(`module "${module.name}" started`, { pid: process.pid, path });
  if (module.tcpMode) log.warn(`module "${module.name}": ${tcpModeWarning}`);
  const link = connectModule(module, address, clock);
  const onForgotten = (full: string): void => {
    log.warn(`module "${module.name}" no longer has ${full}; adding it again`, { resource: full });
    deps.rebuild(full);
  };
  const levelOf = (full: string): LogLevel => deps.levelOf(`${modulePrefix}${module.name}.${full}`);
  const { rebuild } = deps;
  const resources = new ModuleResources({ link, configureTimeoutMs, onForgotten, levelOf, rebuild, clock });
  try {
    await recordProcess(statePath, process.pid);
    const leader = (await readProcess(process.pid)) ?? { pid: process.pid, started: '' };
    const parentAddress = module.tcpMode ? await parent.tcpAddress(leader) : sockets.parentPath;
    const ready = async (ends: AbortSignal): Promise<readonly Model[]> => {
      const wait = { link, parentAddress, startupTimeoutMs, clock, signal: ends };
      return modelsOf(await waitReady(wait), { types: deps.types, link, resources, log });
    };
    const models = await orEnded(process, ready, signal);
    return {
      models,
      version,
      ended: process.ended,
      setLevels: () => resources.setLevels(),
      stop: () => stop(process, link, resources),
    };
  } catch (caught) {
    await stop(process, link, undefined);
    throw caught;
  }
}

/** The result of the start, unless the process ends first. */
async function orEnded<T>(
  process: ModuleProcess,
  start: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const ended = process.ended.then((how): never => {
    throw new Error(`${how} before it was ready`);
  });
  try {
    return await Promise.race([start(AbortSignal.any([signal, over.signal])), ended]);
  } finally {
    over.abort();
  }
}

async function stop(process: ModuleProcess, link: Link, resources: ModuleResources | undefined): Promise<void> {
  await resources?.removeAll();
  await link[Symbol.asyncDispose]();
  await process.stop();
}
