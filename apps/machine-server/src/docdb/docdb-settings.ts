import type { Problem } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import type { DocdbSettings } from './database.ts';

/** `docdb_capture_config` with the defaults of the specification; undefined if no database is configured. Pure. */
export function docdbSettings(
  config: JsonObject | undefined,
  path: string,
  problems: Problem[],
): DocdbSettings | undefined {
  if (config === undefined) return undefined;
  const text = (key: string, otherwise: string): string => {
    const value = config[key];
    return typeof value === 'string' && value !== '' ? value : otherwise;
  };
  const uri = text('uri', '');
  if (uri !== '') return { uri, database: text('database', 'sensorData'), collection: text('collection', 'readings') };
  const message = 'expected the uri of a document database, found none: readings are not sent to a database';
  problems.push({ path, level: 'warning', message });
  return undefined;
}
