import type { JsonObject } from './schema.ts';

export const dataManagerApi = 'core:service:data_manager';

/** The entry that adds the data manager to `services`, with the defaults of all its attributes. */
export const dataManagerEntry: JsonObject = {
  name: 'data_manager',
  api: dataManagerApi,
  model: 'core:builtin:builtin',
};
