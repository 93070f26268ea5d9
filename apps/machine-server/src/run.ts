/** Reads settings, composes the server, runs until asked to stop, then unwinds in reverse. */
import { errorText, PlatformError, systemClock } from '@platform/base';
import { resourceTypes } from '@platform/resources';
import { startMachineServer } from './compose.ts';
import { startCpuProfile } from './diagnostics/cpu-profile.ts';
import { dumpResources } from './diagnostics/dump-resources.ts';
import { openKernel } from './hardware/kernel.ts';
import { createServerLog } from './logging/server-log.ts';
import { builtInModels } from './models/built-in.ts';
import { readSettings, type Settings } from './settings.ts';
import { asksForHelp, usage } from './usage.ts';
import { version } from './version.ts';

const stopLimitMs = 60_000;

/** @param args from the command line. Returns the exit code. */
export async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (asksForHelp(args)) {
    process.stdout.write(usage());
    return 0;
  }
  let settings: Settings;
  try {
    settings = readSettings(args, env);
  } catch (caught) {
    return fail(errorText(caught));
  }
  if (settings.version) {
    process.stdout.write(`machine-server ${version}\n`);
    return 0;
  }
  try {
    return settings.dumpResources === undefined
      ? await serveUntilStopped(settings)
      : await dump(settings.dumpResources);
  } catch (caught) {
    return fail(errorText(caught));
  }
}

async function dump(path: string): Promise<number> {
  const models = builtInModels(
    systemClock,
    () => {
      throw new PlatformError('internal', 'nothing is built here');
    },
    { untrusted: false, kernel: openKernel },
  );
  await dumpResources(path, resourceTypes, models);
  return 0;
}

async function serveUntilStopped(settings: Settings): Promise<number> {
  const { config: configFile } = settings;
  if (configFile === undefined) return fail('expected -config <file> with the credentials of this machine, found none');
  await using _profile = settings.cpuProfile === undefined ? undefined : await startCpuProfile(settings.cpuProfile);
  await using serverLog = createServerLog({
    file: settings.logFile,
    alsoFile: settings.alsoLogFile,
    clock: systemClock,
  });
  const log = serverLog.log.child('machine-server');
  for (const warning of settings.warnings) log.warn(warning);

  // The reader of the log may be gone; captured data must still be sealed.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const stop = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.resolve(signal));
  // Started by `platform up`: when that exits, so must this server.
  process.on('disconnect', () => stop.resolve('the parent process has ended'));
  const starting = new AbortController();
  void stop.promise.then((reason) => {
    log.info('stopping', { reason });
    starting.abort();
    systemClock.every(stopLimitMs, () => {
      log.error('stopping took too long');
      process.exit(1);
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
    await stop.promise;
    return 0;
  } catch (caught) {
    return starting.signal.aborted ? 0 : fail(errorText(caught));
  }
}

function fail(message: string): number {
  process.stderr.write(`machine-server: ${message}\n`);
  return 1;
}
