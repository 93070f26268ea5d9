/** Webhook targets of a configuration that this installation refuses (D23). */
import type { Problem } from '@platform/base';
import { givenIn } from './given-in.ts';

/** A save checks at most this many different targets, because their names are resolved. */
const maxTargets = 100;

/**
 * Warnings with their paths. Disabled triggers are checked, too, so that they have no problems when they are enabled.
 *
 * @param document effective, of any shape; malformed parts are left to `parseTriggers`
 * @param refusalOf why a webhook to this URL would be refused; undefined: it would not, as far as is known
 */
export async function targetProblems(
  document: unknown,
  refusalOf: (url: string) => Promise<string | undefined>,
): Promise<readonly Problem[]> {
  const refusals = new Map<string, Promise<string | undefined>>();
  const places: { readonly path: string; readonly url: string }[] = [];
  for (const { path, value: url } of givenIn(document, 'webhook', 'value')) {
    if (!refusals.has(url) && refusals.size < maxTargets) refusals.set(url, refusalOf(url));
    places.push({ path, url });
  }
  const problems = await Promise.all(
    places.map(async ({ path, url }): Promise<Problem[]> => {
      const message = await refusals.get(url);
      return message === undefined ? [] : [{ path, level: 'warning', message }];
    }),
  );
  return problems.flat();
}
