/** Decides whether clients in the same network find this server by multicast DNS. */
import { hostname } from 'node:os';
import type { Clock, Log } from '@platform/base';
import { startResponder } from './responder.ts';

export interface AnnounceDeps {
  /** `-disable-mdns`. */
  readonly isDisabled: boolean;
  /** Whether other computers can reach the port. */
  readonly isPublic: boolean;
  readonly machineNames: readonly string[];
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The host name of this computer, without a domain. */
export function ownHostName(): string {
  return hostname().split('.', 1)[0] ?? '';
}

/** Undefined if it is not announced. */
export async function announce(deps: AnnounceDeps): Promise<AsyncDisposable | undefined> {
  const { isDisabled, isPublic, machineNames, port, clock, log } = deps;
  if (isDisabled || !isPublic) return undefined;
  return startResponder({
    announcement: { hostName: ownHostName(), machineNames, port },
    clock,
    log,
  });
}
