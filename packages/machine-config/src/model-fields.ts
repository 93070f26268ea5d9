/** Tables of attributes, for the models of the machine-server. */
export { dataManagerFields, type Field, type Fields } from './fields.ts';
export { readFields } from './read-fields.ts';
