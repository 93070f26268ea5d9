/** $fill is $setWindowFields with $linearFill and $locf, followed by $addFields for fixed values. */

import { describe } from '../../bson/describe.ts';
import { typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { parseAddFields } from '../stages/shape.ts';
import { parseSetWindowFields } from './set-window-fields.ts';
import { strictFields } from './strict-fields.ts';

const methods: Readonly<Record<string, string>> = { linear: '$linearFill', locf: '$locf' };

export function parseFill(spec: BsonValue): readonly Stage[] {
  if (!(spec instanceof BsonDocument)) {
    throw malformed(`$fill takes an object, found ${typeName(spec)}`);
  }
  const fields = strictFields(spec, '$fill', {
    sortBy: { type: 'object' },
    partitionByFields: { type: 'strings' },
    partitionBy: { type: 'objectOrString' },
    output: { type: 'object', required: true },
  });
  const output = fields.get('output') as BsonDocument;
  if (output.size === 0) throw new QueryError(6050203, "the 'output' of $fill must name at least one field");
  const byMethod = new BsonDocument();
  const byValue = new BsonDocument();
  for (const [name, how] of output) {
    const { method, value } = parseOutput(name, how);
    if (method !== undefined) byMethod.set(name, new BsonDocument([[method, `$${name}`]]));
    else if (value !== undefined) byValue.set(name, new BsonDocument([['$ifNull', [`$${name}`, value]]]));
  }
  const window = new BsonDocument([['output', byMethod]]);
  const sortBy = fields.get('sortBy');
  if (sortBy !== undefined) window.set('sortBy', sortBy);
  const partitionBy = parsePartition(fields.get('partitionBy'), fields.get('partitionByFields'));
  if (partitionBy !== undefined) window.set('partitionBy', partitionBy);
  return [
    ...(byMethod.size === 0 ? [] : [parseSetWindowFields(window)]),
    ...(byValue.size === 0 ? [] : [parseAddFields(byValue, '$addFields')]),
  ];
}

function parseOutput(name: string, how: BsonValue): { readonly method?: string; readonly value?: BsonValue } {
  if (!(how instanceof BsonDocument)) {
    throw new QueryError(6050200, `the output '${name}' is an object with one field, found ${describe(how)}`);
  }
  const fields = strictFields(how, `$fill.output.${name}`, { value: { type: 'any' }, method: { type: 'string' } });
  const method = fields.get('method');
  const value = fields.get('value');
  if (typeof method !== 'string') return value === undefined ? {} : { value };
  if (value !== undefined) {
    throw new QueryError(6050201, `the output '${name}' has a 'method' or a 'value', not both`);
  }
  const operator = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (operator === undefined) {
    throw new QueryError(6050202, `the method is 'linear' or 'locf', found ${describe(method)}`);
  }
  return { method: operator };
}

function parsePartition(by: BsonValue | undefined, fields: BsonValue | undefined): BsonValue | undefined {
  if (by !== undefined && fields !== undefined) {
    throw new QueryError(6050204, "$fill takes 'partitionBy' or 'partitionByFields', not both");
  }
  if (!Array.isArray(fields)) return by;
  return new BsonDocument(fields.map((name): [string, BsonValue] => [String(name), `$${name}`]));
}
