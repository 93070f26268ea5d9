/** `part_data_ingested`: every upload of the given data types (D18, D21). */
import type { ConfiguredResource } from '../../machines/configuration/triggers-of.ts';
import type { TriggerEvent } from '../../outbox/event.ts';
import { isObject, type JsonObject, namesOf, shown, warnUnknown } from '../parsing/json.ts';
import type { Problems } from '../parsing/problems.ts';
import type { TriggerEventRule } from '../trigger.ts';
import { dataOf, documentOf, isEmpty } from '../upload-data.ts';
import type { TriggerKind } from './kind.ts';

const type = 'part_data_ingested';
const dataTypes = ['binary', 'tabular', 'file', 'unspecified'] as const;

export const dataIngested: TriggerKind = { type, keys: ['data_ingested', 'data_types'], parse };

/** Accepts `data_ingested.data_types` as in the template, or `data_types` as in the attribute table. */
function parse(
  event: JsonObject,
  _resources: readonly ConfiguredResource[],
  path: string,
  problems: Problems,
): TriggerEventRule | undefined {
  const { data_ingested: nested, data_types: direct } = event;
  let given = direct;
  let at = `${path}.data_types`;
  if (nested !== undefined) {
    if (!isObject(nested))
      return problems.error(`${path}.data_ingested`, `expected an object with data_types, found ${shown(nested)}`);
    warnUnknown(nested, ['data_types'], `${path}.data_ingested`, problems);
    if (direct !== undefined) problems.warn(at, 'ignored, because data_ingested.data_types is given as well');
    given = nested['data_types'];
    at = `${path}.data_ingested.data_types`;
  }
  const names = namesOf(given, dataTypes, at, problems);
  if (names === undefined) return undefined;
  if (names.has('unspecified'))
    problems.warn(
      at,
      'unspecified matches only uploads that do not say their type; the machine-server always says it: list tabular, binary or file for the data that you mean',
    );
  return {
    type,
    uploads: 'all',
    stored: { areReadings: names.has('tabular'), keys: 'none' },
    next(state, input) {
      if (input.kind !== 'upload' || isEmpty(input)) return { state, occurrences: [] };
      if (!names.has(input.dataType) && !(input.isUnspecified && names.has('unspecified')))
        return { state, occurrences: [] };
      const { position, atMs, place, dataType } = input;
      const event = (): TriggerEvent => ({
        type,
        place,
        data: dataOf(input, documentOf(input, input.readings.count - 1)),
      });
      return { state, occurrences: [{ cause: [position], atMs, reason: `${dataType} data was synced`, event }] };
    },
  };
}
