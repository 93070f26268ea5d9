/** Wires the source of the configuration: the cloud that the `-config` file names, or that file itself. */
import { type CloudDeps, type CloudParts, composeCloud } from './compose-cloud.ts';
import { isCached, localCacheFile } from './config/cache.ts';
import type { ConfigSource } from './config/config-source.ts';
import { readConfigFile } from './config/credentials.ts';
import { LocalFile } from './config/local-file.ts';
import type { LocalSettings } from './config/local-settings.ts';
import { isReadByAll, signatureOf } from './config/read-document.ts';

export interface SourceDeps extends CloudDeps {
  /** Path of the `-config` file. */
  readonly configFile: string;
}

export interface Source {
  /** Undefined if there is none. */
  readonly cloud: CloudParts | undefined;
  readonly source: ConfigSource;
  readonly local: LocalSettings;
}

/** @throws PlatformError if the file cannot be used */
export async function composeSource(deps: SourceDeps, starting: AsyncDisposableStack): Promise<Source> {
  const { configFile, settings, serverLog, clock, onProblem } = deps;
  const signature = await signatureOf(configFile);
  const opened = await readConfigFile(configFile, await isCached(localCacheFile(settings.home, configFile)));
  const log = serverLog.log.child('config');
  if (opened.kind === 'cloud') {
    if (await isReadByAll(configFile))
      log.warn(
        `every account of this computer can read the secret of this machine in ${configFile}: run chmod go= ${configFile}`,
      );
    const cloud = await composeCloud(deps, opened.credentials, starting);
    return { cloud, source: cloud.watch, local: opened.local };
  }
  const source = new LocalFile({ ...opened, path: configFile, signature, home: settings.home, onProblem, clock, log });
  return { cloud: undefined, source, local: opened.local };
}
