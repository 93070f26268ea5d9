/** The texts of one key in the notifications of one type, with their paths. @param document of any shape; malformed parts are skipped */
import { triggersIn } from '../../machines/configuration/triggers-of.ts';
import { isObject } from './json.ts';

export function givenIn(
  document: unknown,
  type: string,
  key: string,
): { readonly path: string; readonly value: string }[] {
  return triggersIn(document).flatMap((trigger, index) => {
    const given = isObject(trigger) ? trigger['notifications'] : undefined;
    return (Array.isArray(given) ? given : [given]).flatMap((each, position) => {
      const value = isObject(each) && each['type'] === type ? each[key] : undefined;
      const at = Array.isArray(given) ? `[${position}]` : '';
      return typeof value === 'string' ? [{ path: `triggers[${index}].notifications${at}.${key}`, value }] : [];
    });
  });
}
