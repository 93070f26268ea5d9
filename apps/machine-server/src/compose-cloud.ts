/** Wires everything that talks to the cloud, except sync and the status: the configuration, logs, restarts. */
import type { Clock } from '@platform/base';
import { connect, type Link } from '@platform/rpc/client';
import { LogShipper } from './cloud-link/log-shipper.ts';
import { RestartWatch } from './cloud-link/restart-watch.ts';
import { ConfigWatch } from './config/config-watch.ts';
import type { CloudCredentials } from './config/credentials.ts';
import type { ServerLog } from './logging/server-log.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

export interface CloudDeps {
  readonly settings: Settings;
  readonly serverLog: ServerLog;
  readonly clock: Clock;
  /** Called when the cloud asks for a restart. */
  readonly restart: () => void;
}

export interface CloudParts {
  readonly credentials: CloudCredentials;
  readonly partId: string;
  readonly link: Link;
  /** Opens another connection, with the same credentials. */
  readonly connectAgain: () => Link;
  readonly watch: ConfigWatch;
  /** Starts to send logs, and to ask whether to restart. */
  start(): void;
}

export function composeCloud(
  { settings, serverLog, clock, restart }: CloudDeps,
  credentials: CloudCredentials,
  starting: AsyncDisposableStack,
): CloudParts {
  const { partId, appAddress, entity, type, payload, ca } = credentials;
  const { log } = serverLog;
  serverLog.redactor.hide('credentials', [payload]);
  const connectAgain = (): Link =>
    connect({
      baseUrl: appAddress,
      credentials: { entity, type, payload },
      allowInsecureCredentials: settings.allowInsecureCredentials,
      ca,
      userAgent: `platform-machine-server/${version}`,
    });
  const link = starting.use(connectAgain());
  const watch = new ConfigWatch({
    ...{ link, credentials, home: settings.home, readTimeoutMs: settings.configReadTimeoutMs },
    ...{ clock, log: log.child('config') },
  });
  const start = (): void => {
    const shipper = starting.use(new LogShipper({ link, partId, clock }));
    serverLog.onLine((line) => shipper.add(line));
    shipper.start();
    starting.use(new RestartWatch({ link, partId, restart, clock, log: log.child('cloud-link') })).start();
  };
  return { credentials, partId, link, connectAgain, watch, start };
}
