/** Notifications to all machine owners of a configuration that would reach nobody (D45). */
import type { Problem } from '@platform/base';
import { allMachineOwners } from '../../outbox/enqueue.ts';
import { givenIn } from './given-in.ts';

/**
 * Warnings with their paths: somebody may become an owner later. Disabled triggers are checked, too.
 *
 * @param document effective, of any shape; malformed parts are left to `parseTriggers`
 * @param addresses of the owners
 */
export async function ownerProblems(
  document: unknown,
  addresses: () => Promise<readonly string[]>,
): Promise<readonly Problem[]> {
  const places = [...givenIn(document, 'email', 'value'), ...givenIn(document, 'push', 'value')].filter(
    ({ value }) => value === allMachineOwners,
  );
  if (places.length === 0 || (await addresses()).length > 0) return [];
  return places.map(({ path }) => ({
    path,
    level: 'warning',
    message: `expected at least one owner of the machine, its location or its organization who has an e-mail address, found none: ${allMachineOwners} reaches nobody; invite an owner, or name an address`,
  }));
}
