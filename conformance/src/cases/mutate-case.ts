/** Small falsifications of an expected result; an exact comparison must notice each of them. */

import { BsonDocument, type BsonValue, Int32 } from '@platform/query';

export const alterations = ['int → long', 'key order', 'dropped null', '−0'] as const;
export type Alteration = (typeof alterations)[number];

/** The documents with the alteration applied at the first possible place; `undefined` if there is none. */
export function alter(documents: readonly BsonDocument[], alteration: Alteration): BsonDocument[] | undefined {
  for (const [index, document] of documents.entries()) {
    const changed = changeWithin(document, changes[alteration]);
    if (changed instanceof BsonDocument) return documents.with(index, changed);
  }
  return undefined;
}

/** The changed value, or `undefined` if the change does not apply. */
type Change = (value: BsonValue) => BsonValue | undefined;

const changes: Readonly<Record<Alteration, Change>> = {
  'int → long': (value) => (value instanceof Int32 ? BigInt(value.value) : undefined),
  'key order': (value) => {
    if (!(value instanceof BsonDocument) || value.size < 2) return undefined;
    // The last two fields, because the comparison may ignore a leading _id.
    const fields = [...value];
    const last = fields.pop()!;
    const before = fields.pop()!;
    return before[0] === '_id' ? undefined : new BsonDocument([...fields, last, before]);
  },
  'dropped null': (value) => {
    if (!(value instanceof BsonDocument)) return undefined;
    const name = [...value].find(([, held]) => held === null)?.[0];
    return name === undefined ? undefined : new BsonDocument([...value].filter(([each]) => each !== name));
  },
  '−0': (value) => (value === 0 ? -Number(value) : undefined),
};

function changeWithin(value: BsonValue, change: Change): BsonValue | undefined {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const below = changeWithin(each, change);
      if (below !== undefined) return value.with(index, below);
    }
  }
  if (value instanceof BsonDocument) {
    for (const [name, each] of value) {
      const below = changeWithin(each, change);
      if (below !== undefined) return withField(value, name, below);
    }
  }
  return undefined;
}

function withField(document: BsonDocument, name: string, value: BsonValue): BsonDocument {
  const copy = new BsonDocument(document);
  copy.set(name, value);
  return copy;
}
