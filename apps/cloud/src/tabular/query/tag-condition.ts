/** A condition of $match on tags: one of the given tags, any tag, or no tags. */
import { BsonDocument, type BsonValue, Int32 } from '@platform/query';

export type WantedTags = readonly string[] | 'some' | 'none';

export function tagCondition(tags: WantedTags): [path: string, condition: BsonValue] {
  if (tags === 'some') return ['tags.0', BsonDocument.of({ $exists: true })];
  if (tags === 'none') return ['tags', BsonDocument.of({ $size: new Int32(0) })];
  return ['tags', BsonDocument.of({ $in: [...tags] })];
}
