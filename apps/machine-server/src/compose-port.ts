/** Wires what belongs to the machine's port: where it listens, its certificate, how clients in the network find it, and its plain HTTP
pages. */
import type { Clock, Log } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { Link } from '@platform/rpc/client';
import type { CertificateSource } from './certificate/certificate-pair.ts';
import { openCertificate } from './certificate/feature.ts';
import { createProfiler, type Profiler } from './diagnostics/profiler.ts';
import { announce, ownHostName } from './mdns/feature.ts';
import type { BindAddress } from './serve/bind-address.ts';
import { type SharedFiles, shareDirectory } from './serve/pages/shared-files.ts';
import type { Settings } from './settings.ts';

export interface PortDeps {
  readonly settings: Settings;
  readonly bindAddress: BindAddress;
  /** The configuration that the server starts with. */
  readonly first: RobotConfig;
  /** Undefined without a cloud. */
  readonly link: Link | undefined;
  readonly partId: string;
  /** The machine's names. */
  readonly names: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Ends a start in progress. */
  readonly signal: AbortSignal;
}

export interface Port {
  readonly bindAddress: BindAddress;
  readonly certificate: CertificateSource | undefined;
  /** `-webprofile`. */
  readonly profiler: Profiler | undefined;
  /** `-shareddir`. */
  readonly shared: SharedFiles | undefined;
  /** Called once the server listens on this port. */
  announce(port: number): Promise<AsyncDisposable | undefined>;
}

export async function composePort({
  settings,
  bindAddress,
  first,
  link,
  partId,
  names,
  clock,
  log,
  signal,
}: PortDeps): Promise<Port> {
  const { isPublic } = bindAddress;
  const shared = settings.sharedDirectory === undefined ? undefined : await shareDirectory(settings.sharedDirectory);
  const certificate = await openCertificate(
    {
      ...{ link, partId, names, hostName: ownHostName(), home: settings.home, timeoutMs: settings.configReadTimeoutMs },
      ...{ noTls: settings.noTls, config: first, isPublic, clock, log: log.child('certificate') },
    },
    signal,
  );
  return {
    bindAddress,
    certificate,
    profiler: settings.webProfile ? createProfiler(clock) : undefined,
    shared,
    announce: (port) =>
      announce({
        isDisabled: settings.disableMdns,
        isPublic,
        machineNames: names(),
        port,
        clock,
        log: log.child('mdns'),
      }),
  };
}
