/** Push notifications of a configuration for which the organization has no credentials. */
import type { Problem } from '@platform/base';
import { ownApplication } from '../../outbox/push/push-channel.ts';
import { givenIn } from './given-in.ts';
import { shown } from './json.ts';

/**
 * Errors with their paths: no one could receive such a notification. Disabled triggers are checked, too.
 *
 * @param document effective, of any shape; malformed parts are left to `parseTriggers`
 * @param uploaded the application for which credentials are uploaded; undefined: none
 */
export async function pushProblems(
  document: unknown,
  uploaded: () => Promise<string | undefined>,
): Promise<readonly Problem[]> {
  const places = givenIn(document, 'push', 'application').filter(
    ({ value }) => value !== ownApplication && value !== '',
  );
  if (places.length === 0) return [];
  const known = await uploaded();
  return places
    .filter(({ value }) => value !== known)
    .map(({ path, value: application }) => ({
      path,
      level: 'error',
      message: `expected ${ownApplication} or an application whose push credentials are uploaded${known === undefined ? '' : ` (${shown(known)})`}, found ${shown(application)}; an owner of the organization uploads them with: platform organizations push-config set`,
    }));
}
