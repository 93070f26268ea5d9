/** Decides whether clients in the same network find this server by multicast DNS. */
import { hostname } from 'node:os';
import type { Clock, Log } from '@platform/base';

export interface AnnounceDeps {
  /** `-disable-mdns`. */
  readonly isDisabled: boolean;
  /** Whether other computers can reach the port. */
  readonly isPublic: boolean;
  /** Empty if the machine has no name. */
  readonly machineName: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined if it is not announced. */
export async function announce(deps: AnnounceDeps): Promise<AsyncDisposable | undefined> {
  const { isDisabled, isPublic, machineName, port, clock, log } = deps;
  if (isDisabled || !isPublic) return undefined;
  // Loaded only here: few servers need it.
  const { startResponder } = await import('./responder.ts');
  return startResponder({
    announcement: { hostName: hostname().split('.', 1)[0] ?? '', machineName, port },
    clock,
    log,
  });
}
