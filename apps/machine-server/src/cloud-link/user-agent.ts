import { hostname } from 'node:os';
import { newId, version } from '@platform/base';

/**
 * Names this run of the server, so that the cloud can distinguish two servers that use the same part. `competing-servers.ts` of the cloud
 * reads it.
 */
export function userAgentOfRun(): string {
  const host =
    hostname()
      .replaceAll(/[^\w.-]/g, '_')
      .slice(0, 64) || 'unknown';
  return `platform-machine-server/${version} (${host}; pid ${process.pid}; ${newId()})`;
}
