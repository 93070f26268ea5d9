/** Client of the cloud: what programs and the command line ask it. */
export { type Cloud, type CloudOptions, openCloud, type Stage } from './cloud/open-cloud.ts';
export type { Row } from './cloud/rows.ts';
