/** Limits the relayed calls in progress, for each part and for each organization, so that none can occupy the whole cloud. */
import { resourceExhausted } from '@platform/base';
import { maxTunnelCalls } from '@platform/rpc/client';

const maxOfOrganization = 1_000;

export interface CallLimit {
  /** Counts a call until it is disposed. @throws resource_exhausted naming the limit */
  enter(partId: string, organizationId: string): Disposable;
}

export function createCallLimit(
  ofPart: number = maxTunnelCalls,
  ofOrganization: number = maxOfOrganization,
): CallLimit {
  const running = new Map<string, number>();
  const add = (key: string, by: number): void => {
    const now = (running.get(key) ?? 0) + by;
    if (now === 0) running.delete(key);
    else running.set(key, now);
  };
  const requireCapacity = (what: string, key: string, most: number): void => {
    if ((running.get(key) ?? 0) < most) return;
    throw resourceExhausted(
      `${what}: expected at most ${most} calls in progress through the cloud, found ${most}; try again when some have ended`,
    );
  };
  return {
    enter(partId, organizationId) {
      const [part, organization] = [`part ${partId}`, `organization ${organizationId}`];
      requireCapacity(part, part, ofPart);
      requireCapacity(organization, organization, ofOrganization);
      add(part, 1);
      add(organization, 1);
      return {
        [Symbol.dispose]() {
          add(part, -1);
          add(organization, -1);
        },
      };
    },
  };
}
