/** Parses the stages of a pipeline in Extended JSON: an array of stages, or one stage. */
import { invalidArgument, type PlatformError } from '@platform/base';
import { type Document, serialize } from 'bson';
import { bsonOf } from './bson-of.ts';
import { type Json, NumberText, readJson } from './read-json.ts';

/**
 * Returns each stage as BSON.
 *
 * @throws invalid_argument with line and column if the text is not JSON, otherwise with the stage (from 0, as in errors of a cloud)
 */
export function parseStages(text: string): Uint8Array[] {
  const json = readJson(text);
  const stages = Array.isArray(json) ? (json as readonly Json[]) : [json];
  return stages.map((stage, index) => {
    if (!(stage instanceof Map)) throw noStage(index, stage);
    const [name = ''] = stage.keys() as Iterable<string>;
    try {
      return serialize(bsonOf(stage) as Document);
    } catch (caught) {
      if (!(caught instanceof Error)) throw caught;
      throw invalidArgument(`stage ${index} (${name}): ${caught.message}`, caught);
    }
  });
}

function noStage(index: number, found: Json): PlatformError {
  const shown = found instanceof NumberText ? found.text : Array.isArray(found) ? 'an array' : JSON.stringify(found);
  return invalidArgument(`stage ${index}: expected an object such as {"$limit": 3}, found ${shown}`);
}
