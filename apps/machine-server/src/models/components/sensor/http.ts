/**
 * `core:builtin:http`: the JSON at an address, requested for each reading.
 *
 * Attributes: `url` (required; http or https), `headers` (object: name → text), `values` (object: name → JSON path) picks values; without
 * it, an object is returned unchanged, and any other value as `value`. `timeout_ms` (default 10,000) of the whole answer, `max_bytes`
 * (default 1,048,576) of its body.
 */
import type { Clock } from '@platform/base';
import { unavailable } from '@platform/base';
import type { Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fetchText, nameOf, parseUrl } from '../../../hardware/fetch-text.ts';
import { readAttributes, required, textsOf } from '../../attributes.ts';
import { parseJsonPaths } from '../../json-path.ts';
import { noCommands } from '../../no-commands.ts';
import { valuesOf } from '../../values-of.ts';

const fields = {
  url: { kind: 'string' },
  headers: { kind: 'object' },
  values: { kind: 'object' },
  timeout_ms: { kind: 'int', default: 10_000, min: 1, max: 600_000 },
  max_bytes: { kind: 'int', default: 1_048_576, min: 1, max: 16_777_216 },
} as const;

export const createHttpSensor = (clock: Clock): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:http',
  fields,
  async build({ attributes }): Promise<Sensor> {
    const given = readAttributes(fields, attributes);
    const url = parseUrl(required(given.url, 'url', 'an address'), 'attributes.url', ['http:', 'https:']);
    const headers = { accept: 'application/json', ...textsOf(given.headers, 'headers') };
    const paths = parseJsonPaths(given.values, 'attributes.values');
    const limits = { timeoutMs: given.timeout_ms, maxBytes: given.max_bytes, clock };
    const closing = new AbortController();
    return {
      readings: async () =>
        valuesOf(await fetchText({ url, headers, signal: closing.signal }, limits), nameOf(url), paths),
      doCommand: noCommands('http sensors have no commands'),
      async close() {
        closing.abort(unavailable(`${nameOf(url)}: this sensor was closed`));
      },
    };
  },
});
