/** `-network-check`: only checks the network of this computer and the connection to its cloud. */
import type { Clock } from '@platform/base';
import type { ConfigFile } from '../config/credentials.ts';
import type { Settings } from '../settings.ts';
import { cloudChecks } from './cloud-checks.ts';
import { multicastCheck } from './multicast-check.ts';
import { type Check, runChecks } from './run-checks.ts';

/** @returns whether no check failed */
export async function checkNetwork(
  settings: Pick<Settings, 'allowInsecureCredentials' | 'configReadTimeoutMs' | 'disableMdns'>,
  file: ConfigFile,
  clock: Clock,
  print: (line: string) => void,
): Promise<boolean> {
  const { allowInsecureCredentials, configReadTimeoutMs, disableMdns } = settings;
  const withoutCloud: Check = { name: 'cloud', skip: 'the configuration names none', run: async () => '' };
  const ofCloud =
    file.kind === 'cloud'
      ? cloudChecks({ credentials: file.credentials, allowInsecureCredentials, clock })
      : [withoutCloud];
  return runChecks([...ofCloud, multicastCheck(disableMdns)], configReadTimeoutMs, clock, print);
}
