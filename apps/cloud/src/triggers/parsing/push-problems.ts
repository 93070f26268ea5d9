/** Push notifications of a configuration for which the organization has no credentials. */
import type { Problem } from '@platform/base';
import { triggersIn } from '../../machines/configuration/triggers-of.ts';
import { ownApplication } from '../../outbox/push/push-channel.ts';
import { isObject, shown } from './json.ts';

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
  const places: { readonly path: string; readonly application: string }[] = [];
  for (const [index, trigger] of triggersIn(document).entries()) {
    const given = isObject(trigger) ? trigger['notifications'] : undefined;
    const at = `triggers[${index}].notifications`;
    for (const [position, each] of (Array.isArray(given) ? given : [given]).entries()) {
      if (!isObject(each) || each['type'] !== 'push' || typeof each['application'] !== 'string') continue;
      const application = each['application'];
      if (application !== ownApplication && application !== '')
        places.push({ path: `${at}${Array.isArray(given) ? `[${position}]` : ''}.application`, application });
    }
  }
  if (places.length === 0) return [];
  const known = await uploaded();
  return places
    .filter(({ application }) => application !== known)
    .map(({ path, application }) => ({
      path,
      level: 'error',
      message: `expected ${ownApplication} or an application whose push credentials are uploaded${known === undefined ? '' : ` (${shown(known)})`}, found ${shown(application)}; an owner of the organization uploads them with: platform organizations push-config set`,
    }));
}
