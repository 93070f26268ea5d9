/** MQL: parses pipelines into the intermediate form. */

export { noticesOf } from './mql/notices.ts';
export { parseMql } from './mql/parse.ts';
export { pipelineStages } from './stages/registry.ts';
