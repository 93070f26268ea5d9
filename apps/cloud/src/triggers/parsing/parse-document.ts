import { resourcesIn, triggersIn } from '../../machines/configuration/triggers-of.ts';
import { type ParsedTriggers, parseTriggers } from './parse-triggers.ts';

const known = new WeakMap<object, ParsedTriggers>();

/**
 * Parses the triggers of an effective document, once per document: a save validates them and records where they start to fire.
 *
 * @param document decoded, must not change afterwards; undefined: none
 */
export function triggersOfDocument(document: unknown): ParsedTriggers {
  const parse = (): ParsedTriggers => parseTriggers(triggersIn(document), resourcesIn(document));
  if (typeof document !== 'object' || document === null) return parse();
  const found = known.get(document) ?? parse();
  known.set(document, found);
  return found;
}
