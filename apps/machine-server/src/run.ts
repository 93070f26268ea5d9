/** Composes the server, runs it until a stop request, then unwinds in reverse; or performs the single task of an option. */
import {
  endProcess,
  errorText,
  letHeapGrow,
  PlatformError,
  systemClock,
  trimWhenIdle,
  version,
  writeCompileCache,
} from '@platform/base';
import { resourceTypes } from '@platform/resources';
import { startMachineServer } from './compose.ts';
import { readConfigFile } from './config/credentials.ts';
import { startCpuProfile } from './diagnostics/cpu-profile.ts';
import { dumpResources } from './diagnostics/dump-resources.ts';
import { fail } from './fail.ts';
import { openKernel } from './hardware/kernel.ts';
import { createServerLog } from './logging/server-log.ts';
import { openEventLog } from './logging/windows-event-log.ts';
import { builtInModels } from './models/built-in.ts';
import { checkNetwork } from './network-check/network-check.ts';
import { rootWarning } from './root-warning.ts';
import type { Settings } from './settings.ts';

const stopLimitMs = 60_000;
/** Memory when idle. */
const collectEveryMs = 60_000;

/** Performs the task of the options. @returns the exit code */
export async function run(settings: Settings): Promise<number> {
  try {
    if (settings.dumpResources !== undefined) return await dump(settings.dumpResources);
    if (settings.config === undefined)
      return fail('expected -config <file> with the credentials of this machine, found none');
    return settings.networkCheck
      ? await checkAndExit(settings, settings.config)
      : await serveUntilStopped(settings, settings.config);
  } catch (caught) {
    return fail(errorText(caught));
  }
}

async function dump(path: string): Promise<number> {
  const dataManager = (): never => {
    throw new PlatformError('internal', 'nothing is built here');
  };
  const models = builtInModels({
    clock: systemClock,
    dataManager,
    kernel: openKernel,
    trust: { untrusted: false },
    home: '',
  });
  await dumpResources(path, resourceTypes, models);
  return 0;
}

async function checkAndExit(settings: Settings, configFile: string): Promise<number> {
  const file = await readConfigFile(configFile, false);
  return (await checkNetwork(settings, file, systemClock, (line) => process.stdout.write(line))) ? 0 : 1;
}

async function serveUntilStopped(settings: Settings, configFile: string): Promise<number> {
  await using _profile = settings.cpuProfile === undefined ? undefined : await startCpuProfile(settings.cpuProfile);
  // Even if the reader of the log is gone, captured data must be sealed.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const eventLog = openEventLog({ platform: process.platform, isDisabled: settings.noWindowsEventLog });
  await using serverLog = createServerLog({
    file: settings.logFile,
    alsoFile: settings.alsoLogFile,
    sinks: eventLog === undefined ? [] : [eventLog],
    clock: systemClock,
  });
  const log = serverLog.log.child('machine-server');
  const { home, isService } = settings;
  const ofRoot = rootWarning({ uid: process.geteuid?.(), home, isService });
  if (ofRoot !== undefined) log.warn(ofRoot);

  const stop = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.resolve(signal));
  // If `platform up` started this server, it must exit when that exits.
  process.on('disconnect', () => stop.resolve('the parent process has ended'));
  const starting = new AbortController();
  void stop.promise.then((reason) => {
    log.info('stopping', { reason });
    starting.abort();
    systemClock.every(stopLimitMs, () => {
      log.error('stopping took too long');
      void endProcess(1);
    });
  });
  try {
    await using server = await startMachineServer({
      settings,
      configFile,
      types: resourceTypes,
      models: builtInModels,
      clock: systemClock,
      serverLog,
      signal: starting.signal,
      restart: () => stop.resolve('restart'),
      shutdown: stop.resolve,
    });
    log.info('running', { version, home: settings.home, port: server.serving.port });
    // A machine is often switched off instead of stopped.
    using _compiled = writeCompileCache(systemClock);
    // The first collection already decides by how much the heap may grow.
    using _growing = letHeapGrow(systemClock);
    // A collection stops the server for some tens of milliseconds, on a slow computer for some hundreds: a stop would wait, and fast captures
    // would miss ticks.
    using _trim = trimWhenIdle({
      ...{ clock: systemClock, leastMs: collectEveryMs },
      mayPause: () => !server.serving.expectsStops && !server.capture.isFast,
    });
    await stop.promise;
    return 0;
  } catch (caught) {
    return starting.signal.aborted ? 0 : fail(errorText(caught));
  }
}
