/** Validates the pipeline of a saved query, which must be valid by itself. */
import { invalidArgument } from '@platform/base';
import { parseMql } from '@platform/query/mql';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { withWireErrors } from '../wire-errors.ts';

/** Limit of one query; one answer, of up to 4 MiB for public clients, contains all queries of an organization. */
const maxPipelineBytes: number = 256 * 1024;

/** Returns the stages concatenated, in their stored form. @throws invalid_argument */
export function checkedPipeline(stages: readonly Uint8Array[]): Uint8Array {
  const bytes = stages.reduce((sum, stage) => sum + stage.length, 0);
  requireAtMost('mql_binary', maxPipelineBytes, bytes, ' bytes of stages in a saved query');
  if (stages.length === 0) throw invalidArgument('mql_binary: expected at least one stage, found none');
  withWireErrors(() => parseMql(stages));
  return Buffer.concat(stages);
}

/** Splits stored stages: a BSON document begins with its length. */
export function stagesOf(pipeline: Uint8Array): Uint8Array[] {
  const stages: Uint8Array[] = [];
  const view = new DataView(pipeline.buffer, pipeline.byteOffset, pipeline.length);
  for (let at = 0; at < pipeline.length; ) {
    const length = view.getInt32(at, true);
    stages.push(pipeline.slice(at, at + length));
    at += length;
  }
  return stages;
}
