/** Why a part cannot be called. */
import { type PlatformError, unavailable } from '@platform/base';
import type { Presence } from '../machines/presence/presence.ts';
import type { Registry } from '../machines/registry.ts';
import type { Links } from './links.ts';

export interface NoLinkDeps {
  readonly links: Pick<Links, 'lostMs'>;
  readonly registry: Pick<Registry, 'placeOf'>;
  readonly presence: Pick<Presence, 'of'>;
  /** Whether the part reports what it runs, which public machine servers do not. */
  readonly reports: (partId: string) => boolean;
}

/** UNAVAILABLE: the machine is offline, has just lost its link, or has a server that opens none. */
export function noLink({ links, registry, presence, reports }: NoLinkDeps, partId: string): PlatformError {
  const { robotName, partName } = registry.placeOf(partId);
  const machine = `the machine "${robotName}" (part "${partName}")`;
  const { state, lastSeenMs, changedMs } = presence.of(partId);
  const at = (ms: number): string => new Date(ms).toISOString();
  if (state === 'awaiting_setup')
    return unavailable(
      `${machine} has never connected: set it up with "Show the line to run" on its page, or with platform machines connect NAME`,
    );
  if (state === 'offline') return unavailable(`${machine} is offline since ${at(changedMs ?? lastSeenMs ?? 0)}`);
  const lostMs = links.lostMs(partId);
  if (lostMs !== undefined)
    return unavailable(`${machine} lost its link to the cloud at ${at(lostMs)}; it connects again by itself`);
  if (reports(partId))
    return unavailable(
      `${machine} is online, but has not opened its link to the cloud yet; it does so within a minute`,
    );
  return unavailable(
    `${machine} is online, but its machine-server does not offer remote control through the cloud (public machine servers use WebRTC)`,
  );
}
