import { expect, test } from 'vitest';
import { doc, refusalOf, runMql } from '../../testing/run.ts';

async function meets(row: object, schema: object): Promise<boolean> {
  return (await runMql([doc(row)], [{ $match: { $jsonSchema: schema } }])).length === 1;
}

test.each([
  [{ required: ['a'] }, { a: null }, {}],
  [{ properties: { a: { bsonType: 'int' } } }, { a: 1 }, { a: 1.5 }],
  [{ properties: { a: { bsonType: ['string', 'number'] } } }, { a: 1.5 }, { a: true }],
  [{ properties: { a: { type: 'boolean' } } }, { a: true }, { a: 1 }],
  [{ properties: { a: { minimum: 5 } } }, { a: 5 }, { a: 4 }],
  [{ properties: { a: { maximum: 5, exclusiveMaximum: true } } }, { a: 4 }, { a: 5 }],
  [{ properties: { a: { multipleOf: 3 } } }, { a: 9 }, { a: 10 }],
  [{ properties: { a: { minLength: 2, pattern: '^x' } } }, { a: 'xy' }, { a: 'x' }],
  [{ properties: { a: { enum: [1, 'b'] } } }, { a: 'b' }, { a: 'c' }],
  [{ properties: { a: { items: { bsonType: 'int' }, uniqueItems: true } } }, { a: [1, 2] }, { a: [1, 1] }],
  [{ properties: { a: { items: [{ enum: [1] }], additionalItems: false } } }, { a: [1] }, { a: [1, 2] }],
  [{ properties: { a: { multipleOf: 0.1 } } }, { a: 0.3 }, { a: 0.35 }],
  [{ properties: { a: { enum: [{ x: 1, y: 2 }] } } }, { a: { y: 2, x: 1 } }, { a: { x: 1 } }],
  [
    { properties: { a: { uniqueItems: true } } },
    { a: [{ x: 1 }, {}] },
    {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
  ],
  [{ properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
  [{ patternProperties: { '^n_': { type: 'number' } } }, { n_a: 1 }, { n_a: 'x' }],
  [{ dependencies: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
  [{ minProperties: 2 }, { a: 1, b: 1 }, { a: 1 }],
  [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, { a: 1, b: 1 }],
  [{ not: { anyOf: [{ required: ['a'] }] } }, { b: 1 }, { a: 1 }],
  [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1, b: 1 }, { b: 1 }],
])('%o', async (schema, good, bad) => {
  expect([await meets(good, schema), await meets(bad, schema)]).toEqual([true, false]);
});

test.each([
  [14, 1],
  [9, { foo: 1 }],
  [14, { required: 'a' }],
  [9, { required: [] }],
  [14, { properties: { a: { minimum: 'x' } } }],
  [2, { bsonType: 'foo' }],
  [9, { bsonType: 'int', type: 'number' }],
  [9, { exclusiveMinimum: true }],
  [9, { bsonType: ['int', 'int'] }],
  [9, { properties: { a: { enum: [1, 2, 1] } } }],
])('an invalid schema is refused with code %i: %o', (code, schema) => {
  expect(refusalOf({ $match: { $jsonSchema: schema } })).toMatchObject({ code });
});
