/** Tables of attributes, for the models of the machine-server. */
export type { Field, Fields } from './fields.ts';
export { readFields } from './read-fields.ts';
