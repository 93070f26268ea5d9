import { resourceNames, triggersIn } from '../machines/configuration/triggers-of.ts';
import { type ParsedTriggers, parseTriggers } from './parse-triggers.ts';

const known = new WeakMap<object, ParsedTriggers>();

/**
 * The triggers of an effective document, parsed once for each: a save checks them, and notes from where on they fire.
 *
 * @param document decoded, never changed afterwards; undefined: none.
 */
export function triggersOfDocument(document: unknown): ParsedTriggers {
  const parse = (): ParsedTriggers => parseTriggers(triggersIn(document), resourceNames(document));
  if (typeof document !== 'object' || document === null) return parse();
  const found = known.get(document) ?? parse();
  known.set(document, found);
  return found;
}
