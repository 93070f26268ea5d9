/** A document for tests of what is reported about it. */
import { parse } from '../parse.ts';
import type { JsonObject } from '../schema.ts';

/** A part with a sensor that captures, and its data manager. */
export const part = (method: JsonObject, more: JsonObject = {}, attributes: JsonObject = {}): JsonObject => ({
  components: [
    {
      name: 'a',
      api: 'core:component:sensor',
      model: 'core:builtin:fake',
      service_configs: [{ type: 'data_manager', attributes: { capture_methods: [method] } }],
      ...more,
    },
  ],
  services: [{ name: 'd', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes }],
});
export const method = { method: 'Readings', capture_frequency_hz: 1 };
/** Its problems, as lines. */
export const told = (document: unknown): string[] =>
  parse(document).problems.map(({ level, path, message }) => `${level} ${path}: ${message}`);
/** Where the capture method is. */
export const at = 'components[0].service_configs[0].attributes.capture_methods[0]';
