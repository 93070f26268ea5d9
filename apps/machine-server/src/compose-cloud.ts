/** Wires all communication with the cloud except sync and the status: the configuration, logs, restarts. */
import { join } from 'node:path';
import type { Clock } from '@platform/base';
import { connect, type Link, maxAnswerElements } from '@platform/rpc/client';
import { CallRecord } from './call-record/call-record.ts';
import { openJournalDisk } from './call-record/journal-disk.ts';
import { CloudReach } from './cloud-link/cloud-reach.ts';
import { LogShipper } from './cloud-link/log-shipper.ts';
import { NetworkWatch, systemAddresses } from './cloud-link/network-watch.ts';
import { watchForRestart } from './cloud-link/restart-watch.ts';
import { userAgentOfRun } from './cloud-link/user-agent.ts';
import { ConfigWatch } from './config/config-watch.ts';
import type { CloudCredentials } from './config/credentials.ts';
import { LogQueue } from './logging/log-queue.ts';
import type { ServerLog } from './logging/server-log.ts';
import type { Settings } from './settings.ts';

export interface CloudDeps {
  readonly settings: Settings;
  readonly serverLog: ServerLog;
  readonly clock: Clock;
  /** Called when the cloud asks for a restart. */
  readonly restart: () => void;
  /** Called after the problem of its configuration has changed. */
  readonly onProblem: () => void;
}

export interface CloudParts {
  readonly credentials: CloudCredentials;
  readonly partId: string;
  readonly link: Link;
  /** Another connection, with the same credentials, for calls that may be silent for long: those of callers wait on it. */
  readonly control: Link;
  /** Whether the cloud can be reached, as all its connections show. */
  readonly reach: CloudReach;
  readonly watch: ConfigWatch;
  readonly callRecord: CallRecord;
  /** Starts asking the cloud whether to restart. */
  start(): void;
}

/** Polls and uploads are answered sooner; one that is not may hang on a connection that passes nothing any more (ADR-0066). */
const callSilentMs = 3_000;

/** Lines are sent from now on, including earlier ones; lines that the cloud does not get now wait on the disk. */
export async function composeCloud(
  { settings, serverLog, clock, restart, onProblem }: CloudDeps,
  credentials: CloudCredentials,
  starting: AsyncDisposableStack,
): Promise<CloudParts> {
  const { partId, appAddress, entity, type, payload, ca } = credentials;
  const { log } = serverLog;
  serverLog.redactor.hide('credentials', [payload]);
  const userAgent = userAgentOfRun();
  const reach = new CloudReach(clock);
  const links: Link[] = [];
  const connectWith = (silentMs?: number): Link => {
    const link = connect({
      baseUrl: appAddress,
      credentials: { entity, type, payload },
      allowInsecureCredentials: settings.allowInsecureCredentials,
      ca,
      userAgent,
      maxElements: maxAnswerElements,
      callSilentMs: silentMs,
      onReach: (isAnswered) => reach.report(isAnswered),
    });
    links.push(link);
    return link;
  };
  const network = new NetworkWatch({
    addresses: systemAddresses,
    onChange(addresses) {
      for (const each of links) each.networkChanged(addresses);
      reach.networkChanged();
    },
    clock,
  });
  starting.use(network).start();
  const link = starting.use(connectWith(callSilentMs));
  const watch = new ConfigWatch({
    ...{ link, credentials, home: settings.home, readTimeoutMs: settings.configReadTimeoutMs },
    ...{ onProblem, reach, clock, log: log.child('config') },
  });
  const cloudLog = log.child('cloud-link');
  const folder = partId.replaceAll(/[^\w-]/g, '_');
  const queue = new LogQueue({
    directory: join(settings.home, 'log_queue', folder),
    clock,
    onState(problem) {
      if (problem === undefined) cloudLog.info('the queue of log lines for the cloud is on the disk again');
      else cloudLog.error(`log lines for the cloud cannot be saved, a restart loses those not yet sent: ${problem}`);
    },
  });
  await queue.start();
  starting.use(queue);
  const shipper = starting.use(new LogShipper({ link, partId, queue, clock, log: cloudLog }));
  serverLog.onLine((line) => {
    queue.add(line);
    shipper.wake();
  });
  shipper.start();
  starting.use(reach.onRetry(() => shipper.retry()));
  const callRecord = starting.use(
    new CallRecord({
      disk: openJournalDisk(join(settings.home, 'call-records', folder)),
      ...{ link, partId, clock, log: log.child('call-record') },
      redact: (text) => serverLog.redactor.text(text),
    }),
  );
  await callRecord.start();
  const start = (): void => void starting.use(watchForRestart({ link, partId, restart, reach, clock, log: cloudLog }));
  return { credentials, partId, link, control: starting.use(connectWith()), reach, watch, callRecord, start };
}
