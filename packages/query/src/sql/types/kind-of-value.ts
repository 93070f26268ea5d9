/** What is known about a literal. */

import { typeName } from '../../bson/type.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';
import { documentKind, either, type Kind, kindOf } from './kind.ts';

export function kindOfValue(value: Maybe): Kind {
  if (value instanceof BsonDocument) {
    return documentKind([...value].map(([name, each]): [string, Kind] => [name, kindOfValue(each)]));
  }
  if (Array.isArray(value) && value.length > 0) {
    return { types: new Set(['array']), items: value.map(kindOfValue).reduce(either) };
  }
  return kindOf(typeName(value));
}
